// kerncast: requantise((raw - offset) * gain, SHIFT), the input conversion of one word.
// Four clocks: the difference, the product, and the two of kc_requantise.  SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_affine #(
    parameter int RAW_BITS = 16,
    parameter bit RAW_SIGNED = 0,
    parameter int OFFSET_BITS = 16,             // two's complement
    parameter int GAIN_BITS = 16,               // two's complement, never negative
    parameter int SHIFT = 0,                    // 0 to 62
    parameter int ROUNDING = 1,
    parameter int OUT_BITS = 16,
    parameter logic signed [63:0] LO = -32768,
    parameter logic signed [63:0] HI = 32767
) (
    input  wire clk,
    input  wire [RAW_BITS-1:0] raw,
    input  wire signed [OFFSET_BITS-1:0] offset,
    input  wire signed [GAIN_BITS-1:0] gain,
    output wire [OUT_BITS-1:0] q
);
    localparam WIDE_BITS = RAW_BITS > OFFSET_BITS ? RAW_BITS + 1 : OFFSET_BITS + 1;
    localparam DIFF_BITS = WIDE_BITS + 1;
    localparam PRODUCT_BITS = DIFF_BITS + GAIN_BITS;
    localparam signed [6:0] S = 7'(SHIFT);

    wire signed [RAW_BITS:0] wide_raw = {RAW_SIGNED != 0 && raw[RAW_BITS-1], raw};
    wire signed [DIFF_BITS-1:0] diff = DIFF_BITS'(wide_raw) - DIFF_BITS'(offset);
    logic signed [DIFF_BITS-1:0] diff_reg;
    logic signed [GAIN_BITS-1:0] gain_reg;
    logic signed [PRODUCT_BITS-1:0] product_reg;

    wire unused_outside;   // a saturated input is not an error

    always_ff @(posedge clk) begin
        diff_reg <= diff;
        gain_reg <= gain;
        product_reg <= diff_reg * gain_reg;
    end

    kc_requantise #(.V_BITS(PRODUCT_BITS), .S_BITS(7), .ROUNDING(ROUNDING), .OUT_BITS(OUT_BITS),
                .LO(LO), .HI(HI))
        requantise_inst (.clk(clk), .v(product_reg), .s(S), .q(q), .outside(unused_outside));
endmodule

`default_nettype wire
