// kerncast primitive: v / 2**s, rounded.  SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_shift_round #(
    parameter int V_BITS = 64,   // width of the word, two's complement
    parameter int S_BITS = 6,    // width of the shift
    parameter int ROUNDING = 1   // 0 floor, 1 half up, 2 half to even
) (
    input  wire signed [V_BITS-1:0] v,
    input  wire        [S_BITS-1:0] s,
    output wire signed [V_BITS-1:0] q
);
    localparam HALF_UP = 1;
    localparam HALF_EVEN = 2;

    // One bit more on the right: after the shift it is the half, and 0 for s = 0.
    wire signed [V_BITS:0] extended = {v, 1'b0};
    wire signed [V_BITS:0] shifted = extended >>> s;
    wire        [V_BITS:0] below_half = extended & ~({(V_BITS + 1){1'b1}} << s);
    wire signed [V_BITS-1:0] floor = shifted[V_BITS:1];
    wire half = shifted[0];
    wire tie = ~|below_half;
    wire up = (ROUNDING == HALF_UP && half)
        || (ROUNDING == HALF_EVEN && half && (!tie || floor[0]));

    assign q = floor + $signed({{(V_BITS - 1){1'b0}}, up});
endmodule

`default_nettype wire
