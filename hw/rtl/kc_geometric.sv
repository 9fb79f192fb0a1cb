// kerncast: banded Toeplitz solver in block floating point for a geometric first row: L D L' alpha = y, where column j of
// L below the diagonal is g_j rho^(i-j). The tables hold the ROWS values of g, g_i / g_{i+1} and 1 / d_i that differ; the
// last ones repeat. Each sum is one running value, the carry, with FRAC bits below the LSB of its block:
//
//   z_i     = y_i - p_i          p_{i+1} = rho (p_i + g_i z_i)                      forward, i = 0 ... N - 1
//   alpha_i = z_i / d_i - s_i    s_{i-1} = rho g_{i-1} / g_i (s_i + g_i alpha_i)    backward, in the same memory
//
// One hardware multiplier serves all products, one after the other: a row takes 13 clocks for 16 bits, otherwise 17;
// backward, 5 or 7 more if g_{i-1} differs from g_i. If a value exceeds its word, the carry and the block written so far are scaled,
// one word a clock. Write y while the core is idle, then pulse `start`; x may be read after `done`. `failed`: an
// exponent exceeds the range of every positive definite system.
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_geometric #(
    parameter int N = 2,
    parameter int W = 16,
    parameter int ROWS = 1,
    parameter int FRAC = 13,                      // constants of the plan; FRAC is state_frac
    parameter int PIVOT_FRAC = 29,
    parameter int ALPHA_FRAC = 15,
    parameter int ALPHA_EXP_MIN = -8,
    parameter int ALPHA_EXP_MAX = 8,
    parameter int Z_EXP_MAX = 8,
    parameter int Z_ROUNDING = 1,
    parameter int ALPHA_ROUNDING = 1,
    parameter int EXP_BITS = 10,
    parameter logic [31:0] RHO = 0,               // 31 fraction bits
    parameter logic [ROWS*32-1:0] GENERATOR = 0,  // 31 fraction bits
    parameter logic [ROWS*32-1:0] RATIO = 0,      // 30 fraction bits
    parameter logic [ROWS*32-1:0] PIVOT = 0,
    parameter int INDEX_BITS = $clog2(N)
) (
    input  wire clk,
    input  wire rst,
    input  wire y_write,
    input  wire [INDEX_BITS-1:0] y_index,
    input  wire signed [W-1:0] y_word,
    input  wire start,
    output wire done,                         // for one clock; the outputs below are stable until the next start
    output wire failed,
    output wire signed [EXP_BITS-1:0] x_exp,
    input  wire [INDEX_BITS-1:0] x_index,
    output wire [W-1:0] x_word                // two clocks after x_index
);
    localparam HALF_UP = 1;
    localparam RHO_FRAC = 31;
    localparam CARRY_BITS = W + FRAC + 3;     // the plan: every carry is below 2**(W + 2) LSB
    localparam ACC_BITS = CARRY_BITS + 1;
    localparam ROUNDED_BITS = ACC_BITS - FRAC + 1;
    localparam PIECES = W == 16 ? 2 : 4;      // of 16 bits of a carry; a word has half as many
    localparam A_BITS = 16*PIECES;
    localparam Q_BITS = A_BITS + 33;
    localparam BASE_BITS = W == 16 ? 48 : 64;
    localparam ROW_BITS = ROWS > 1 ? $clog2(ROWS) : 1;
    localparam [INDEX_BITS-1:0] LAST_ROW = INDEX_BITS'(N - 1);
    localparam [INDEX_BITS:0] SETTLED = (INDEX_BITS + 1)'(ROWS - 1);
    localparam signed [63:0] HI = (64'sd1 <<< (W - 1)) - 64'sd1;
    localparam signed [63:0] LO = -HI - 64'sd1;
    localparam signed [63:0] CARRY_HI = (64'sd1 <<< (CARRY_BITS - 1)) - 64'sd1;
    localparam signed [63:0] CARRY_LO = -CARRY_HI - 64'sd1;
    localparam signed [6:0] MOST_SHIFT = 7'sd62;
    // Clocks of a row: its value is subtracted, rounded and written; z / d of the next row is begun; the sum of carry and
    // g v is ready; it is multiplied by rho; and by the ratio.
    localparam PRODUCT = PIECES + 3, HALF_PRODUCT = PIECES/2 + 3;
    localparam [4:0] AT_SUBTRACT = 5'd0, AT_ROUND = 5'd1, AT_WORD = 5'd2;
    localparam [4:0] AT_OVER = 5'(3 + PIECES), AT_SUM = 5'(2 + PRODUCT), AT_CARRY = 5'(2 + 2*PRODUCT);
    localparam [4:0] AT_RATIO = 5'(2 + 3*PRODUCT);
    localparam [4:0] AT_FIRST_OVER = 5'd3, LEAD = 5'(HALF_PRODUCT + 6);   // before rows, and before an exponent of alpha
    localparam [4:0] GROW_CLOCKS = 5'd3;      // until the requantised word and carry are ready
    localparam [4:0] MEASURE_CLOCKS = 5'd2;   // until the exponent has grown by the bits beyond the word

    typedef enum logic [2:0] {IDLE, BEGIN_PASS, ROWS_RUN, GROW, SCALE, BEGIN_BACKWARD} state_t;

    state_t state_reg;
    logic backward_reg, done_reg, failed_reg;
    logic [4:0] step_reg;
    logic signed [EXP_BITS-1:0] exp_reg, z_exp_reg;
    logic [INDEX_BITS-1:0] row_reg, next_reg; // the row, and the next one, whose y or z / d is fetched
    wire running = state_reg == ROWS_RUN;
    wire [INDEX_BITS-1:0] edge_row = backward_reg ? LAST_ROW : {INDEX_BITS{1'b0}};   // the first of the pass
    wire rows_end = row_reg == (backward_reg ? {INDEX_BITS{1'b0}} : LAST_ROW);
    wire changes = {1'b0, row_reg} <= SETTLED;        // the row has its own entry in the tables
    wire next_changes = {1'b0, next_reg} <= SETTLED;
    wire [ROW_BITS-1:0] entry = changes ? row_reg[ROW_BITS-1:0] : SETTLED[ROW_BITS-1:0];
    wire [ROW_BITS-1:0] next_entry = next_changes ? next_reg[ROW_BITS-1:0] : SETTLED[ROW_BITS-1:0];
    wire new_generator = backward_reg && changes && row_reg != 0;

    // ---- memories: y; z and alpha; the tables ----
    wire signed [W-1:0] y, operand;
    wire [31:0] generator, ratio, pivot;
    wire scaling = state_reg == SCALE;
    logic [INDEX_BITS-1:0] scale_reg, scaled_1_reg, scaled_2_reg, scaled_3_reg;
    logic scale_valid_1_reg, scale_valid_2_reg, scale_valid_3_reg, scale_issuing_reg;
    logic signed [ROUNDED_BITS-1:0] rounded_reg;
    logic signed [W-1:0] v_reg;
    wire fits = rounded_reg[ROUNDED_BITS-1:W-1] == {(ROUNDED_BITS - W + 1){rounded_reg[W-1]}};
    wire grown = scaling && !scale_issuing_reg && !scale_valid_1_reg && !scale_valid_2_reg && !scale_valid_3_reg
        && step_reg >= GROW_CLOCKS;
    wire row_written = (running && step_reg == AT_WORD && fits) || grown;
    wire writes = row_written || scale_valid_3_reg;
    wire signed [W-1:0] scaled;
    wire [W-1:0] requantised_z, requantised_alpha;
    wire signed [W-1:0] requantised = backward_reg ? requantised_alpha : requantised_z;
    wire [INDEX_BITS-1:0] write_address = scale_valid_3_reg ? scaled_3_reg : row_reg;
    wire signed [W-1:0] row_word = grown ? requantised : rounded_reg[W-1:0];
    wire signed [W-1:0] write_data = scale_valid_3_reg ? scaled : row_word;

    kc_ram #(.WIDTH(W), .DEPTH(N))
        y_inst (.clk(clk), .write_enable(y_write), .write_address(y_index), .write_data(y_word),
                .read_address(next_reg), .read_data(y));
    kc_ram #(.WIDTH(W), .DEPTH(N))
        operand_inst (.clk(clk), .write_enable(writes), .write_address(write_address), .write_data(write_data),
                      .read_address(state_reg == IDLE ? x_index : scaling ? scale_reg : next_reg),
                      .read_data(operand));
    kc_rom #(.WIDTH(32), .DEPTH(ROWS), .TABLE(GENERATOR))
        generator_inst (.clk(clk), .address(entry), .q(generator));
    kc_rom #(.WIDTH(32), .DEPTH(ROWS), .TABLE(RATIO))
        ratio_inst (.clk(clk), .address(next_entry), .q(ratio));
    kc_rom #(.WIDTH(32), .DEPTH(ROWS), .TABLE(PIVOT))
        pivot_inst (.clk(clk), .address(next_entry), .q(pivot));

    // ---- the products: g v, rounded; z / d or the largest z / d; rho times the sum; the ratio times that ----
    logic [W-1:0] max_reg, size_reg;          // the largest magnitude of the block, and that of the last write
    logic max_first_reg, written_reg;
    logic signed [CARRY_BITS-1:0] carry_reg;
    logic [HALF_PRODUCT-1:0] over_reg;        // z / d is being computed
    wire load_word = (running && step_reg == AT_WORD) || grown;   // again if it did not fit
    wire load_over = (running && backward_reg && step_reg == AT_OVER)
        || ((state_reg == BEGIN_PASS || state_reg == BEGIN_BACKWARD) && step_reg == AT_FIRST_OVER);
    wire load_sum = running && step_reg == AT_SUM;
    wire load_ratio = running && step_reg == AT_CARRY && new_generator;
    wire signed [Q_BITS-1:0] product;
    wire signed [CARRY_BITS-1:0] high_product = product[RHO_FRAC +: CARRY_BITS];
    wire signed [BASE_BITS-1:0] over_d = product[A_BITS/2 +: BASE_BITS];
    wire signed [CARRY_BITS-1:0] sum = carry_reg + high_product;
    wire signed [W-1:0] over_word = state_reg == BEGIN_BACKWARD ? $signed(max_reg) : v_reg;
    wire signed [A_BITS-1:0] factor = load_over ? A_BITS'(over_word) : load_sum ? A_BITS'(sum)
        : load_ratio ? A_BITS'(high_product) : A_BITS'(row_word) <<< FRAC;
    wire [31:0] coefficient = load_over ? pivot : load_sum ? RHO : load_ratio ? {ratio[30:0], 1'b0} : generator;

    kc_mul_pieces #(.PIECES(PIECES)) product_inst (
        .clk(clk), .load(load_word || load_over || load_sum || load_ratio), .half(load_over), .rounds(load_word),
        .a(factor), .c(coefficient), .q(product));

    // ---- y_i, or z_i / d_i, at the LSB of the carry ----
    logic [W-1:0] y_used_reg;
    logic signed [BASE_BITS-1:0] base_3_reg, base_4_reg, base_reg;
    logic signed [EXP_BITS:0] shift_wide_reg;
    logic signed [6:0] shift_reg, coarse_reg, fine_reg;
    wire signed [BASE_BITS-1:0] base_coarse, base_fine;
    wire signed [EXP_BITS:0] shift_wide = !backward_reg ? (EXP_BITS + 1)'(exp_reg) - (EXP_BITS + 1)'(FRAC + 1)
        : (EXP_BITS + 1)'(exp_reg) - (EXP_BITS + 1)'(z_exp_reg)
            + (EXP_BITS + 1)'(PIVOT_FRAC + W - 1 - ALPHA_FRAC - FRAC);
    wire [6:0] shift_size = shift_reg[6] ? -shift_reg : shift_reg;

    kc_arithmetic_shift #(.V_BITS(BASE_BITS), .S_BITS(7))
        coarse_inst (.v(base_3_reg), .s(coarse_reg), .q(base_coarse));
    kc_arithmetic_shift #(.V_BITS(BASE_BITS), .S_BITS(7))
        fine_inst (.v(base_4_reg), .s(fine_reg), .q(base_fine));

    // ---- the value of the row and its rounding ----
    logic signed [ACC_BITS-1:0] acc_reg;
    wire signed [ACC_BITS-1:0] rounded_z, rounded_alpha;
    wire signed [ACC_BITS-1:0] rounded = backward_reg ? rounded_alpha : rounded_z;

    kc_shift_round #(.V_BITS(ACC_BITS), .S_BITS(6), .ROUNDING(Z_ROUNDING))
        round_z_inst (.v(acc_reg), .s(6'(FRAC)), .q(rounded_z));
    kc_shift_round #(.V_BITS(ACC_BITS), .S_BITS(6), .ROUNDING(ALPHA_ROUNDING))
        round_alpha_inst (.v(acc_reg), .s(6'(FRAC)), .q(rounded_alpha));

    // ---- growth: by how many bits the value exceeds its word ----
    wire [ROUNDED_BITS-1:0] rounded_size;
    wire [5:0] rounded_length, y_length, top;
    wire [W-1:0] write_size, y_size;
    logic [5:0] grow_reg, length_reg, y_length_reg, top_reg;
    wire [6:0] grown_shift = 7'(FRAC) + 7'(grow_reg);
    wire [2:0] unused_outside;
    wire [W-1:0] unused_used;
    wire [CARRY_BITS-1:0] scaled_carry;
    logic signed [EXP_BITS-1:0] exp_grown_reg, exp_first_reg;
    wire signed [EXP_BITS-1:0] exp_max = backward_reg ? EXP_BITS'(ALPHA_EXP_MAX) : EXP_BITS'(Z_EXP_MAX);
    wire no_block = row_reg == edge_row;
    wire scale_last = backward_reg ? scale_reg == LAST_ROW : scale_reg + 1'b1 == row_reg;

    kc_magnitude #(.V_BITS(ROUNDED_BITS)) rounded_size_inst (.v(rounded_reg), .q(rounded_size));
    kc_bit_length #(.V_BITS(ROUNDED_BITS)) rounded_length_inst (.v(rounded_size), .length(rounded_length));
    kc_magnitude #(.V_BITS(W)) write_size_inst (.v(write_data), .q(write_size));
    kc_magnitude #(.V_BITS(W)) y_size_inst (.v(y_word), .q(y_size));
    kc_bit_length #(.V_BITS(W)) y_length_inst (.v(y_used_reg), .length(y_length));
    kc_bit_length #(.V_BITS(BASE_BITS - 1)) top_inst (.v(base_3_reg[BASE_BITS-2:0]), .length(top));
    kc_block_scale #(.WIDTH(W), .S_BITS(6)) scale_inst (
        .clk(clk), .valid(scale_valid_2_reg), .first(1'b1), .word(v_reg), .s(grow_reg), .q(scaled), .used(unused_used));
    kc_requantise #(.V_BITS(ACC_BITS), .S_BITS(7), .ROUNDING(Z_ROUNDING), .OUT_BITS(W), .LO(LO), .HI(HI), .CLOCKS(3))
        requantise_z_inst (.clk(clk), .v(acc_reg), .s(grown_shift), .q(requantised_z), .outside(unused_outside[0]));
    kc_requantise #(.V_BITS(ACC_BITS), .S_BITS(7), .ROUNDING(ALPHA_ROUNDING), .OUT_BITS(W), .LO(LO), .HI(HI), .CLOCKS(3))
        requantise_alpha_inst (.clk(clk), .v(acc_reg), .s(grown_shift), .q(requantised_alpha), .outside(unused_outside[1]));
    kc_requantise #(.V_BITS(CARRY_BITS), .S_BITS(7), .ROUNDING(HALF_UP), .OUT_BITS(CARRY_BITS), .LO(CARRY_LO), .HI(CARRY_HI),
                    .CLOCKS(3), .LEFT(0))
        carry_inst (.clk(clk), .v(carry_reg), .s(7'(grow_reg)), .q(scaled_carry), .outside(unused_outside[2]));

    always_ff @(posedge clk) begin
        // The numbers: they need no reset.
        v_reg <= operand;
        over_reg <= {over_reg[HALF_PRODUCT-2:0], load_over};
        if (!backward_reg) base_3_reg <= BASE_BITS'(y);
        else if (over_reg[HALF_PRODUCT-1]) base_3_reg <= over_d;
        base_4_reg <= base_coarse;
        base_reg <= base_fine;
        // The exponents stand still while rows run, so that the shift may take three clocks.
        shift_wide_reg <= shift_wide;
        shift_reg <= shift_wide_reg > (EXP_BITS + 1)'(MOST_SHIFT) ? MOST_SHIFT : shift_wide_reg[6:0];
        coarse_reg <= shift_reg[6] ? -{shift_size[6:3], 3'd0} : {shift_size[6:3], 3'd0};
        fine_reg <= shift_reg[6] ? -{4'd0, shift_size[2:0]} : {4'd0, shift_size[2:0]};
        if (running && step_reg == AT_SUBTRACT) acc_reg <= base_reg[ACC_BITS-1:0] - ACC_BITS'(carry_reg);
        if (running && step_reg == AT_ROUND) rounded_reg <= rounded[ROUNDED_BITS-1:0];
        if (running && (step_reg == AT_CARRY || step_reg == AT_RATIO)) carry_reg <= high_product;
        if (grown) carry_reg <= scaled_carry;
        if (state_reg == BEGIN_PASS) carry_reg <= {CARRY_BITS{1'b0}};
        if (y_write) y_used_reg <= y_size | (y_index == 0 ? {W{1'b0}} : y_used_reg);
        written_reg <= writes;
        size_reg <= write_size;
        if (written_reg) begin
            max_reg <= max_first_reg || size_reg > max_reg ? size_reg : max_reg;
            max_first_reg <= 1'b0;
        end
        scale_valid_1_reg <= scaling && scale_issuing_reg;
        scale_valid_2_reg <= scale_valid_1_reg;
        scale_valid_3_reg <= scale_valid_2_reg;
        scaled_1_reg <= scale_reg;
        scaled_2_reg <= scaled_1_reg;
        scaled_3_reg <= scaled_2_reg;
        top_reg <= top;
        y_length_reg <= y_length;
        length_reg <= rounded_length;
        grow_reg <= length_reg - 6'(W - 1);
        exp_grown_reg <= exp_reg + EXP_BITS'(grow_reg);
        exp_first_reg <= $signed(EXP_BITS'(top_reg)) + z_exp_reg + EXP_BITS'(ALPHA_FRAC - PIVOT_FRAC - 2*(W - 1));

        done_reg <= 1'b0;
        step_reg <= step_reg + 1'b1;
        case (state_reg)
            IDLE: begin
                step_reg <= 5'd0;
                if (start) begin
                    backward_reg <= 1'b0;
                    failed_reg <= 1'b0;
                    state_reg <= BEGIN_PASS;
                end
            end
            BEGIN_PASS: begin
                if (!backward_reg && step_reg == 5'd0) exp_reg <= EXP_BITS'(1 - W) + $signed(EXP_BITS'(y_length_reg));
                max_first_reg <= 1'b1;
                next_reg <= edge_row;
                if (step_reg == LEAD) begin
                    step_reg <= 5'd0;
                    state_reg <= ROWS_RUN;
                end
            end
            ROWS_RUN: begin
                if (step_reg == AT_SUBTRACT) begin
                    row_reg <= next_reg;
                    next_reg <= backward_reg ? next_reg - 1'b1 : next_reg + 1'b1;
                end
                if (step_reg == AT_WORD && !fits) begin
                    max_first_reg <= 1'b1;
                    step_reg <= 5'd0;
                    state_reg <= GROW;
                end
                if ((step_reg == AT_CARRY && !new_generator) || step_reg == AT_RATIO) step_reg <= 5'd0;
            end
            GROW: if (step_reg == MEASURE_CLOCKS) begin
                exp_reg <= exp_grown_reg;
                scale_reg <= backward_reg ? row_reg + 1'b1 : {INDEX_BITS{1'b0}};
                scale_issuing_reg <= !no_block;
                failed_reg <= exp_grown_reg > exp_max;
                done_reg <= exp_grown_reg > exp_max;
                step_reg <= 5'd0;
                state_reg <= exp_grown_reg > exp_max ? IDLE : SCALE;
            end
            SCALE: begin
                scale_reg <= scale_reg + 1'b1;
                if (scale_last) scale_issuing_reg <= 1'b0;
                if (step_reg == GROW_CLOCKS) step_reg <= GROW_CLOCKS;
                if (grown) begin
                    step_reg <= AT_WORD + 1'b1;
                    state_reg <= ROWS_RUN;
                end
            end
            default: begin
                next_reg <= LAST_ROW;
                if (step_reg == LEAD) begin
                    exp_reg <= exp_first_reg < EXP_BITS'(ALPHA_EXP_MIN) ? EXP_BITS'(ALPHA_EXP_MIN) : exp_first_reg;
                    failed_reg <= exp_first_reg > EXP_BITS'(ALPHA_EXP_MAX);
                    done_reg <= exp_first_reg > EXP_BITS'(ALPHA_EXP_MAX);
                    step_reg <= 5'd0;
                    state_reg <= exp_first_reg > EXP_BITS'(ALPHA_EXP_MAX) ? IDLE : BEGIN_PASS;
                end
            end
        endcase
        if (row_written && rows_end) begin
            z_exp_reg <= exp_reg;
            done_reg <= backward_reg;
            backward_reg <= 1'b1;
            step_reg <= 5'd0;
            state_reg <= backward_reg ? IDLE : BEGIN_BACKWARD;
        end
        if (rst) begin
            state_reg <= IDLE;
            done_reg <= 1'b0;
        end
    end

    assign done = done_reg;
    assign failed = failed_reg;
    assign x_exp = exp_reg;
    assign x_word = v_reg;
endmodule

`default_nettype wire
