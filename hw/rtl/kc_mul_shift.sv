// kerncast primitive: floor(a * c / 2**SHIFT), exact. Two clocks: products, sum. With CLOCKS = 3, products of short
// pieces come first.
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_mul_shift #(
    parameter int A_BITS = 32,   // at most 63
    parameter int C_BITS = 31,   // at most 31
    parameter int SHIFT = 0,     // 0 to 62
    parameter int Q_BITS = 63,   // low bits of the result that are kept
    parameter int CLOCKS = 2     // 2, or 3 for a fast clock
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
    localparam ALL_BITS = 4*(PIECE + 1) + 2*PIECE;

    logic [Q_BITS-1:0] q_reg;
    genvar i;

    generate
        if (CLOCKS == 2) begin : g_2clk
            logic [63:0] high_reg, low_reg;
            wire [63:0] wide_a = 64'(a);
            wire [63:0] wide_c = 64'(c);
            wire [63:0] sum_hi = (high_reg + (low_reg >> HALF_BITS)) >> RIGHT;
            wire [63:0] sum_lo = (high_reg << LEFT) + (low_reg >> SHIFT);
            wire [63:0] sum = SHIFT >= HALF_BITS ? sum_hi : sum_lo;

            always_ff @(posedge clk) begin
                high_reg <= (wide_a >> HALF_BITS) * wide_c;
                low_reg <= (wide_a & 64'hffffffff) * wide_c;
                q_reg <= sum[Q_BITS-1:0];
            end
        end else begin : g_3clk
            // Products of pieces of 17 and 16 bits, each in a slot of 34: first those of the even pieces of a, which
            // then are in their places, then those of the odd pieces. So each clock adds no more than two words.
            localparam SLOT = 2*PIECE + 2;
            logic [4*SLOT-1:0] low_reg, high_reg;        // by the low and the high piece of c
            logic [ALL_BITS-1:0] low_sum_reg, high_sum_reg;
            wire [4*(PIECE+1)-1:0] wide_a = (4*(PIECE + 1))'(a);
            wire [2*PIECE-1:0] wide_c = (2*PIECE)'(c);
            wire [ALL_BITS-1:0] low_even = ALL_BITS'(low_reg[0 +: 2*SLOT]);
            wire [ALL_BITS-1:0] low_odd = ALL_BITS'(low_reg[2*SLOT +: 2*SLOT]) << (PIECE + 1);
            wire [ALL_BITS-1:0] high_even = ALL_BITS'(high_reg[0 +: 2*SLOT]) << PIECE;
            wire [ALL_BITS-1:0] high_odd = ALL_BITS'(high_reg[2*SLOT +: 2*SLOT]) << (2*PIECE + 1);
            wire [ALL_BITS-1:0] sum = (low_sum_reg + high_sum_reg) >> SHIFT;

            for (i = 0; i < 4; i = i + 1) begin : of_a
                localparam AT = (2*(i % 2) + i/2)*SLOT;
                wire [SLOT-1:0] piece = SLOT'(wide_a[i*(PIECE+1) +: PIECE+1]);

                always_ff @(posedge clk) begin
                    low_reg[AT +: SLOT] <= piece * SLOT'(wide_c[PIECE-1:0]);
                    high_reg[AT +: SLOT] <= piece * SLOT'(wide_c[2*PIECE-1:PIECE]);
                end
            end

            always_ff @(posedge clk) begin
                low_sum_reg <= low_even + low_odd;
                high_sum_reg <= high_even + high_odd;
                q_reg <= Q_BITS'(sum);
            end
        end
    endgenerate

    assign q = q_reg;
endmodule

`default_nettype wire
