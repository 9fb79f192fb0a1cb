// kerncast: the symmetric Levinson recursion in block floating point: T x = y for the Toeplitz T with first row
// (1, r[1], ..., r[N-1]), N words each, in LANES multipliers.  A step is four passes over the words, which
// overlap with the divisions:  a[i] += xi a[m-i]  from one half of a's memory to the other, while c is made;
// sum r[m+1-i] a[i];  x[i] += c a[m-i], while the next xi is made;  sum r[m+1-i] x[i].
// r and y are written while it is at rest; `start` solves; from `done` on x can be read.
// No clock depends on the words, but for a system that is not positive definite: `failed` then stands earlier.
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_levinson #(
    parameter N = 2,
    parameter LANES = 1,                      // a power of two
    parameter W = 16,
    parameter SOLVER_SHIFT = 0,               // the constants of the plan, by their names
    parameter XI_FRAC = 54,
    parameter MU_FRAC = 50,
    parameter [61:0] EPS_MIN = 1,
    parameter A_EXP_MIN = 0,
    parameter A_EXP_MAX = 4,
    parameter X_EXP_MIN = -8,
    parameter X_EXP_MAX = 8,
    parameter STATIC = 0,
    parameter ROUNDING = 1,
    parameter EXP_BITS = 10,
    parameter INDEX_BITS = $clog2(N)
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
    output wire done,                         // for one clock; what follows stands until the next start
    output wire failed,
    output wire saturated,
    output wire signed [EXP_BITS-1:0] x_exp,
    input  wire [INDEX_BITS-1:0] x_index,
    output wire [W-1:0] x_word                // two clocks after x_index
);
    localparam LANE_BITS = $clog2(LANES);
    localparam ROWS = (N + LANES - 1) / LANES;
    localparam ROW_BITS = ROWS > 1 ? $clog2(ROWS) : 1;
    localparam PLACE_BITS = ROW_BITS + LANE_BITS;
    localparam TERM = 6;                      // clocks from an issue to its term, and to its word
    localparam WORD = 9;
    localparam CONTROL_BITS = 6 + LANES + ROW_BITS;
    localparam [3:0] AGED = 4'd9;             // a pass may read what the one before writes, from now + 1 on

    typedef enum logic [3:0] {
        IDLE, WAIT_XI, UPDATE_A, FOLLOW_A, REFLECT, WAIT_C, UPDATE_X, FOLLOW_X, RESIDUE, DRAIN
    } state_t;

    state_t state_reg;
    logic [PLACE_BITS-1:0] m_reg;
    logic [ROW_BITS-1:0] row_reg;
    logic a_bank_reg, updating_a_reg, done_reg;
    logic [3:0] age_reg;
    logic signed [W-1:0] r_m_reg;
    logic signed [63:0] acc_reg;
    logic reflected_reg, resided_reg;

    // All passes of a step go over the rows of words 0 to m: an update appends word m, a sum takes it.
    wire update = state_reg == UPDATE_A || state_reg == UPDATE_X;
    wire issue = update || state_reg == REFLECT || state_reg == RESIDUE;
    wire of_a = state_reg == REFLECT || state_reg == UPDATE_A;
    wire [PLACE_BITS-1:0] first_place = PLACE_BITS'(row_reg) << LANE_BITS;
    wire [PLACE_BITS-1:0] top = m_reg + PLACE_BITS'(!update) - first_place;
    wire [ROW_BITS-1:0] m_row = m_reg[PLACE_BITS-1:LANE_BITS];
    wire [LANES-1:0] m_mask = LANES'(1) << (m_reg & PLACE_BITS'(LANES - 1));
    wire last_row = row_reg == m_row;
    wire last_step = m_reg == PLACE_BITS'(N - 1);
    wire aged = age_reg == AGED;
    wire [LANES-1:0] mask;

    // What is under way: of stage k, k clocks after its issue.
    logic [WORD*CONTROL_BITS-1:0] control_reg;
    wire [CONTROL_BITS-1:0] control = {issue, state_reg == REFLECT, update, row_reg == 0, last_row, mask,
                                       !a_bank_reg, row_reg};
    wire [CONTROL_BITS-1:0] at_2 = control_reg[CONTROL_BITS +: CONTROL_BITS];
    wire [CONTROL_BITS-1:0] at_3 = control_reg[2*CONTROL_BITS +: CONTROL_BITS];
    wire [CONTROL_BITS-1:0] at_term = control_reg[(TERM-1)*CONTROL_BITS +: CONTROL_BITS];
    wire [CONTROL_BITS-1:0] at_word = control_reg[(WORD-1)*CONTROL_BITS +: CONTROL_BITS];
    localparam VALID = CONTROL_BITS - 1, FOR_XI = VALID - 1, UPDATE = VALID - 2, FIRST = VALID - 3, LAST = VALID - 4;
    localparam MASK = ROW_BITS + 1;
    wire [WORD-1:0] under_way;
    wire empty = under_way == 0;
    wire sums = at_term[VALID] && !at_term[UPDATE];

    wire xi_ready, a_scale, c_ready;
    wire signed [W-1:0] xi, c;
    wire [W-1:0] a_last, x_last, y;
    wire [5:0] x_scale, s;
    wire signed [EXP_BITS-1:0] unused_a_exp;
    wire [61:0] unused_eps;

    // Memories: r downwards; a upwards and downwards, in two halves; x upwards; y.
    wire [LANES*W-1:0] r_down, a_up, a_down, x_up, words;
    wire [ROW_BITS-1:0] write_row = at_word[ROW_BITS-1:0];
    wire write_bank = at_word[ROW_BITS];
    wire written = at_word[VALID] && at_word[UPDATE];
    wire a_done = written && at_word[LAST] && updating_a_reg;
    wire x_done = written && at_word[LAST] && !updating_a_reg;
    wire [LANES-1:0] append_mask = write_row == m_row ? m_mask : {LANES{1'b0}};
    wire [LANES-1:0] write_mask = written ? at_word[MASK +: LANES] | append_mask : {LANES{1'b0}};
    wire [LANES-1:0] a_mask = updating_a_reg ? write_mask : {LANES{1'b0}};
    wire [LANES-1:0] x_mask = updating_a_reg ? {LANES{1'b0}} : write_mask;
    wire [LANES*W-1:0] data;
    wire [PLACE_BITS-1:0] r_place = PLACE_BITS'(r_index);
    wire [PLACE_BITS-1:0] x_place = PLACE_BITS'(x_index);
    wire [LANES-1:0] r_mask = r_write ? LANES'(1) << (r_place & PLACE_BITS'(LANES - 1)) : {LANES{1'b0}};
    logic [PLACE_BITS-1:0] x_place_reg, x_place_2_reg;

    kc_window_ram #(.WIDTH(W), .ROWS(1 << ROW_BITS), .LANES(LANES))
        r_inst (.clk(clk), .write_mask(r_mask), .write_row(r_place[PLACE_BITS-1:LANE_BITS]),
                .write_data({LANES{r_word}}), .top(top), .read_data(r_down));
    kc_lane_ram #(.WIDTH(W), .ROWS(2 << ROW_BITS), .LANES(LANES))
        a_up_inst (.clk(clk), .write_mask(a_mask), .write_row({write_bank, write_row}), .write_data(data),
                   .read_row({a_bank_reg, row_reg}), .read_data(a_up));
    kc_window_ram #(.WIDTH(W), .ROWS(2 << ROW_BITS), .LANES(LANES))
        a_down_inst (.clk(clk), .write_mask(a_mask), .write_row({write_bank, write_row}), .write_data(data),
                     .top({a_bank_reg, top}), .read_data(a_down));
    kc_lane_ram #(.WIDTH(W), .ROWS(1 << ROW_BITS), .LANES(LANES))
        x_inst (.clk(clk), .write_mask(x_mask), .write_row(write_row), .write_data(data),
                .read_row(state_reg == IDLE ? x_place[PLACE_BITS-1:LANE_BITS] : row_reg), .read_data(x_up));
    kc_ram #(.WIDTH(W), .DEPTH(N))
        y_inst (.clk(clk), .write_enable(y_write), .write_address(y_index), .write_data(y_word),
                .read_address(m_reg[INDEX_BITS-1:0]), .read_data(y));

    kc_levinson_scalars #(
        .W(W), .SOLVER_SHIFT(SOLVER_SHIFT), .XI_FRAC(XI_FRAC), .MU_FRAC(MU_FRAC), .EPS_MIN(EPS_MIN),
        .A_EXP_MIN(A_EXP_MIN), .A_EXP_MAX(A_EXP_MAX), .X_EXP_MIN(X_EXP_MIN), .X_EXP_MAX(X_EXP_MAX),
        .STATIC(STATIC), .ROUNDING(ROUNDING), .EXP_BITS(EXP_BITS)
    ) scalars_inst (
        .clk(clk), .rst(rst), .start(start), .acc(acc_reg), .r(r_m_reg), .y(y), .reflected(reflected_reg),
        .resided(resided_reg), .a_done(a_done), .a_met(used[LANES*(W+1) +: W+1]), .x_done(x_done),
        .x_met(used[LANES*(W+1) +: W+1]), .xi_ready(xi_ready), .xi(xi), .a_scale(a_scale), .a_last(a_last),
        .c_ready(c_ready), .c(c), .x_scale(x_scale), .s(s), .x_last(x_last), .x_exp(x_exp),
        .a_exp(unused_a_exp), .eps(unused_eps), .saturated(saturated), .failed(failed)
    );

    // Lanes, the sum of their terms, and the largest of what they met.
    wire [(LANES+1)*64-1:0] total;
    wire [(LANES+1)*(W+1)-1:0] used;
    genvar lane;

    assign total[63:0] = at_term[FIRST] ? 64'd0 : acc_reg;
    assign used[W:0] = {(W + 1){1'b0}};

    generate
        for (lane = 0; lane < LANES; lane = lane + 1) begin : lanes
            logic signed [W-1:0] u_reg, v_reg, w_reg;
            wire signed [2*W-1:0] term;
            wire [W:0] met;
            wire [W:0] most_before = used[lane*(W+1) +: W+1];
            wire [PLACE_BITS-1:0] place = first_place + PLACE_BITS'(lane);

            // i below m, or up to it; a[0] is the implicit 1 and takes no part.
            assign mask[lane] = (place < m_reg || (!update && place == m_reg)) && !(of_a && place == 0);
            assign data[lane*W +: W] = !append_mask[lane] ? words[lane*W +: W] : updating_a_reg ? a_last : x_last;

            always_ff @(posedge clk) begin
                u_reg <= !at_2[UPDATE] ? r_down[lane*W +: W] : updating_a_reg ? xi : c;
                v_reg <= at_2[UPDATE] ? a_down[lane*W +: W] : at_2[FOR_XI] ? a_up[lane*W +: W] : x_up[lane*W +: W];
                w_reg <= updating_a_reg ? a_up[lane*W +: W] : x_up[lane*W +: W];
            end

            kc_levinson_lane #(.W(W), .SHIFT(SOLVER_SHIFT), .ROUNDING(ROUNDING)) lane_inst (
                .clk(clk), .on(at_3[VALID] && at_3[MASK + lane]), .update(at_3[UPDATE]),
                .u(u_reg), .v(v_reg), .w(w_reg), .v_scale(at_3[UPDATE] && updating_a_reg && a_scale),
                .w_scale(updating_a_reg ? {5'd0, a_scale} : x_scale), .extend(updating_a_reg),
                .s(updating_a_reg ? 6'(W - 1) : s), .clear(state_reg == IDLE || a_done || x_done),
                .term(term), .word(words[lane*W +: W]), .used(met)
            );

            assign total[(lane+1)*64 +: 64] = total[lane*64 +: 64] + 64'(term);
            assign used[(lane+1)*(W+1) +: W+1] = met > most_before ? met : most_before;
        end
        for (lane = 0; lane < WORD; lane = lane + 1) begin : stages
            assign under_way[lane] = control_reg[lane*CONTROL_BITS + VALID];
        end
    endgenerate

    always_ff @(posedge clk) begin
        control_reg <= {control_reg[(WORD-1)*CONTROL_BITS-1:0], control};
        row_reg <= issue && !last_row ? row_reg + 1'b1 : {ROW_BITS{1'b0}};
        if (at_2[VALID] && at_2[FOR_XI] && at_2[FIRST]) r_m_reg <= r_down[W-1:0];
        if (sums) acc_reg <= total[LANES*64 +: 64];
        reflected_reg <= sums && at_term[LAST] && at_term[FOR_XI];
        resided_reg <= sums && at_term[LAST] && !at_term[FOR_XI];
        done_reg <= 1'b0;
        x_place_reg <= x_place;
        x_place_2_reg <= x_place_reg;
        if (update) updating_a_reg <= of_a;
        if (!(update || state_reg == FOLLOW_A || state_reg == FOLLOW_X)) age_reg <= 4'd0;
        else if (!aged) age_reg <= age_reg + 1'b1;
        case (state_reg)
            IDLE: if (start) begin
                acc_reg <= 64'sd0;
                m_reg <= {PLACE_BITS{1'b0}};
                state_reg <= REFLECT;
            end
            WAIT_XI: if (failed) state_reg <= DRAIN;
                else if (xi_ready) state_reg <= UPDATE_A;
            UPDATE_A: if (last_row) begin
                a_bank_reg <= !a_bank_reg;
                state_reg <= last_step ? WAIT_C : aged ? REFLECT : FOLLOW_A;
            end
            FOLLOW_A: if (aged) state_reg <= REFLECT;
            REFLECT: if (last_row) state_reg <= c_ready ? UPDATE_X : WAIT_C;
            WAIT_C: if (failed) state_reg <= DRAIN;
                else if (c_ready) state_reg <= UPDATE_X;
            UPDATE_X: if (last_row) state_reg <= last_step ? DRAIN : aged ? RESIDUE : FOLLOW_X;
            FOLLOW_X: if (aged) state_reg <= RESIDUE;
            RESIDUE: if (last_row) begin
                m_reg <= m_reg + 1'b1;
                state_reg <= xi_ready ? UPDATE_A : WAIT_XI;
            end
            default: if (empty) begin
                done_reg <= 1'b1;
                m_reg <= {PLACE_BITS{1'b0}};
                state_reg <= IDLE;
            end
        endcase
        if (rst) begin
            state_reg <= IDLE;
            control_reg <= 0;
            m_reg <= {PLACE_BITS{1'b0}};
            a_bank_reg <= 1'b0;
            done_reg <= 1'b0;
        end
    end

    assign done = done_reg;
    assign x_word = x_up[(32'(x_place_2_reg) & (LANES - 1))*W +: W];
endmodule

`default_nettype wire
