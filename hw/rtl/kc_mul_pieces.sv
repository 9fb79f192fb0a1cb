// kerncast: a * c, exact, with a signed and c not negative. The pieces of a of 16 bits, the lowest first, share one
// hardware multiplier of 17 by 32 bits, one piece a clock. `load` takes a and c, and with `half` only the lower half of
// the pieces. PIECES + 3 clocks later, q holds the product; with `half`, PIECES/2 + 3 clocks later, q[Q_BITS-1:8*PIECES]
// holds it. With `rounds`, 2**30 is added. Another `load` may follow after as many clocks as there are pieces.
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_mul_pieces #(
    parameter int PIECES = 2,                 // even
    parameter int A_BITS = 16*PIECES,
    parameter int Q_BITS = 16*PIECES + 33
) (
    input  wire clk,
    input  wire load,
    input  wire half,
    input  wire rounds,
    input  wire signed [A_BITS-1:0] a,
    input  wire [31:0] c,
    output wire signed [Q_BITS-1:0] q
);
    localparam PIECE = 16;
    localparam HIGH_BITS = 3*PIECE + 1;
    localparam LOW_BITS = Q_BITS - HIGH_BITS;
    localparam signed [HIGH_BITS-1:0] ROUNDING = 49'sd1 <<< 30;

    logic [2:0] first_reg, rounds_reg;        // of the piece, of its products, of their sum
    logic [PIECES-1:0] last_reg;              // the lowest bit: the piece is the highest one, which has the sign
    logic signed [A_BITS-1:0] a_reg;
    logic [31:0] c_reg;
    logic signed [2*PIECE+1:0] low_product_reg, high_product_reg;
    logic signed [HIGH_BITS-1:0] product_reg, high_reg;
    logic [LOW_BITS-1:0] low_reg;
    wire signed [PIECE:0] piece = {last_reg[0] && a_reg[PIECE-1], a_reg[PIECE-1:0]};
    wire signed [PIECE:0] c_low = {1'b0, c_reg[PIECE-1:0]};
    wire signed [PIECE:0] c_high = {1'b0, c_reg[2*PIECE-1:PIECE]};
    wire signed [HIGH_BITS-1:0] high_product = HIGH_BITS'(high_product_reg) <<< PIECE;
    wire signed [HIGH_BITS-1:0] carried = !first_reg[2] ? high_reg >>> PIECE
        : rounds_reg[2] ? ROUNDING : {HIGH_BITS{1'b0}};
    wire [LOW_BITS+PIECE-1:0] below = {high_reg[PIECE-1:0], low_reg};

    always_ff @(posedge clk) begin
        a_reg <= load ? a : a_reg >>> PIECE;
        if (load) c_reg <= c;
        last_reg <= !load ? last_reg >> 1
            : half ? PIECES'(1) << (PIECES/2 - 1) : PIECES'(1) << (PIECES - 1);
        first_reg <= {first_reg[1:0], load};
        rounds_reg <= {rounds_reg[1:0], rounds};
        low_product_reg <= piece * c_low;
        high_product_reg <= piece * c_high;
        product_reg <= high_product + HIGH_BITS'(low_product_reg);
        high_reg <= carried + product_reg;
        low_reg <= below[LOW_BITS+PIECE-1:PIECE];
    end

    assign q = {high_reg, low_reg};
endmodule

`default_nettype wire
