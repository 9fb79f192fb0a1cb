// kerncast primitive: bits of v without leading zeros; 0 for 0.  SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_bit_length #(
    parameter V_BITS = 63   // at most 63
) (
    input  wire [V_BITS-1:0] v,
    output wire [5:0] length
);
    // Halve six times: is there a bit in the upper half?
    wire [63:0] v_64 = 64'(v);
    wire [5:0] above;
    wire [31:0] v_32 = above[5] ? v_64[63:32] : v_64[31:0];
    wire [15:0] v_16 = above[4] ? v_32[31:16] : v_32[15:0];
    wire [7:0] v_8 = above[3] ? v_16[15:8] : v_16[7:0];
    wire [3:0] v_4 = above[2] ? v_8[7:4] : v_8[3:0];
    wire [1:0] v_2 = above[1] ? v_4[3:2] : v_4[1:0];
    wire v_1 = above[0] ? v_2[1] : v_2[0];

    assign above = {|v_64[63:32], |v_32[31:16], |v_16[15:8], |v_8[7:4], |v_4[3:2], v_2[1]};
    assign length = above + {5'd0, v_1};
endmodule

`default_nettype wire
