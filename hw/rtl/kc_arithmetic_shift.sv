// kerncast primitive: floor(v / 2**s); a negative s multiplies by 2**-s.  SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_arithmetic_shift #(
    parameter int V_BITS = 64,  // width of the word, two's complement
    parameter int S_BITS = 7    // width of the shift, two's complement
) (
    input  wire signed [V_BITS-1:0] v,
    input  wire signed [S_BITS-1:0] s,
    output wire signed [V_BITS-1:0] q
);
    wire [S_BITS-1:0] up = -s;
    wire signed [V_BITS-1:0] left = v <<< up;
    wire signed [V_BITS-1:0] right = v >>> $unsigned(s);

    assign q = s[S_BITS-1] ? left : right;
endmodule

`default_nettype wire
