// kerncast primitive: floor(a * c / 2**SHIFT), exact, computed from two halves of a as in the definition.
// Two clocks: products, sum. With CLOCKS = 3, products of 16-bit pieces come first.
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_mul_shift #(
    parameter A_BITS = 32,   // at most 63
    parameter C_BITS = 31,   // at most 31
    parameter SHIFT = 0,     // 0 to 62
    parameter Q_BITS = 63,   // low bits of the result that are kept
    parameter CLOCKS = 2     // 2, or 3 for a fast clock
) (
    input  wire clk,
    input  wire [A_BITS-1:0] a,
    input  wire [C_BITS-1:0] c,
    output wire [Q_BITS-1:0] q
);
    localparam HALF_BITS = 32;
    localparam PIECE = 16;
    localparam RIGHT = SHIFT >= HALF_BITS ? SHIFT - HALF_BITS : 0;
    localparam LEFT = SHIFT >= HALF_BITS ? 0 : HALF_BITS - SHIFT;

    logic [63:0] high_reg;
    logic [63:0] low_reg;
    logic [Q_BITS-1:0] q_reg;
    wire [63:0] wide_a = 64'(a);
    wire [63:0] wide_c = 64'(c);
    wire [63:0] high, low;
    wire [63:0] sum_hi = (high_reg + (low_reg >> HALF_BITS)) >> RIGHT;
    wire [63:0] sum_lo = (high_reg << LEFT) + (low_reg >> SHIFT);
    wire [63:0] sum = SHIFT >= HALF_BITS ? sum_hi : sum_lo;
    genvar i, j;

    generate
        if (CLOCKS == 2) begin : g_2clk
            assign high = (wide_a >> HALF_BITS) * wide_c;
            assign low = (wide_a & 64'hffffffff) * wide_c;
        end else begin : g_3clk
            logic [4*2*2*PIECE-1:0] product_reg;
            wire [4*2*64-1:0] placed;

            for (i = 0; i < 4; i = i + 1) begin : of_a
                for (j = 0; j < 2; j = j + 1) begin : of_c
                    localparam AT = 2*i + j;

                    always_ff @(posedge clk)
                        product_reg[AT*2*PIECE +: 2*PIECE] <= (2*PIECE)'(wide_a[i*PIECE +: PIECE])
                            * (2*PIECE)'(wide_c[j*PIECE +: PIECE]);

                    assign placed[AT*64 +: 64] = 64'(product_reg[AT*2*PIECE +: 2*PIECE]) << ((i%2 + j)*PIECE);
                end
            end

            assign low = (placed[0 +: 64] + placed[64 +: 64]) + (placed[2*64 +: 64] + placed[3*64 +: 64]);
            assign high = (placed[4*64 +: 64] + placed[5*64 +: 64]) + (placed[6*64 +: 64] + placed[7*64 +: 64]);
        end
    endgenerate

    always_ff @(posedge clk) begin
        high_reg <= high;
        low_reg <= low;
        q_reg <= sum[Q_BITS-1:0];
    end

    assign q = q_reg;
endmodule

`default_nettype wire
