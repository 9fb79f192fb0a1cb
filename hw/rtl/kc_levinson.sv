// kerncast: symmetric Levinson recursion in block floating point, with LANES hardware multipliers: solves T x = y for
// the Toeplitz matrix T with first row (1, r[1], ..., r[N-1]).
//
// Step `step` has four passes over the words; the two divisions overlap with them:
//   UPDATE_A  a[i] += xi a[step-i]     from one half of the memory of a to the other, while c is computed
//   DOT_A     sum r[step+1-i] a[i]
//   UPDATE_X  x[i] += c a[step-i]      while the next xi is computed
//   DOT_X     sum r[step+1-i] x[i]
// r is 0 beyond LAST_LAG, whatever was written there: the dot products begin at the row of word step + 1 - LAST_LAG.
// Write r and y while the core is idle, then pulse `start`, three clocks or more after `done`; x may be read after
// `done`. The number of clocks does not depend on the data, except that `failed` (T is not positive definite) ends the
// recursion early.
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_levinson #(
    parameter int N = 2,
    parameter int LAST_LAG = N - 1,               // the last word of r that may not be 0, at least 1
    parameter int LANES = 1,                      // a power of two
    parameter int W = 16,
    parameter int SOLVER_SHIFT = 0,               // constants of the plan, under their names there
    parameter int XI_FRAC = 54,
    parameter int INNOV_FRAC = 50,
    parameter logic [61:0] EPS_MIN = 1,
    parameter int A_EXP_MIN = 0,
    parameter int A_EXP_MAX = 4,
    parameter int X_EXP_MIN = -8,
    parameter int X_EXP_MAX = 8,
    parameter bit STATIC = 0,
    parameter int ROUNDING = 1,
    parameter int EXP_BITS = 10,
    parameter int INDEX_BITS = $clog2(N)
) (
    input  wire clk,
    input  wire rst,
    input  wire r_write,
    input  wire [INDEX_BITS-1:0] r_index,
    input  wire [W-1:0] r_word,
    input  wire y_write,
    input  wire [INDEX_BITS-1:0] y_index,
    input  wire [W-1:0] y_word,
    input  wire start,
    output wire done,                         // for one clock; the outputs below are stable until the next start
    output wire failed,
    output wire saturated,
    output wire signed [EXP_BITS-1:0] x_exp,
    input  wire [INDEX_BITS-1:0] x_index,
    output wire [W-1:0] x_word                // three clocks after x_index
);
    localparam LANE_BITS = $clog2(LANES);
    localparam ROWS = (N + LANES - 1) / LANES;
    localparam ROW_BITS = ROWS > 1 ? $clog2(ROWS) : 1;
    localparam PLACE_BITS = ROW_BITS + LANE_BITS;
    localparam LAT_MAC = 6;                      // clocks from the issue of a row to the term of a dot product
    localparam LAT_SUM = LAT_MAC + LANE_BITS;    // and to the sum over the lanes
    localparam LAT_UPDATE = 9;                // from the issue of a row to the updated words
    localparam LAT_MAX = LAT_UPDATE + LANE_BITS;   // and to their largest magnitude
    localparam SUM_BITS = 2*W + LANE_BITS;
    localparam TERMS_BITS = 2*W - SOLVER_SHIFT + $clog2(N);
    localparam ACC_BITS = TERMS_BITS < 64 ? TERMS_BITS : 64;
    localparam SCALE_BITS = $clog2(W + 2);       // a shift by more bits than a word leaves 0
    localparam WORD_BITS = W + 3 + (STATIC != 0 ? A_EXP_MAX : 0) < 2*W ? W + 3 + (STATIC != 0 ? A_EXP_MAX : 0) : 2*W;
    localparam CONTROL_BITS = 6 + LANES + ROW_BITS;
    localparam [3:0] RAW_HAZARD_CLOCKS = 4'd9;   // read-after-write hazard: a row is read one clock later

    // Bit 3: a row is issued; bit 2: the next pass is a dot product; bit 1: a pass over a.
    typedef enum logic [3:0] {
        IDLE = 4'b0100, WAIT_XI = 4'b0000, UPDATE_A = 4'b1110, WAIT_WRITEBACK_A = 4'b0110, DOT_A = 4'b1010,
        WAIT_C = 4'b0001, UPDATE_X = 4'b1100, WAIT_WRITEBACK_X = 4'b0101, DOT_X = 4'b1000, DRAIN = 4'b0011
    } state_t;

    state_t state_reg;
    logic [PLACE_BITS-1:0] step_reg, low_reg;    // low: the first word of a dot product, step + 1 - LAST_LAG
    logic [ROW_BITS-1:0] row_reg;
    logic a_bank_reg, updating_a_reg, done_reg;
    logic [3:0] hazard_clock_reg;
    logic signed [W-1:0] r_step_reg;
    logic signed [ACC_BITS-1:0] acc_reg;
    logic a_dot_done_reg, x_dot_done_reg;

    // Every pass covers the rows of words 0 to step: an update appends word `step`, a dot product includes it.
    wire issue = state_reg[3];
    wire dot_follows = state_reg[2];
    wire update = issue && dot_follows;
    wire of_a = state_reg[1];
    wire [PLACE_BITS-1:0] first_place = PLACE_BITS'(row_reg) << LANE_BITS;
    wire [ROW_BITS-1:0] step_row = step_reg[PLACE_BITS-1:LANE_BITS];
    wire [ROW_BITS-1:0] low_row = low_reg[PLACE_BITS-1:LANE_BITS];
    wire [LANES-1:0] step_mask = LANES'(1) << (step_reg & PLACE_BITS'(LANES - 1));
    logic last_row_reg;                          // of a pass
    // The highest word of r and a that the next pass reads first: step in an update, one more in a dot product.
    logic [PLACE_BITS-1:0] next_place_reg;       // step + 1, one clock after step
    logic [PLACE_BITS-1:0] top_dot_reg;          // three clocks after step; a dot product begins later
    logic low_moves_reg;                         // step + 1 is LAST_LAG or more, one clock after step
    wire next_row = issue && !last_row_reg;
    wire next_step = issue && !dot_follows && !of_a && last_row_reg;
    wire [ROW_BITS-1:0] row_after = row_reg + 1'b1;
    wire [ROW_BITS-1:0] step_row_after = next_step ? next_place_reg[PLACE_BITS-1:LANE_BITS] : step_row;
    wire [PLACE_BITS-1:0] top = dot_follows ? top_dot_reg : next_step ? next_place_reg : step_reg;
    wire last_step = step_reg == PLACE_BITS'(N - 1);
    wire hazard_over = hazard_clock_reg == RAW_HAZARD_CLOCKS;
    wire [LANES-1:0] mask;

    // Pipeline control: stage k holds a row k clocks after its issue.
    logic [LAT_MAX*CONTROL_BITS-1:0] control_reg;
    wire [CONTROL_BITS-1:0] control = {issue, of_a, update, row_reg == low_row, last_row_reg, mask,
                                       !a_bank_reg, row_reg};
    wire [CONTROL_BITS-1:0] at_2 = control_reg[CONTROL_BITS +: CONTROL_BITS];
    wire [CONTROL_BITS-1:0] at_3 = control_reg[2*CONTROL_BITS +: CONTROL_BITS];
    wire [CONTROL_BITS-1:0] before_sum = control_reg[(LAT_SUM-2)*CONTROL_BITS +: CONTROL_BITS];
    wire [CONTROL_BITS-1:0] at_sum = control_reg[(LAT_SUM-1)*CONTROL_BITS +: CONTROL_BITS];
    wire [CONTROL_BITS-1:0] at_update = control_reg[(LAT_UPDATE-1)*CONTROL_BITS +: CONTROL_BITS];
    wire [CONTROL_BITS-1:0] at_max = control_reg[(LAT_MAX-1)*CONTROL_BITS +: CONTROL_BITS];
    localparam VALID = CONTROL_BITS - 1, OF_A = VALID - 1, UPDATE = VALID - 2, FIRST = VALID - 3, LAST = VALID - 4;
    localparam MASK = ROW_BITS + 1;
    wire [LAT_MAX-1:0] in_flight;
    logic empty_reg;                             // no stage holds a row
    wire sums = at_sum[VALID] && !at_sum[UPDATE];
    // The first sum of a pass comes in the next clock.
    wire begins = before_sum[VALID] && !before_sum[UPDATE] && before_sum[FIRST];

    wire xi_ready, a_scale, c_ready;
    wire signed [W-1:0] xi, c;
    wire [W-1:0] a_last, x_last, y;
    wire [SCALE_BITS-1:0] x_scale;
    wire [5:0] s;
    wire signed [EXP_BITS-1:0] unused_a_exp;

    // Memories: r read downwards; a read upwards and downwards, double-buffered; x read upwards; y.
    wire [LANES*W-1:0] r_down, a_up, a_down, x_row, words;
    logic [LANES*W-1:0] x_up_reg;
    wire [ROW_BITS-1:0] write_row = at_update[ROW_BITS-1:0];
    wire write_bank = at_update[ROW_BITS];
    wire written = at_update[VALID] && at_update[UPDATE];
    wire updated = at_max[VALID] && at_max[UPDATE] && at_max[LAST];
    wire a_done = updated && at_max[OF_A];
    wire x_done = updated && !at_max[OF_A];
    wire [LANES-1:0] append_mask = write_row == step_row ? step_mask : {LANES{1'b0}};
    wire [LANES-1:0] write_mask = written ? at_update[MASK +: LANES] | append_mask : {LANES{1'b0}};
    wire [LANES-1:0] a_mask = updating_a_reg ? write_mask : {LANES{1'b0}};
    wire [LANES-1:0] x_mask = updating_a_reg ? {LANES{1'b0}} : write_mask;
    wire [LANES*W-1:0] data;
    wire [PLACE_BITS-1:0] r_place = PLACE_BITS'(r_index);
    wire [INDEX_BITS:0] r_count = (INDEX_BITS + 1)'(r_index) + 1'b1;      // words of r up to this one
    wire [PLACE_BITS-1:0] x_place = PLACE_BITS'(x_index);
    logic [LANES-1:0] r_mask_reg;
    logic [ROW_BITS-1:0] r_row_reg;
    logic [W-1:0] r_word_reg;
    logic [PLACE_BITS-1:0] x_place_reg, x_place_2_reg;
    logic [W-1:0] x_word_reg;

    kc_ram_sliding #(.WIDTH(W), .ROWS(1 << ROW_BITS), .LANES(LANES))
        r_inst (.clk(clk), .write_mask(r_mask_reg), .write_row(r_row_reg), .write_data({LANES{r_word_reg}}),
                .down(next_row), .top(top), .read_data(r_down));
    kc_ram_banked_reg #(.WIDTH(W), .ROWS(2 << ROW_BITS), .LANES(LANES))
        a_up_inst (.clk(clk), .write_mask(a_mask), .write_row({write_bank, write_row}), .write_data(data),
                   .read_row({a_bank_reg, row_reg}), .read_data(a_up));
    kc_ram_sliding #(.WIDTH(W), .ROWS(2 << ROW_BITS), .LANES(LANES))
        a_down_inst (.clk(clk), .write_mask(a_mask), .write_row({write_bank, write_row}), .write_data(data),
                     .down(next_row), .top({a_bank_reg, top}), .read_data(a_down));
    kc_ram_banked #(.WIDTH(W), .ROWS(1 << ROW_BITS), .LANES(LANES), .READ_OLD(0))
        x_inst (.clk(clk), .write_mask(x_mask), .write_row(write_row), .write_data(data),
                .read_row(state_reg == IDLE ? x_place[PLACE_BITS-1:LANE_BITS] : row_reg), .read_data(x_row));
    kc_ram #(.WIDTH(W), .DEPTH(N))
        y_inst (.clk(clk), .write_enable(y_write), .write_address(y_index), .write_data(y_word),
                .read_address(step_reg[INDEX_BITS-1:0]), .read_data(y));

    kc_levinson_scalars #(
        .W(W), .SOLVER_SHIFT(SOLVER_SHIFT), .XI_FRAC(XI_FRAC), .INNOV_FRAC(INNOV_FRAC), .EPS_MIN(EPS_MIN),
        .A_EXP_MIN(A_EXP_MIN), .A_EXP_MAX(A_EXP_MAX), .X_EXP_MIN(X_EXP_MIN), .X_EXP_MAX(X_EXP_MAX),
        .STATIC(STATIC), .ROUNDING(ROUNDING), .EXP_BITS(EXP_BITS), .ACC_BITS(ACC_BITS), .SCALE_BITS(SCALE_BITS)
    ) scalars_inst (
        .clk(clk), .rst(rst), .start(start), .acc(acc_reg), .r(r_step_reg), .y(y), .a_dot_done(a_dot_done_reg),
        .x_dot_done(x_dot_done_reg), .a_done(a_done), .a_max(word_max), .x_done(x_done),
        .x_max(word_max), .xi_ready(xi_ready), .xi(xi), .a_scale(a_scale), .a_last(a_last),
        .c_ready(c_ready), .c(c), .x_scale(x_scale), .s(s), .x_last(x_last), .x_exp(x_exp),
        .a_exp(unused_a_exp), .saturated(saturated), .failed(failed)
    );

    // Lanes, the sum of their terms, and the largest magnitude.
    wire [LANES*SUM_BITS-1:0] terms;
    wire signed [SUM_BITS-1:0] terms_sum;
    wire [LANES*(W+1)-1:0] used;
    wire [W:0] word_max;
    genvar lane;

    kc_sum_tree #(.WIDTH(SUM_BITS), .LANES(LANES)) sum_inst (.clk(clk), .words(terms), .sum(terms_sum));
    kc_max_tree #(.WIDTH(W + 1), .LANES(LANES)) max_inst (.clk(clk), .words(used), .max(word_max));

    generate
        for (lane = 0; lane < LANES; lane = lane + 1) begin : lanes
            logic signed [W-1:0] u_reg, v_reg, w_reg;
            wire signed [2*W-1:0] term;
            wire [PLACE_BITS-1:0] place = first_place + PLACE_BITS'(lane);

            // i < step, or i <= step for a dot product; a[0] is the implicit 1 and is skipped.
            assign mask[lane] = (place < step_reg || (!update && place == step_reg)) && !(of_a && place == 0);
            assign data[lane*W +: W] = !append_mask[lane] ? words[lane*W +: W] : updating_a_reg ? a_last : x_last;

            always_ff @(posedge clk) begin
                u_reg <= !at_2[UPDATE] ? r_down[lane*W +: W] : updating_a_reg ? xi : c;
                v_reg <= at_2[UPDATE] ? a_down[lane*W +: W] : at_2[OF_A] ? a_up[lane*W +: W] : x_up_reg[lane*W +: W];
                w_reg <= updating_a_reg ? a_up[lane*W +: W] : x_up_reg[lane*W +: W];
            end

            kc_levinson_lane #(
                .W(W), .SHIFT(SOLVER_SHIFT), .ROUNDING(ROUNDING), .SCALE_BITS(SCALE_BITS), .WORD_BITS(WORD_BITS)
            ) lane_inst (
                .clk(clk), .on(at_3[VALID] && at_3[MASK + lane]), .update(at_3[UPDATE]),
                .u(u_reg), .v(v_reg), .w(w_reg), .v_scale(at_3[UPDATE] && updating_a_reg && a_scale),
                .w_scale(updating_a_reg ? SCALE_BITS'(a_scale) : x_scale), .extend(updating_a_reg),
                .s(updating_a_reg ? 6'(W - 1) : s), .clear(state_reg == IDLE || (written && at_update[LAST])),
                .term(term), .word(words[lane*W +: W]), .used(used[lane*(W+1) +: W+1])
            );

            assign terms[lane*SUM_BITS +: SUM_BITS] = SUM_BITS'(term);
        end
        for (lane = 0; lane < LAT_MAX; lane = lane + 1) begin : stages
            assign in_flight[lane] = control_reg[lane*CONTROL_BITS + VALID];
        end
    endgenerate

    always_ff @(posedge clk) begin
        control_reg <= {control_reg[(LAT_MAX-1)*CONTROL_BITS-1:0], control};
        row_reg <= next_row ? row_after : dot_follows ? low_row : {ROW_BITS{1'b0}};
        last_row_reg <= next_row ? row_after == step_row : dot_follows ? low_row == step_row : step_row_after == 0;
        next_place_reg <= step_reg + 1'b1;
        low_moves_reg <= step_reg >= PLACE_BITS'(LAST_LAG - 1);
        empty_reg <= !issue && in_flight[LAT_MAX-2:0] == 0;
        top_dot_reg <= low_reg == 0 ? next_place_reg
            : PLACE_BITS'(LAST_LAG) + (low_reg & PLACE_BITS'(LANES - 1));
        if (at_2[VALID] && at_2[OF_A] && at_2[FIRST] && !at_2[UPDATE])
            r_step_reg <= low_row == 0 ? r_down[W-1:0] : {W{1'b0}};
        if (begins) acc_reg <= {ACC_BITS{1'b0}};
        else if (sums) acc_reg <= acc_reg + ACC_BITS'(terms_sum);
        a_dot_done_reg <= sums && at_sum[LAST] && at_sum[OF_A];
        x_dot_done_reg <= sums && at_sum[LAST] && !at_sum[OF_A];
        r_mask_reg <= r_write ? LANES'(1) << (r_place & PLACE_BITS'(LANES - 1)) : {LANES{1'b0}};
        r_row_reg <= r_place[PLACE_BITS-1:LANE_BITS];
        r_word_reg <= r_count > (INDEX_BITS + 1)'(LAST_LAG + 1) ? {W{1'b0}} : r_word;
        done_reg <= 1'b0;
        x_place_reg <= x_place;
        x_up_reg <= x_row;
        x_place_2_reg <= x_place_reg;
        x_word_reg <= x_up_reg[(32'(x_place_2_reg) & (LANES - 1))*W +: W];
        if (update) updating_a_reg <= of_a;
        if (!dot_follows || (update && row_reg < low_row)) hazard_clock_reg <= 4'd0;
        else if (!hazard_over) hazard_clock_reg <= hazard_clock_reg + 1'b1;
        case (state_reg)
            IDLE: if (start) begin
                step_reg <= {PLACE_BITS{1'b0}};
                low_reg <= {PLACE_BITS{1'b0}};
                state_reg <= DOT_A;
            end
            WAIT_XI: if (failed) state_reg <= DRAIN;
                else if (xi_ready) state_reg <= UPDATE_A;
            UPDATE_A: if (last_row_reg) begin
                a_bank_reg <= !a_bank_reg;
                state_reg <= last_step ? WAIT_C : hazard_over ? DOT_A : WAIT_WRITEBACK_A;
            end
            WAIT_WRITEBACK_A: if (hazard_over) state_reg <= DOT_A;
            DOT_A: if (last_row_reg) state_reg <= c_ready ? UPDATE_X : WAIT_C;
            WAIT_C: if (failed) state_reg <= DRAIN;
                else if (c_ready) state_reg <= UPDATE_X;
            UPDATE_X: if (last_row_reg) state_reg <= last_step ? DRAIN : hazard_over ? DOT_X : WAIT_WRITEBACK_X;
            WAIT_WRITEBACK_X: if (hazard_over) state_reg <= DOT_X;
            DOT_X: if (last_row_reg) begin
                step_reg <= step_reg + 1'b1;
                if (low_moves_reg) low_reg <= low_reg + 1'b1;
                state_reg <= xi_ready ? UPDATE_A : WAIT_XI;
            end
            default: if (empty_reg) begin
                done_reg <= 1'b1;
                step_reg <= {PLACE_BITS{1'b0}};
                low_reg <= {PLACE_BITS{1'b0}};
                state_reg <= IDLE;
            end
        endcase
        if (rst) begin
            state_reg <= IDLE;
            control_reg <= 0;
            step_reg <= {PLACE_BITS{1'b0}};
            low_reg <= {PLACE_BITS{1'b0}};
            a_bank_reg <= 1'b0;
            done_reg <= 1'b0;
        end
    end

    assign done = done_reg;
    assign x_word = x_word_reg;
endmodule

`default_nettype wire
