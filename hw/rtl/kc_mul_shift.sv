// kerncast primitive: floor(a * c / 2**SHIFT), exact, in two halves of a as in the written definition.
// Two clocks: the products, the sum.  SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_mul_shift #(
    parameter A_BITS = 32,   // at most 63
    parameter C_BITS = 31,   // at most 31
    parameter SHIFT = 0,     // 0 to 62
    parameter Q_BITS = 63    // low bits of the result that are kept
) (
    input  wire clk,
    input  wire [A_BITS-1:0] a,
    input  wire [C_BITS-1:0] c,
    output wire [Q_BITS-1:0] q
);
    localparam HALF_BITS = 32;
    localparam RIGHT = SHIFT >= HALF_BITS ? SHIFT - HALF_BITS : 0;
    localparam LEFT = SHIFT >= HALF_BITS ? 0 : HALF_BITS - SHIFT;

    logic [63:0] high_reg;
    logic [63:0] low_reg;
    logic [Q_BITS-1:0] q_reg;
    wire [63:0] wide_a = 64'(a);
    wire [63:0] wide_c = 64'(c);
    wire [63:0] far = (high_reg + (low_reg >> HALF_BITS)) >> RIGHT;
    wire [63:0] near = (high_reg << LEFT) + (low_reg >> SHIFT);
    wire [63:0] sum = SHIFT >= HALF_BITS ? far : near;

    always_ff @(posedge clk) begin
        high_reg <= (wide_a >> HALF_BITS) * wide_c;
        low_reg <= (wide_a & 64'hffffffff) * wide_c;
        q_reg <= sum[Q_BITS-1:0];
    end

    assign q = q_reg;
endmodule

`default_nettype wire
