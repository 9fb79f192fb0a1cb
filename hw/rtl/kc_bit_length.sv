// kerncast primitive: bits of v without leading zeros; 0 for 0.  SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_bit_length #(
    parameter V_BITS = 63   // at most 63
) (
    input  wire [V_BITS-1:0] v,
    output wire [5:0] length
);
    // The bits of each byte, all at once; then the uppermost byte that has any.
    wire [63:0] v_64 = 64'(v);
    wire [7:0] any;
    wire [8*4-1:0] bits;
    wire [2:0] byte_of;
    wire [3:0] low;
    genvar i;

    generate
        for (i = 0; i < 8; i = i + 1) begin : bytes
            wire [7:0] b = v_64[8*i +: 8];

            assign any[i] = |b;
            assign bits[4*i +: 4] = b[7] ? 4'd8 : b[6] ? 4'd7 : b[5] ? 4'd6 : b[4] ? 4'd5
                : b[3] ? 4'd4 : b[2] ? 4'd3 : b[1] ? 4'd2 : {3'd0, b[0]};
        end
    endgenerate

    assign byte_of[2] = |any[7:4];
    assign byte_of[1] = byte_of[2] ? |any[7:6] : |any[3:2];
    assign byte_of[0] = any[7] || (!any[6] && (any[5] || (!any[4] && (any[3] || (!any[2] && any[1])))));
    assign low = bits[{byte_of, 2'b00} +: 4];
    assign length = {byte_of, 3'd0} + {2'd0, low};
endmodule

`default_nettype wire
