// kerncast: kernel RLS in random Fourier features, exponentially weighted; the normal equations R w = r are solved by
// dichotomous coordinate descent (Y. V. Zakharov, G. P. White, J. Liu, "Low-Complexity RLS Algorithms", 2008): additions
// and shifts, at most STEPS of them per sample. LANES columns of a sample, entries of R and coefficients at a time.
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_rls #(
    parameter int LANES = 1,                    // a power of two
    parameter int COLUMNS = 1,
    parameter int COSINES = 2,
    parameter bit INPUTS = 1,                   // the inputs are features, too
    parameter int WORD = 16,
    parameter bit X_SIGNED = 1,
    parameter int X_EXP = 0,
    parameter int PHASE_SHIFT = 0,
    parameter int PRODUCT_SHIFT = 0,
    parameter int OUT_SHIFT = 0,
    parameter int ERROR_SHIFT = 0,
    parameter int STEP_SHIFT = 0,
    parameter int STEPS = 10,
    parameter int ACC_BITS = 64,                // of w.phi, and of the target less w.phi
    parameter int ERROR_BITS = 48,
    parameter int ROUNDING = 1,
    parameter int F_BITS = 16,
    parameter logic signed [63:0] LO = -32768,
    parameter logic signed [63:0] HI = 32767,
    parameter logic signed [63:0] CLIP_LO = -32768,
    parameter logic signed [63:0] CLIP_HI = 32767,
    parameter logic [30:0] FADING = 0,
    parameter logic [31:0] RIDGE_ONE = 0, RIDGE_COSINE = 0, RIDGE_INPUT = 0,
    parameter logic [31:0] FADE_ONE = 0, FADE_COSINE = 0, FADE_INPUT = 0,
    parameter logic [COSINES*COLUMNS*16-1:0] DIRECTIONS = 0,
    parameter logic [COSINES*16-1:0] PHASES = 0,
    parameter logic [257*16-1:0] COSINE = 0,
    parameter int ROWS = (COLUMNS + LANES - 1) / LANES,
    parameter int ROW_BITS = ROWS > 1 ? $clog2(ROWS) : 1,
    parameter int FIRST_BLOCKS = (COSINES + LANES) / LANES,
    parameter int BLOCKS = FIRST_BLOCKS + (INPUTS != 0 ? ROWS : 0),
    parameter int BLOCK_BITS = BLOCKS > 1 ? $clog2(BLOCKS) : 1,
    parameter int LANE_BITS = LANES > 1 ? $clog2(LANES) : 1,
    parameter int TILES = BLOCKS*(BLOCKS + 1)/2,
    parameter int TILE_BITS = TILES > 1 ? $clog2(TILES) : 1
) (
    input  wire clk,
    input  wire rst,
    input  wire sample_full,                    // a sample can be read until `answer`
    input  wire learning,                       // it has a target
    output wire [ROW_BITS-1:0] row,             // of the sample; read latency one clock
    input  wire [LANES*WORD-1:0] x,
    input  wire [WORD-1:0] y,                   // the target
    input  wire answer_free,
    output wire idle,
    output wire answer,                         // for one clock, with:
    output wire [WORD-1:0] f,                   // the prediction before learning
    output wire f_saturated,
    output wire w_saturated,
    output wire trained,                        // before the sample

    input  wire forget,                         // everything
    input  wire restored,                       // the state is complete
    input  wire [BLOCK_BITS-1:0] state_block,   // a feature
    input  wire [LANE_BITS-1:0] state_lane,
    input  wire [TILE_BITS-1:0] state_tile,     // an entry of R
    input  wire [LANE_BITS-1:0] state_row,
    input  wire [LANE_BITS-1:0] state_column,
    output wire [31:0] state_r,                 // read latency two clocks
    output wire [63:0] state_beta,              // two
    output wire [31:0] state_w,                 // one
    input  wire [2:0] state_write,              // w, beta, R
    input  wire [63:0] state_word
);
    localparam LEVELS = $clog2(LANES);
    localparam PLACE_BITS = BLOCKS*LANES > 1 ? $clog2(BLOCKS*LANES) : 1;
    localparam FIRST_REST = COSINES + 1 - (FIRST_BLOCKS - 1)*LANES;
    localparam INPUT_REST = COLUMNS - (ROWS - 1)*LANES;

    logic trained_reg, pad_reg;

    wire start, phi_valid, phi_last, update, updated, unused_error_valid, pass, passing, passed, f_valid;
    wire sweep, sweep_first, sweep_last, sweep_scale, searching, found, choose, decided, halt, halt_saturated;
    wire [BLOCK_BITS-1:0] phi_block, pass_block, sweep_block, largest_block, diagonal_block;
    wire [LANE_BITS-1:0] phi_lane, pass_lane, largest_lane, diagonal_lane;
    wire [15:0] phi, pass_phi;
    wire [31:0] w, diagonal;
    wire [LANES*32-1:0] column;
    wire [63:0] largest;
    wire [2:0] largest_byte;
    wire largest_negative, negative, diagonal_valid;
    wire [4:0] power;
    wire [3:0] scale;
    wire signed [ERROR_BITS-1:0] error;
    wire phi_first, unused_input, pad;
    // The hardware multipliers of the lanes: for the features, then for R.
    wire multiplying;
    wire [LANES*(WORD+1)-1:0] factors_x;
    wire [LANES*16-1:0] factors_direction, factors_i, factors_j;
    wire [LANES*(WORD+17)-1:0] products;
    wire [LANES*32-1:0] r_products;
    wire [PLACE_BITS-1:0] phi_place = (PLACE_BITS'(phi_block) << LEVELS) | PLACE_BITS'(phi_lane);
    wire [PLACE_BITS-1:0] pass_place = (PLACE_BITS'(pass_block) << LEVELS) | PLACE_BITS'(pass_lane);
    wire [PLACE_BITS-1:0] state_place = (PLACE_BITS'(state_block) << LEVELS) | PLACE_BITS'(state_lane);

    kc_rls_control #(.BLOCKS(BLOCKS), .FIRST_BLOCKS(FIRST_BLOCKS), .STEPS(STEPS)) control_inst (
        .clk(clk), .rst(rst), .sample_full(sample_full), .learning(learning), .answer_free(answer_free), .idle(idle),
        .start(start), .phi_last(phi_last), .update(update), .updated(updated), .pass(pass),
        .passed(passed), .f_valid(f_valid), .sweep(sweep), .sweep_first(sweep_first), .sweep_last(sweep_last),
        .sweep_scale(sweep_scale), .sweep_block(sweep_block), .searching(searching), .found(found), .choose(choose),
        .decided(decided), .halt(halt), .halt_saturated(halt_saturated), .w_saturated(w_saturated), .answer(answer)
    );

    kc_rls_features #(
        .LANES(LANES), .COLUMNS(COLUMNS), .COSINES(COSINES), .INPUTS(INPUTS), .X_BITS(WORD), .X_SIGNED(X_SIGNED),
        .X_EXP(X_EXP), .PHASE_SHIFT(PHASE_SHIFT), .DIRECTIONS(DIRECTIONS), .PHASES(PHASES), .COSINE(COSINE),
        .BLOCK_BITS(BLOCK_BITS)
    ) features_inst (
        .clk(clk), .rst(rst), .start(start), .row(row), .x(x), .valid(phi_valid), .last(phi_last), .block(phi_block),
        .lane(phi_lane), .phi(phi), .factors_x(factors_x), .factors_direction(factors_direction), .products(products)
    );

    kc_rls_products #(.LANES(LANES), .A_BITS(WORD + 1)) products_inst (
        .clk(clk), .second(multiplying), .a(factors_x), .b(factors_direction), .second_a(factors_i),
        .second_b(factors_j), .products(products), .second_products(r_products)
    );

    kc_rls_kind #(
        .LANES(LANES), .BLOCKS(BLOCKS), .FIRST_BLOCKS(FIRST_BLOCKS), .FIRST_REST(FIRST_REST), .INPUT_REST(INPUT_REST)
    ) kind_inst (.block(phi_block), .lane(phi_lane), .one(phi_first), .is_input(unused_input), .pad(pad));

    kc_rls_predict #(
        .WORD(WORD), .ACC_BITS(ACC_BITS), .OUT_SHIFT(OUT_SHIFT), .ERROR_SHIFT(ERROR_SHIFT), .ERROR_BITS(ERROR_BITS),
        .ROUNDING(ROUNDING), .F_BITS(F_BITS), .LO(LO), .HI(HI), .CLIP_LO(CLIP_LO), .CLIP_HI(CLIP_HI)
    ) predict_inst (
        .clk(clk), .rst(rst), .valid(phi_valid), .first(phi_first), .last(phi_last), .phi(phi), .w(w),
        .zero(!trained_reg || pad_reg), .y(y), .error_valid(unused_error_valid), .error(error), .f_valid(f_valid), .f(f),
        .saturated(f_saturated)
    );

    kc_rls_matrix #(
        .LANES(LANES), .BLOCKS(BLOCKS), .FIRST_BLOCKS(FIRST_BLOCKS), .FIRST_REST(FIRST_REST), .INPUT_REST(INPUT_REST),
        .PRODUCT_SHIFT(PRODUCT_SHIFT), .FADING(FADING), .RIDGE_ONE(RIDGE_ONE), .RIDGE_COSINE(RIDGE_COSINE),
        .RIDGE_INPUT(RIDGE_INPUT), .FADE_ONE(FADE_ONE), .FADE_COSINE(FADE_COSINE), .FADE_INPUT(FADE_INPUT)
    ) matrix_inst (
        .clk(clk), .rst(rst), .phi_valid(phi_valid), .phi_block(phi_block), .phi_lane(phi_lane), .phi(phi),
        .update(update), .empty(!trained_reg), .updated(updated), .diagonal_valid(diagonal_valid),
        .diagonal_block(diagonal_block), .diagonal_lane(diagonal_lane), .diagonal(diagonal), .multiplying(multiplying),
        .factors_i(factors_i), .factors_j(factors_j), .products(r_products), .column_start(choose),
        .column_block(largest_block), .column_lane(largest_lane), .column_next(sweep && !searching), .column(column),
        .state_tile(state_tile), .state_row(state_row), .state_column(state_column), .state_entry(state_r),
        .state_write(state_write[2]), .state_word(state_word[31:0])
    );

    kc_ram #(.WIDTH(16), .DEPTH(BLOCKS*LANES), .READ_OLD(0)) phi_inst (
        .clk(clk), .write_enable(phi_valid), .write_address(phi_place), .write_data(phi), .read_address(pass_place),
        .read_data(pass_phi));

    kc_rls_residual #(
        .LANES(LANES), .BLOCKS(BLOCKS), .FIRST_BLOCKS(FIRST_BLOCKS), .FIRST_REST(FIRST_REST), .INPUT_REST(INPUT_REST),
        .ERROR_BITS(ERROR_BITS), .STEP_SHIFT(STEP_SHIFT), .FADING(FADING), .FADE_ONE(FADE_ONE),
        .FADE_COSINE(FADE_COSINE), .FADE_INPUT(FADE_INPUT)
    ) residual_inst (
        .clk(clk), .rst(rst), .pass(pass), .empty(!trained_reg), .passing(passing), .passed(passed),
        .pass_block(pass_block), .pass_lane(pass_lane), .phi(pass_phi), .w(w), .error(error), .sweep(sweep),
        .sweep_first(sweep_first), .sweep_last(sweep_last), .sweep_scale(sweep_scale), .sweep_block(sweep_block),
        .searching(searching), .column(column), .negative(negative), .power(power), .halt(halt), .scale(scale),
        .found(found), .largest(largest), .largest_byte(largest_byte), .largest_negative(largest_negative),
        .largest_block(largest_block), .largest_lane(largest_lane), .state_block(state_block), .state_lane(state_lane), .state_entry(state_beta),
        .state_write(state_write[1]), .state_word(state_word)
    );

    // A coefficient of an empty model becomes 0 in the first pass.
    kc_rls_step #(.LANES(LANES), .BLOCKS(BLOCKS), .FIRST_BLOCKS(FIRST_BLOCKS), .STEP_SHIFT(STEP_SHIFT)) step_inst (
        .clk(clk), .rst(rst), .update(update), .diagonal_valid(diagonal_valid), .diagonal_block(diagonal_block),
        .diagonal_lane(diagonal_lane), .diagonal(diagonal), .scale(scale), .choose(choose), .largest(largest),
        .largest_byte(largest_byte), .largest_negative(largest_negative), .largest_block(largest_block), .largest_lane(largest_lane),
        .negative(negative), .power(power), .decided(decided), .halt(halt), .saturated(halt_saturated),
        .reading(phi_valid || passing || idle), .read_place(phi_valid ? phi_place : passing ? pass_place : state_place),
        .w(w), .write(state_write[0] || (passing && !trained_reg)), .write_place(passing ? pass_place : state_place),
        .write_word(passing ? 32'd0 : state_word[31:0])
    );

    always_ff @(posedge clk) begin
        pad_reg <= pad;                     // lanes that are left hold no coefficients
        if ((answer && learning) || restored) trained_reg <= 1'b1;
        if (rst || forget) trained_reg <= 1'b0;
    end

    assign trained = trained_reg;
    assign state_w = w;
endmodule

`default_nettype wire
