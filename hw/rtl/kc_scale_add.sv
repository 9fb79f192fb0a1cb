// kerncast: requantise(base + a * b / 2**SHIFT), the product rounded before the sum: the update of a coefficient.
// Three clocks: the product, the sum, the saturation.  SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_scale_add #(
    parameter int A_BITS = 16,     // widths of the factors, two's complement, together at most 64
    parameter int B_BITS = 17,
    parameter int BASE_BITS = 16,
    parameter int SHIFT = 15,      // 0 to 62
    parameter int ROUNDING = 1,
    parameter int OUT_BITS = 16,   // width that holds LO and HI
    parameter logic signed [63:0] LO = -32768,
    parameter logic signed [63:0] HI = 32767
) (
    input  wire clk,
    input  wire signed [BASE_BITS-1:0] base,
    input  wire signed [A_BITS-1:0] a,
    input  wire signed [B_BITS-1:0] b,
    output wire [OUT_BITS-1:0] q,
    output wire outside        // q saturated
);
    localparam PRODUCT_BITS = A_BITS + B_BITS;

    logic signed [PRODUCT_BITS-1:0] product_reg;
    logic signed [BASE_BITS-1:0] base_reg;
    logic signed [63:0] sum_reg;
    logic [OUT_BITS-1:0] q_reg;
    logic outside_reg;
    wire signed [PRODUCT_BITS-1:0] product = a * b;
    wire signed [PRODUCT_BITS-1:0] rounded;
    wire [OUT_BITS-1:0] saturated;
    wire beyond;

    kc_shift_round #(.V_BITS(PRODUCT_BITS), .S_BITS(6), .ROUNDING(ROUNDING))
        shift_round_inst (.v(product_reg), .s(6'(SHIFT)), .q(rounded));
    kc_saturate #(.V_BITS(64), .OUT_BITS(OUT_BITS), .LO(LO), .HI(HI))
        saturate_inst (.v(sum_reg), .q(saturated), .outside(beyond));

    always_ff @(posedge clk) begin
        product_reg <= product;
        base_reg <= base;
        sum_reg <= 64'(base_reg) + 64'(rounded);
        q_reg <= saturated;
        outside_reg <= beyond;
    end

    assign q = q_reg;
    assign outside = outside_reg;
endmodule

`default_nettype wire
