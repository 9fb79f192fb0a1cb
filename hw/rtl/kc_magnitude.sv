// kerncast primitive: v if v >= 0, else -v - 1; not negative, and with the bit length of v.
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_magnitude #(
    parameter int V_BITS = 64   // width of the word, two's complement
) (
    input  wire signed [V_BITS-1:0] v,
    output wire [V_BITS-1:0] q
);
    assign q = v ^ {V_BITS{v[V_BITS-1]}};
endmodule

`default_nettype wire
