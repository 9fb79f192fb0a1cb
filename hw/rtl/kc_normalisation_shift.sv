// kerncast primitive: the shift e with 2**61 <= v * 2**e < 2**62, for 0 < v.  SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_normalisation_shift (
    input  wire [61:0] v,
    output wire [5:0] e
);
    wire [5:0] length;   // one more than that of v: 63 - e

    kc_bit_length #(.V_BITS(63)) bit_length_inst (.v({v, 1'b0}), .length(length));

    assign e = ~length;
endmodule

`default_nettype wire
