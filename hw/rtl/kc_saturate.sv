// kerncast primitive: the word of [LO, HI] nearest to v.  SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_saturate #(
    parameter int V_BITS = 64,                  // width of the word, two's complement
    parameter int OUT_BITS = 16,                // width that holds LO and HI
    parameter logic signed [63:0] LO = -32768,
    parameter logic signed [63:0] HI = 32767
) (
    input  wire signed [V_BITS-1:0] v,
    output wire [OUT_BITS-1:0] q,
    output wire outside                     // v was not in [LO, HI]
);
    wire signed [63:0] wide = 64'(v);

    assign q = wide < LO ? LO[OUT_BITS-1:0]
        : wide > HI ? HI[OUT_BITS-1:0]
        : wide[OUT_BITS-1:0];
    assign outside = wide < LO || wide > HI;
endmodule

`default_nettype wire
