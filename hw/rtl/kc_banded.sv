// kerncast: banded Toeplitz solver in block floating point: L D L' alpha = y, where L has BAND diagonals below that of
// ones. FACTOR holds the ROWS columns of L that differ, PIVOT 1 / d_i over 1 + lambda; the last ones repeat.
//
//   z_i     = y_i - sum_j L[i, i-j] z_{i-j}                 forward, i = 0 ... N - 1
//   alpha_i = z_i / d_i - sum_j L[i+j, i] alpha_{i+j}       backward, in the same memory
//
// One lag a clock, the nearest lag last: it waits until the row before is written, eight clocks after its own last lag.
// So a row takes as many clocks as it has lags, and at least nine. If a value exceeds its word, the block written so
// far is scaled, one word a clock, and the next row is begun again. Write y while the core is idle, then pulse `start`;
// x may be read after `done`. `failed`: an exponent exceeds the range of every positive definite system.
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_banded #(
    parameter int N = 2,
    parameter int W = 16,
    parameter int BAND = 1,
    parameter int ROWS = 1,
    parameter int FRAC = 15,                      // constants of the plan; FRAC is factor_frac - factor_shift
    parameter int FACTOR_SHIFT = 0,
    parameter int FACTOR_HEAD = 0,
    parameter int PIVOT_FRAC = 29,
    parameter int ALPHA_FRAC = 15,
    parameter int ALPHA_EXP_MIN = -8,
    parameter int ALPHA_EXP_MAX = 8,
    parameter int Z_EXP_MAX = 8,
    parameter int Z_ROUNDING = 1,
    parameter int ALPHA_ROUNDING = 1,
    parameter int EXP_BITS = 10,
    parameter logic [ROWS*BAND*W-1:0] FACTOR = 0,
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
    localparam ACC_BITS = W == 16 ? 48 : 64;
    localparam ROUNDED_BITS = ACC_BITS - FRAC + 1;
    localparam LAG_BITS = $clog2(BAND + 1);
    localparam ROW_BITS = ROWS > 1 ? $clog2(ROWS) : 1;
    localparam ENTRY_BITS = ROWS*BAND > 1 ? $clog2(ROWS*BAND) : 1;
    localparam [INDEX_BITS-1:0] LAST_ROW = INDEX_BITS'(N - 1);
    localparam [ROW_BITS-1:0] SETTLED = ROW_BITS'(ROWS - 1);
    localparam [ENTRY_BITS-1:0] SETTLED_ENTRY = ENTRY_BITS'((ROWS - 1)*BAND);
    localparam LAT_SUM = 6;                   // clocks from the issue of a lag to the sum that includes it
    localparam LAT_ROUND = 8;                 // and to the rounded word of its row
    localparam signed [63:0] HI = (64'sd1 <<< (W - 1)) - 64'sd1;
    localparam signed [63:0] LO = -HI - 64'sd1;
    localparam signed [6:0] MOST_SHIFT = 7'sd62;
    localparam [2:0] GROW_CLOCKS = 3'd3;      // until the requantised word is ready
    localparam [2:0] MEASURE_CLOCKS = 3'd1;   // until grow_reg counts the bits beyond the word
    localparam [2:0] START_CLOCKS = 3'd5;     // until the first exponent of alpha is ready

    typedef enum logic [2:0] {IDLE, BEGIN_PASS, ROWS_RUN, GROW, SCALE, BEGIN_BACKWARD} state_t;

    state_t state_reg;
    logic backward_reg, done_reg, failed_reg;
    logic signed [EXP_BITS-1:0] exp_reg, z_exp_reg;

    // ---- the lag that is issued: row, lags left, and where its factor and its operand are ----
    logic issuing_reg, first_reg, group_first_reg, before_written_reg;
    logic [INDEX_BITS-1:0] row_reg, operand_reg, operand_start_reg;
    logic [LAG_BITS-1:0] lag_reg, count_reg;
    logic [ENTRY_BITS-1:0] entry_reg, entry_start_reg;
    logic [ROW_BITS-1:0] column_reg, column_start_reg, pivot_row_reg;
    wire nearest = lag_reg <= LAG_BITS'(1);
    wire issue = state_reg == ROWS_RUN && issuing_reg && (!nearest || before_written_reg);
    wire group_last = nearest || lag_reg == LAG_BITS'(FACTOR_HEAD + 1)
        || (lag_reg <= LAG_BITS'(FACTOR_HEAD) && lag_reg[0]);
    wire [INDEX_BITS-1:0] edge_row = backward_reg ? LAST_ROW : {INDEX_BITS{1'b0}};   // the first of the pass
    wire last_issued = row_reg == (backward_reg ? {INDEX_BITS{1'b0}} : LAST_ROW);
    wire full = count_reg == LAG_BITS'(BAND);
    wire [LAG_BITS-1:0] count_next = full ? count_reg : count_reg + 1'b1;
    wire [INDEX_BITS-1:0] row_next = backward_reg ? row_reg - 1'b1 : row_reg + 1'b1;
    wire [INDEX_BITS-1:0] operand_start_next = !full ? operand_start_reg
        : backward_reg ? operand_start_reg - 1'b1 : operand_start_reg + 1'b1;
    wire settled = column_reg == SETTLED;
    wire advances = full && column_start_reg != SETTLED;   // forward: the farthest lag meets the next column
    wire leaves = row_reg <= INDEX_BITS'(ROWS - 1) && row_reg != 0;   // backward: the next row has its own column
    wire [ENTRY_BITS-1:0] nearer = backward_reg ? {ENTRY_BITS{1'b0}}
        : full ? (advances ? ENTRY_BITS'(BAND) : {ENTRY_BITS{1'b0}}) : {{(ENTRY_BITS - 1){1'b0}}, count_reg != 0};
    wire [ENTRY_BITS-1:0] entry_start_next = !backward_reg ? entry_start_reg + nearer
        : entry_start_reg + {{(ENTRY_BITS - 1){1'b0}}, !full && count_reg != 0}
            - (leaves ? ENTRY_BITS'(BAND) : {ENTRY_BITS{1'b0}});
    wire [ROW_BITS-1:0] column_start_next = column_start_reg + {{(ROW_BITS - 1){1'b0}}, advances};

    // ---- pipeline control: stage k holds a lag k clocks after its issue ----
    localparam CONTROL_BITS = 6;
    localparam VALID = 5, FIRST = 4, FINAL = 3, GROUP_FIRST = 2, GROUP_LAST = 1, ON = 0;
    logic [LAT_ROUND*CONTROL_BITS-1:0] control_reg;
    wire [CONTROL_BITS-1:0] control = {issue, first_reg, nearest, group_first_reg, group_last, lag_reg != 0};
    wire [CONTROL_BITS-1:0] at_product = control_reg[(LAT_SUM-2)*CONTROL_BITS +: CONTROL_BITS];
    wire [CONTROL_BITS-1:0] at_sum = control_reg[(LAT_SUM-1)*CONTROL_BITS +: CONTROL_BITS];
    wire [CONTROL_BITS-1:0] at_round = control_reg[(LAT_ROUND-1)*CONTROL_BITS +: CONTROL_BITS];
    wire [CONTROL_BITS-1:0] at_final = control_reg[(LAT_ROUND-2)*CONTROL_BITS +: CONTROL_BITS];
    wire rounds = at_round[VALID] && at_round[FINAL];

    // ---- memories: what the lags multiply; y or z of the row; the tables ----
    wire signed [W-1:0] operand, of_row, factor;
    wire signed [31:0] pivot;
    wire scaling = state_reg == SCALE;
    logic [INDEX_BITS-1:0] write_row_reg, scale_reg, scaled_1_reg, scaled_2_reg, scaled_3_reg;
    logic scale_valid_1_reg, scale_valid_2_reg, scale_valid_3_reg, scale_issuing_reg;
    wire fits, grown;
    wire row_written = (rounds && fits) || grown;
    wire writes = row_written || scale_valid_3_reg;
    wire signed [W-1:0] scaled;
    wire [W-1:0] requantised_z, requantised_alpha;
    wire signed [W-1:0] requantised = backward_reg ? requantised_alpha : requantised_z;
    wire [INDEX_BITS-1:0] write_address = scale_valid_3_reg ? scaled_3_reg : write_row_reg;
    logic signed [ROUNDED_BITS-1:0] rounded_reg;
    wire signed [W-1:0] write_data = scale_valid_3_reg ? scaled : grown ? requantised : rounded_reg[W-1:0];

    kc_ram #(.WIDTH(W), .DEPTH(N))
        operand_inst (.clk(clk), .write_enable(writes), .write_address(write_address), .write_data(write_data),
                      .read_address(state_reg == IDLE ? x_index : scaling ? scale_reg : operand_reg),
                      .read_data(operand));
    kc_ram #(.WIDTH(W), .DEPTH(N))
        row_inst (.clk(clk), .write_enable(writes || y_write), .write_address(y_write ? y_index : write_address),
                  .write_data(y_write ? y_word : write_data), .read_address(row_reg), .read_data(of_row));
    kc_rom #(.WIDTH(W), .DEPTH(ROWS*BAND), .TABLE(FACTOR))
        factor_inst (.clk(clk), .address(entry_reg), .q(factor));
    kc_rom #(.WIDTH(32), .DEPTH(ROWS), .TABLE(PIVOT))
        pivot_inst (.clk(clk), .address(pivot_row_reg), .q(pivot));

    // ---- y_i, or z_i / d_i, at the LSB of the sum; at first the largest z / d ----
    logic [W-1:0] max_reg, y_used_reg;
    logic max_first_reg;
    logic signed [W-1:0] base_1_reg, base_2_reg;
    logic signed [31:0] pivot_reg;
    logic signed [W+16:0] base_low_reg, base_high_reg;
    logic signed [ACC_BITS-1:0] base_3_reg, base_4_reg, base_reg;
    logic signed [EXP_BITS:0] shift_wide_reg;
    logic signed [6:0] shift_reg, coarse_reg, fine_reg;
    wire signed [16:0] pivot_low = {1'b0, pivot_reg[15:0]};
    wire signed [16:0] pivot_high = {pivot_reg[31], pivot_reg[31:16]};
    wire signed [ACC_BITS-1:0] base_high = ACC_BITS'(base_high_reg) <<< 16;
    wire signed [ACC_BITS-1:0] base_coarse, base_fine;
    wire signed [EXP_BITS:0] shift_wide = !backward_reg ? (EXP_BITS + 1)'(exp_reg) - (EXP_BITS + 1)'(FRAC + 1)
        : (EXP_BITS + 1)'(exp_reg) - (EXP_BITS + 1)'(z_exp_reg)
            + (EXP_BITS + 1)'(PIVOT_FRAC + W - 1 - ALPHA_FRAC - FRAC);
    wire [6:0] shift_size = shift_reg[6] ? -shift_reg : shift_reg;

    kc_arithmetic_shift #(.V_BITS(ACC_BITS), .S_BITS(7))
        coarse_inst (.v(base_3_reg), .s(coarse_reg), .q(base_coarse));
    kc_arithmetic_shift #(.V_BITS(ACC_BITS), .S_BITS(7))
        fine_inst (.v(base_4_reg), .s(fine_reg), .q(base_fine));

    // ---- products, their groups, the sum, its rounding ----
    logic signed [W-1:0] u_reg, v_reg;
    logic signed [2*W-1:0] product_reg;
    logic signed [ACC_BITS-1:0] group_reg, acc_reg, acc_hold_reg;
    wire signed [ACC_BITS-1:0] group_shifted = group_reg >>> FACTOR_SHIFT;
    wire signed [ACC_BITS-1:0] rounded_z, rounded_alpha;
    wire signed [ACC_BITS-1:0] rounded = backward_reg ? rounded_alpha : rounded_z;

    generate
        if (W <= 18) begin : g_one_product
            logic signed [2*W-1:0] early_reg, middle_reg;

            always_ff @(posedge clk) begin
                early_reg <= u_reg * v_reg;
                middle_reg <= early_reg;
                product_reg <= middle_reg;
            end
        end else begin : g_two_products
            localparam PIECE = W / 2;
            logic signed [W+PIECE:0] low_reg, high_reg, low_2_reg, high_2_reg;
            wire signed [PIECE:0] v_low = {1'b0, v_reg[PIECE-1:0]};
            wire signed [PIECE:0] v_high = {v_reg[W-1], v_reg[W-1:PIECE]};
            wire signed [2*W-1:0] high = (2*W)'(high_2_reg) <<< PIECE;

            always_ff @(posedge clk) begin
                low_reg <= u_reg * v_low;
                high_reg <= u_reg * v_high;
                low_2_reg <= low_reg;
                high_2_reg <= high_reg;
                product_reg <= high + (2*W)'(low_2_reg);
            end
        end
    endgenerate

    kc_shift_round #(.V_BITS(ACC_BITS), .S_BITS(6), .ROUNDING(Z_ROUNDING))
        round_z_inst (.v(acc_reg), .s(6'(FRAC)), .q(rounded_z));
    kc_shift_round #(.V_BITS(ACC_BITS), .S_BITS(6), .ROUNDING(ALPHA_ROUNDING))
        round_alpha_inst (.v(acc_reg), .s(6'(FRAC)), .q(rounded_alpha));

    assign fits = rounded_reg[ROUNDED_BITS-1:W-1] == {(ROUNDED_BITS - W + 1){rounded_reg[W-1]}};

    // ---- growth: by how many bits the value exceeds its word ----
    wire [ROUNDED_BITS-1:0] rounded_size;
    wire [5:0] rounded_length, y_length, top;
    wire [W-1:0] write_size, y_size;
    logic [5:0] grow_reg, length_reg, y_length_reg, top_reg;
    logic [2:0] clock_reg;
    wire [6:0] grown_shift = 7'(FRAC) + 7'(grow_reg);
    wire [1:0] unused_outside;
    wire [W-1:0] unused_used;
    wire signed [EXP_BITS-1:0] exp_grown = exp_reg + EXP_BITS'(grow_reg);
    wire signed [EXP_BITS-1:0] exp_max = backward_reg ? EXP_BITS'(ALPHA_EXP_MAX) : EXP_BITS'(Z_EXP_MAX);
    wire signed [EXP_BITS-1:0] exp_first = $signed(EXP_BITS'(top_reg)) + z_exp_reg
        + EXP_BITS'(ALPHA_FRAC - PIVOT_FRAC - 2*(W - 1));
    wire measured = clock_reg == MEASURE_CLOCKS;
    wire no_block = write_row_reg == edge_row;
    wire scale_last = backward_reg ? scale_reg == LAST_ROW : scale_reg + 1'b1 == write_row_reg;
    wire rows_end = write_row_reg == (backward_reg ? {INDEX_BITS{1'b0}} : LAST_ROW);

    kc_magnitude #(.V_BITS(ROUNDED_BITS)) rounded_size_inst (.v(rounded_reg), .q(rounded_size));
    kc_bit_length #(.V_BITS(ROUNDED_BITS)) rounded_length_inst (.v(rounded_size), .length(rounded_length));
    kc_magnitude #(.V_BITS(W)) write_size_inst (.v(write_data), .q(write_size));
    kc_magnitude #(.V_BITS(W)) y_size_inst (.v(y_word), .q(y_size));
    kc_bit_length #(.V_BITS(W)) y_length_inst (.v(y_used_reg), .length(y_length));
    kc_bit_length #(.V_BITS(ACC_BITS - 1)) top_inst (.v(base_3_reg[ACC_BITS-2:0]), .length(top));
    kc_block_scale #(.WIDTH(W), .S_BITS(6)) scale_inst (
        .clk(clk), .valid(scale_valid_2_reg), .first(1'b1), .word(v_reg), .s(grow_reg), .q(scaled), .used(unused_used));
    kc_requantise #(.V_BITS(ACC_BITS), .S_BITS(7), .ROUNDING(Z_ROUNDING), .OUT_BITS(W), .LO(LO), .HI(HI), .CLOCKS(3))
        requantise_z_inst (.clk(clk), .v(acc_hold_reg), .s(grown_shift), .q(requantised_z), .outside(unused_outside[0]));
    kc_requantise #(.V_BITS(ACC_BITS), .S_BITS(7), .ROUNDING(ALPHA_ROUNDING), .OUT_BITS(W), .LO(LO), .HI(HI), .CLOCKS(3))
        requantise_alpha_inst (.clk(clk), .v(acc_hold_reg), .s(grown_shift), .q(requantised_alpha), .outside(unused_outside[1]));

    assign grown = scaling && !scale_issuing_reg && !scale_valid_1_reg && !scale_valid_2_reg && !scale_valid_3_reg && clock_reg >= GROW_CLOCKS;

    always_ff @(posedge clk) begin
        // The numbers: they need no reset.
        u_reg <= factor;
        v_reg <= operand;
        if (at_product[VALID]) group_reg <= (at_product[GROUP_FIRST] ? {ACC_BITS{1'b0}} : group_reg)
            + (at_product[ON] ? ACC_BITS'(product_reg) : {ACC_BITS{1'b0}});
        if (at_sum[VALID]) acc_reg <= (at_sum[FIRST] ? base_reg : acc_reg)
            - (at_sum[GROUP_LAST] ? group_shifted : {ACC_BITS{1'b0}});
        if (at_final[VALID] && at_final[FINAL]) begin
            rounded_reg <= rounded[ROUNDED_BITS-1:0];
            acc_hold_reg <= acc_reg;
        end
        base_1_reg <= state_reg == BEGIN_BACKWARD ? $signed(max_reg) : of_row;
        pivot_reg <= pivot;
        base_low_reg <= base_1_reg * pivot_low;
        base_high_reg <= base_1_reg * pivot_high;
        base_2_reg <= base_1_reg;
        base_3_reg <= backward_reg ? base_high + ACC_BITS'(base_low_reg) : ACC_BITS'(base_2_reg);
        base_4_reg <= base_coarse;
        base_reg <= base_fine;
        // The exponents stand still while rows run, so that the shift may take three clocks.
        shift_wide_reg <= shift_wide;
        shift_reg <= shift_wide_reg > (EXP_BITS + 1)'(MOST_SHIFT) ? MOST_SHIFT : shift_wide_reg[6:0];
        coarse_reg <= shift_reg[6] ? -{shift_size[6:3], 3'd0} : {shift_size[6:3], 3'd0};
        fine_reg <= shift_reg[6] ? -{4'd0, shift_size[2:0]} : {4'd0, shift_size[2:0]};
        if (y_write) y_used_reg <= y_size | (y_index == 0 ? {W{1'b0}} : y_used_reg);
        if (writes) begin
            max_reg <= max_first_reg || write_size > max_reg ? write_size : max_reg;
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
        clock_reg <= state_reg == ROWS_RUN || grown || (state_reg == GROW && measured) ? 3'd0
            : clock_reg == START_CLOCKS ? clock_reg : clock_reg + 1'b1;

        // Issue.
        control_reg <= {control_reg[(LAT_ROUND-1)*CONTROL_BITS-1:0], control};
        if (issue) begin
            first_reg <= nearest;
            group_first_reg <= group_last;
            lag_reg <= lag_reg - 1'b1;
            operand_reg <= backward_reg ? operand_reg - 1'b1 : operand_reg + 1'b1;
            entry_reg <= backward_reg || settled ? entry_reg - 1'b1 : entry_reg + ENTRY_BITS'(BAND - 1);
            if (!settled) column_reg <= column_reg + 1'b1;
            if (nearest) begin
                before_written_reg <= 1'b0;
                issuing_reg <= !last_issued;
                row_reg <= row_next;
                lag_reg <= count_next;
                count_reg <= count_next;
                operand_reg <= operand_start_next;
                operand_start_reg <= operand_start_next;
                entry_reg <= entry_start_next;
                entry_start_reg <= entry_start_next;
                column_reg <= column_start_next;
                column_start_reg <= column_start_next;
                if (backward_reg && leaves) pivot_row_reg <= pivot_row_reg - 1'b1;
            end
        end
        if (row_written) begin
            before_written_reg <= 1'b1;
            write_row_reg <= backward_reg ? write_row_reg - 1'b1 : write_row_reg + 1'b1;
        end

        done_reg <= 1'b0;
        case (state_reg)
            IDLE: if (start) begin
                backward_reg <= 1'b0;
                failed_reg <= 1'b0;
                state_reg <= BEGIN_PASS;
            end
            BEGIN_PASS: begin
                if (!backward_reg) exp_reg <= EXP_BITS'(1 - W) + $signed(EXP_BITS'(y_length_reg));
                issuing_reg <= 1'b1;
                first_reg <= 1'b1;
                group_first_reg <= 1'b1;
                before_written_reg <= 1'b1;
                max_first_reg <= 1'b1;
                row_reg <= edge_row;
                write_row_reg <= edge_row;
                lag_reg <= {LAG_BITS{1'b0}};
                count_reg <= {LAG_BITS{1'b0}};
                operand_reg <= edge_row;
                operand_start_reg <= edge_row;
                entry_reg <= backward_reg ? SETTLED_ENTRY : {ENTRY_BITS{1'b0}};
                entry_start_reg <= backward_reg ? SETTLED_ENTRY : {ENTRY_BITS{1'b0}};
                column_reg <= {ROW_BITS{1'b0}};
                column_start_reg <= {ROW_BITS{1'b0}};
                pivot_row_reg <= SETTLED;
                state_reg <= ROWS_RUN;
            end
            ROWS_RUN: if (rounds && !fits) begin
                control_reg <= 0;
                max_first_reg <= 1'b1;
                state_reg <= GROW;
            end else if (row_written && rows_end) begin
                z_exp_reg <= exp_reg;
                done_reg <= backward_reg;
                backward_reg <= 1'b1;
                state_reg <= backward_reg ? IDLE : BEGIN_BACKWARD;
            end
            GROW: if (measured) begin
                exp_reg <= exp_grown;
                scale_reg <= backward_reg ? write_row_reg + 1'b1 : {INDEX_BITS{1'b0}};
                scale_issuing_reg <= !no_block;
                // The next row is begun again: none of its lags counts, and the nearest was not issued.
                first_reg <= 1'b1;
                group_first_reg <= 1'b1;
                lag_reg <= count_reg;
                operand_reg <= operand_start_reg;
                entry_reg <= entry_start_reg;
                column_reg <= column_start_reg;
                failed_reg <= exp_grown > exp_max;
                done_reg <= exp_grown > exp_max;
                state_reg <= exp_grown > exp_max ? IDLE : SCALE;
            end
            SCALE: begin
                scale_reg <= scale_reg + 1'b1;
                if (scale_last) scale_issuing_reg <= 1'b0;
                if (grown && !rows_end) state_reg <= ROWS_RUN;
                if (grown && rows_end) begin
                    z_exp_reg <= exp_reg;
                    done_reg <= backward_reg;
                    backward_reg <= 1'b1;
                    state_reg <= backward_reg ? IDLE : BEGIN_BACKWARD;
                end
            end
            default: if (clock_reg == START_CLOCKS) begin
                exp_reg <= exp_first < EXP_BITS'(ALPHA_EXP_MIN) ? EXP_BITS'(ALPHA_EXP_MIN) : exp_first;
                failed_reg <= exp_first > EXP_BITS'(ALPHA_EXP_MAX);
                done_reg <= exp_first > EXP_BITS'(ALPHA_EXP_MAX);
                state_reg <= exp_first > EXP_BITS'(ALPHA_EXP_MAX) ? IDLE : BEGIN_PASS;
            end
        endcase
        if (rst) begin
            state_reg <= IDLE;
            control_reg <= 0;
            done_reg <= 1'b0;
        end
    end

    assign done = done_reg;
    assign failed = failed_reg;
    assign x_exp = exp_reg;
    assign x_word = v_reg;
endmodule

`default_nettype wire
