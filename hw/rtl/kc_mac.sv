// kerncast primitive: acc + floor(a * b / 2**SHIFT), in an accumulator that never saturates.
// Two clocks: the product, the sum.  SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_mac #(
    parameter int A_BITS = 16,     // widths of the factors, two's complement
    parameter int B_BITS = 17,
    parameter int SHIFT = 0,
    parameter int ACC_BITS = 64    // at least A_BITS + B_BITS - SHIFT; the plan proves that every sum fits
) (
    input  wire clk,
    input  wire valid,         // the inputs are a term
    input  wire first,         // it starts a new sum
    input  wire signed [A_BITS-1:0] a,
    input  wire signed [B_BITS-1:0] b,
    output wire signed [ACC_BITS-1:0] acc
);
    localparam PRODUCT_BITS = A_BITS + B_BITS;

    logic valid_reg;
    logic first_reg;
    logic signed [PRODUCT_BITS-1:0] product_reg;
    logic signed [ACC_BITS-1:0] acc_reg;
    wire signed [PRODUCT_BITS-1:0] product = a * b;
    wire signed [PRODUCT_BITS-1:0] term = product_reg >>> SHIFT;
    wire signed [ACC_BITS-1:0] start = first_reg ? {ACC_BITS{1'b0}} : acc_reg;

    always_ff @(posedge clk) begin
        valid_reg <= valid;
        first_reg <= first;
        product_reg <= product;
        if (valid_reg) acc_reg <= start + ACC_BITS'(term);
    end

    assign acc = acc_reg;
endmodule

`default_nettype wire
