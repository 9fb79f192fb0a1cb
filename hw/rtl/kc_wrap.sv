// kerncast primitive: the signed word of BITS that equals v modulo 2**BITS.  SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_wrap #(
    parameter int V_BITS = 64,   // width of the word, two's complement
    parameter int BITS = 16      // 1 to V_BITS
) (
    input  wire signed [V_BITS-1:0] v,
    output wire signed [V_BITS-1:0] q
);
    wire signed [BITS-1:0] low = v[BITS-1:0];

    assign q = V_BITS'(low);
endmodule

`default_nettype wire
