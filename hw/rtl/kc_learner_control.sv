// kerncast: control of an online learner with a fixed dictionary: passes over the slots and the exchange of the vector
// of a slot between them.
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

// Sequence for a sample:
//   prediction    FILL pass, wait for f, answer.
//   update        FILL pass; it selects the slot of the sample: its own if the dictionary contains the sample, else
//                 the next free one, else the victim. Exchange: the vector of the slot moves aside and the sample
//                 takes its place. If the dictionary is full, PROJECT pass: project the coefficient of the evicted
//                 vector onto the others (it is 0 for a duplicate sample). Wait for f, step, insert, answer.
//   then, for each slot whose nearest vector left: its vector moves aside, SEARCH pass, store.
module kc_learner_control #(
    parameter int SLOTS = 2,
    parameter int ROWS = 1,                      // rows per vector, one clock each
    parameter int STEP = 4,                      // clocks from f to the new coefficient, minus one
    parameter int PLACE_BITS = $clog2(SLOTS),
    parameter int COUNT_BITS = $clog2(SLOTS + 1),
    parameter int ROW_BITS = ROWS > 1 ? $clog2(ROWS) : 1,
    parameter int V_ROW_BITS = $clog2(SLOTS * ROWS)
) (
    input  wire clk,
    input  wire rst,
    input  wire sample_full,
    input  wire learning,
    input  wire read_pending,                // the state shall be read
    input  wire reader_busy,
    input  wire neighbours_done,                   // the results of kc_neighbours are valid
    input  wire f_done,                      // the kernel expansion of the last pass is valid
    input  wire duplicate,                   // `pass_nearest` is equal to the sample
    input  wire [PLACE_BITS-1:0] pass_nearest,
    input  wire [PLACE_BITS-1:0] victim,
    input  wire orphaned,
    input  wire [PLACE_BITS-1:0] orphan,
    input  wire answer_free,
    input  wire clear_state,                      // a state is being restored: clear the dictionary
    input  wire restored,                    // the dictionary has `restored_count` vectors
    input  wire [COUNT_BITS-1:0] restored_count,
    output wire idle,
    output wire read,                        // the reader may start
    output wire [COUNT_BITS-1:0] count,      // vectors in the dictionary
    output wire clear,                       // a pass begins
    output wire filling,
    output wire removing,                    // a vector is evicted
    output wire searching,
    output wire expanding,                    // this pass computes f
    output wire writing,                     // and writes the coefficients back
    output wire [PLACE_BITS-1:0] target,     // the slot of the sample, or of the vector that searches
    output wire [PLACE_BITS-1:0] skip,       // the slot of the evicted vector
    output wire row_valid,                   // a row is valid
    output wire first_row,
    output wire last_row,
    output wire last_vector,
    output wire [ROW_BITS-1:0] row,          // read addresses
    output wire [V_ROW_BITS-1:0] v_row,
    output wire exchange,                    // exchange the words of `exchange_row`
    output wire inserting,                   // the sample takes the slot
    output wire [ROW_BITS-1:0] exchange_row,
    output wire [V_ROW_BITS-1:0] exchange_v_row,
    output wire fetch,                       // read the coefficient of `target`
    output wire fetched,                     // the coefficient of the evicted vector is valid
    output wire insert,                      // the new coefficient is valid
    output wire store,                       // store the nearest vector
    output wire answer                       // f and status are sent; the sample is released
);
    localparam [COUNT_BITS-1:0] MAX_COUNT = COUNT_BITS'(SLOTS);
    localparam [ROW_BITS-1:0] LAST_ROW = ROW_BITS'(ROWS - 1);

    typedef enum logic [3:0] {IDLE, RUN, DRAIN, SELECT, EXCHANGE, TAIL, WAIT, STEPPING, INSERT, ANSWER, READ}
        state_t;
    typedef enum logic [1:0] {FILL, PROJECT, SEARCH} pass_t;

    state_t state_reg, state_next;
    pass_t pass_reg, pass_next;
    logic [COUNT_BITS-1:0] count_reg, count_next;
    logic [PLACE_BITS-1:0] target_reg, target_next, skip_reg, skip_next;
    logic inserting_reg, inserting_next;
    logic [ROW_BITS-1:0] row_reg, row_next, row_1_reg;
    logic [PLACE_BITS-1:0] vector_reg, vector_next;
    logic [V_ROW_BITS-1:0] v_row_reg, v_row_next, v_row_1_reg;
    logic [STEP-1:0] step_reg;
    logic run_reg, exchange_reg, first_row_reg, last_row_reg, last_vector_reg, f_here_reg;

    wire full = count_reg == MAX_COUNT;
    wire empty = count_reg == 0;
    wire at_last_row = row_reg == LAST_ROW;
    wire at_last_vector = COUNT_BITS'(vector_reg) + 1'b1 == count_reg;
    wire start_pass = state_reg == RUN && vector_reg == 0 && row_reg == 0;
    wire [PLACE_BITS-1:0] place = full ? victim : count_reg[PLACE_BITS-1:0];

    wire waits_for_neighbours = pass_reg == SEARCH || (pass_reg == FILL && learning);
    wire f_valid = f_here_reg || empty;
    wire stepped = step_reg[STEP-1];

    always_comb begin
        state_next = state_reg;
        pass_next = pass_reg;
        count_next = count_reg;
        target_next = target_reg;
        skip_next = skip_reg;
        inserting_next = inserting_reg;
        row_next = {ROW_BITS{1'b0}};
        vector_next = {PLACE_BITS{1'b0}};
        v_row_next = {V_ROW_BITS{1'b0}};
        case (state_reg)
            IDLE: begin
                pass_next = FILL;
                target_next = {PLACE_BITS{1'b0}};
                inserting_next = 1'b1;
                if (read_pending) state_next = READ;
                else if (sample_full && !empty) state_next = RUN;
                else if (sample_full && learning) state_next = SELECT;
                else if (sample_full) state_next = ANSWER;
            end
            RUN: begin
                row_next = at_last_row ? {ROW_BITS{1'b0}} : row_reg + 1'b1;
                vector_next = at_last_row ? vector_reg + 1'b1 : vector_reg;
                v_row_next = v_row_reg + 1'b1;
                if (at_last_row && at_last_vector) state_next = WAIT;
                if (at_last_row && at_last_vector && waits_for_neighbours) state_next = DRAIN;
            end
            DRAIN: if (neighbours_done) begin
                state_next = SELECT;
                if (pass_reg == FILL) begin
                    target_next = duplicate ? pass_nearest : place;
                    inserting_next = !duplicate;
                end else begin
                    target_next = orphan;
                    if (!orphaned) state_next = IDLE;
                end
            end
            SELECT: begin
                v_row_next = V_ROW_BITS'(target_reg) * V_ROW_BITS'(ROWS);
                if (pass_reg == FILL) skip_next = target_reg;
                state_next = EXCHANGE;
            end
            EXCHANGE: begin
                row_next = row_reg + 1'b1;
                v_row_next = v_row_reg + 1'b1;
                if (at_last_row) state_next = TAIL;
            end
            TAIL: begin
                if (pass_reg == FILL && full) pass_next = PROJECT;
                state_next = RUN;
                if (pass_reg == FILL && !full) state_next = WAIT;
            end
            WAIT: begin
                if (f_valid) state_next = ANSWER;
                if (f_valid && learning) state_next = STEPPING;
            end
            STEPPING: if (stepped) state_next = INSERT;
            INSERT: begin
                if (inserting_reg && !full) count_next = count_reg + 1'b1;
                state_next = ANSWER;
            end
            ANSWER: if (answer_free) begin
                state_next = IDLE;
                if (learning && orphaned) begin
                    pass_next = SEARCH;
                    target_next = orphan;
                    inserting_next = 1'b0;
                    state_next = SELECT;
                end
            end
            default: if (!reader_busy) state_next = IDLE;
        endcase
    end

    always_ff @(posedge clk) begin
        state_reg <= state_next;
        pass_reg <= pass_next;
        count_reg <= clear_state ? {COUNT_BITS{1'b0}} : restored ? restored_count : count_next;
        target_reg <= target_next;
        skip_reg <= skip_next;
        inserting_reg <= inserting_next;
        row_reg <= row_next;
        row_1_reg <= row_reg;
        vector_reg <= vector_next;
        v_row_reg <= v_row_next;
        v_row_1_reg <= v_row_reg;
        step_reg <= {step_reg[STEP-2:0], state_reg == WAIT && f_valid && learning};
        run_reg <= state_reg == RUN;
        exchange_reg <= state_reg == EXCHANGE;
        first_row_reg <= row_reg == 0;
        last_row_reg <= at_last_row;
        last_vector_reg <= at_last_vector;
        f_here_reg <= (f_done || f_here_reg) && !start_pass;
        if (rst) begin
            state_reg <= IDLE;
            count_reg <= {COUNT_BITS{1'b0}};
            run_reg <= 1'b0;
            exchange_reg <= 1'b0;
            f_here_reg <= 1'b0;
        end
    end

    assign idle = state_reg == IDLE;
    assign read = state_reg == IDLE && read_pending;
    assign count = count_reg;
    assign clear = start_pass || (state_reg == IDLE && sample_full);
    assign filling = pass_reg == FILL;
    assign removing = pass_reg == PROJECT && inserting_reg;
    assign searching = pass_reg == SEARCH;
    assign expanding = pass_reg == PROJECT || (pass_reg == FILL && !(learning && full));
    assign writing = learning && expanding;
    assign target = target_reg;
    assign skip = skip_reg;
    assign row_valid = run_reg;
    assign first_row = first_row_reg;
    assign last_row = last_row_reg;
    assign last_vector = last_vector_reg;
    assign row = row_reg;
    assign v_row = v_row_reg;
    assign exchange = exchange_reg;
    assign inserting = inserting_reg;
    assign exchange_row = row_1_reg;
    assign exchange_v_row = v_row_1_reg;
    assign fetch = state_reg == STEPPING || (full && (state_reg == SELECT || state_reg == EXCHANGE));
    assign fetched = state_reg == TAIL && pass_reg == FILL && full;
    assign insert = state_reg == INSERT;
    assign store = (state_reg == INSERT && inserting_reg)
        || (state_reg == DRAIN && neighbours_done && pass_reg == SEARCH);
    assign answer = state_reg == ANSWER && answer_free;
endmodule

`default_nettype wire
