// kerncast primitive: floor(4 v / 2**s), with its lowest bit set if any 1 was shifted out (the sticky bit). A later
// clock can round v / 2**s from this alone.  SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_shift_sticky #(
    parameter int V_BITS = 64,   // width of the word, two's complement
    parameter int S_BITS = 6     // width of the shift
) (
    input  wire signed [V_BITS-1:0] v,
    input  wire        [S_BITS-1:0] s,
    output wire signed [V_BITS+1:0] q
);
    wire signed [V_BITS+1:0] wide = {v, 2'b00};
    wire signed [V_BITS+1:0] shifted = wide >>> s;
    wire        [V_BITS+1:0] lost = wide & ~({(V_BITS + 2){1'b1}} << s);

    assign q = {shifted[V_BITS+1:1], shifted[0] || |lost};
endmodule

`default_nettype wire
