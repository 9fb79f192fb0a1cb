// kerncast: a * c + addend, exact, with a signed, c and addend not negative. The pieces of a of 16 bits, the lowest first,
// share one multiplier of 17 by 32 bits, one piece a clock. `load` takes a, c and addend; k + 3 clocks later q holds
// the sum for the lowest k pieces of a, above 16 * (PIECES - k) bits without a meaning. A `load` may follow after k clocks.
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_mul_pieces #(
    parameter int PIECES = 2,
    parameter int A_BITS = 16*PIECES,
    parameter int Q_BITS = 16*PIECES + 33
) (
    input  wire clk,
    input  wire load,
    input  wire signed [A_BITS-1:0] a,
    input  wire [31:0] c,
    input  wire [31:0] addend,
    output wire signed [Q_BITS-1:0] q
);
    localparam PIECE = 16;
    localparam HIGH_BITS = 3*PIECE + 1;
    localparam LOW_BITS = Q_BITS - HIGH_BITS;

    logic first_reg, first_2_reg, first_3_reg;
    logic [PIECES-1:0] last_reg;              // the lowest bit marks the highest piece, which has the sign
    logic signed [A_BITS-1:0] a_reg;
    logic [31:0] c_reg, addend_reg;
    logic signed [2*PIECE+1:0] low_product_reg, high_product_reg;
    logic signed [HIGH_BITS-1:0] product_reg, high_reg;
    logic [LOW_BITS-1:0] low_reg;
    wire signed [PIECE:0] piece = {last_reg[0] && a_reg[PIECE-1], a_reg[PIECE-1:0]};
    wire signed [PIECE:0] c_low = {1'b0, c_reg[PIECE-1:0]};
    wire signed [PIECE:0] c_high = {1'b0, c_reg[31:PIECE]};
    wire signed [HIGH_BITS-1:0] lifted = HIGH_BITS'(high_product_reg) <<< PIECE;
    wire signed [HIGH_BITS-1:0] before = first_3_reg ? $signed({{(HIGH_BITS - 32){1'b0}}, addend_reg})
        : high_reg >>> PIECE;

    always_ff @(posedge clk) begin
        a_reg <= load ? a : a_reg >>> PIECE;
        last_reg <= load ? {1'b1, {(PIECES - 1){1'b0}}} : last_reg >> 1;
        if (load) c_reg <= c;
        first_reg <= load;
        first_2_reg <= first_reg;
        first_3_reg <= first_2_reg;
        if (load) addend_reg <= addend;
        low_product_reg <= piece * c_low;
        high_product_reg <= piece * c_high;
        product_reg <= lifted + HIGH_BITS'(low_product_reg);
        high_reg <= before + product_reg;
        low_reg <= LOW_BITS'({high_reg[PIECE-1:0], low_reg} >> PIECE);
    end

    assign q = {high_reg, low_reg};
endmodule

`default_nettype wire
