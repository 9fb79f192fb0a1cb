// kerncast: one hardware multiplier per lane for kernel RLS, for two kinds of factors: those of features, a b, and those of R,
// second_a second_b, of 16 bits. Two clocks.  SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_rls_products #(
    parameter int LANES = 1,
    parameter int A_BITS = 17                   // at least 16
) (
    input  wire clk,
    input  wire second,
    input  wire [LANES*A_BITS-1:0] a,
    input  wire [LANES*16-1:0] b,
    input  wire [LANES*16-1:0] second_a,
    input  wire [LANES*16-1:0] second_b,
    output wire [LANES*(A_BITS+16)-1:0] products,
    output wire [LANES*32-1:0] second_products
);
    genvar i;

    generate
        for (i = 0; i < LANES; i = i + 1) begin : lane_of
            wire signed [A_BITS-1:0] first_a = a[i*A_BITS +: A_BITS];
            wire signed [15:0] short_a = second_a[i*16 +: 16];
            wire signed [A_BITS-1:0] lane_a = second ? A_BITS'(short_a) : first_a;
            wire signed [15:0] lane_b = second ? second_b[i*16 +: 16] : b[i*16 +: 16];
            logic signed [A_BITS-1:0] a_reg;
            logic signed [15:0] b_reg;
            logic signed [A_BITS+15:0] product_reg;

            always_ff @(posedge clk) begin
                a_reg <= lane_a;
                b_reg <= lane_b;
                product_reg <= a_reg * b_reg;
            end

            assign products[i*(A_BITS+16) +: A_BITS+16] = product_reg;
            assign second_products[i*32 +: 32] = product_reg[31:0];
        end
    endgenerate
endmodule

`default_nettype wire
