// kerncast: a fitted value, y - SCALE alpha / 2**shift, rounded and saturated. Eight clocks, one value per clock.
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_fitted #(
    parameter int W = 16,                       // of y and alpha, two's complement
    parameter logic [30:0] SCALE = 0,
    parameter int S_BITS = 6,                   // width of the shift, at least 4
    parameter int ROUNDING = 1,
    parameter int OUT_BITS = 16,                // width that holds LO and HI
    parameter logic signed [63:0] LO = -32768,
    parameter logic signed [63:0] HI = 32767
) (
    input  wire clk,
    input  wire signed [W-1:0] y,
    input  wire signed [W-1:0] alpha,
    input  wire [S_BITS-1:0] shift,             // stable from the first value to the last one
    output wire [OUT_BITS-1:0] f,
    output wire outside                         // f is saturated
);
    localparam TO_SUM = 7;                      // clocks: product 3, negation, shift 2, sum

    logic signed [63:0] product_reg, rounded_reg, sum_reg;
    logic signed [65:0] coarse_reg;
    logic [OUT_BITS-1:0] f_reg;
    logic outside_reg;
    wire signed [63:0] product;
    wire signed [65:0] coarse, rounded;
    wire [W-1:0] y_late;
    wire [OUT_BITS-1:0] saturated;
    wire beyond;

    kc_mul_signed mul_inst (.clk(clk), .a(32'(alpha)), .c(SCALE), .q(product));
    // First shift by a multiple of 8, then by the remainder (0 to 7), with rounding.
    kc_shift_sticky #(.V_BITS(64), .S_BITS(S_BITS))
        shift_sticky_inst (.v(product_reg), .s({shift[S_BITS-1:3], 3'd0}), .q(coarse));
    kc_shift_round #(.V_BITS(66), .S_BITS(4), .ROUNDING(ROUNDING))
        shift_round_inst (.v(coarse_reg), .s({1'b0, shift[2:0]} + 4'd2), .q(rounded));
    kc_delay #(.WIDTH(W), .CLOCKS(TO_SUM - 1)) y_delay_inst (.clk(clk), .d(y), .q(y_late));
    kc_saturate #(.V_BITS(64), .OUT_BITS(OUT_BITS), .LO(LO), .HI(HI))
        saturate_inst (.v(sum_reg), .q(saturated), .outside(beyond));

    always_ff @(posedge clk) begin
        product_reg <= -product;
        coarse_reg <= coarse;
        rounded_reg <= rounded[63:0];
        sum_reg <= 64'($signed(y_late)) + rounded_reg;
        f_reg <= saturated;
        outside_reg <= beyond;
    end

    assign f = f_reg;
    assign outside = outside_reg;
endmodule

`default_nettype wire
