// kerncast: the order of operations of kernel RLS for one sample.
//
// Features; with a target also R and the residual, a sweep that finds the largest residual, and up to STEPS steps, each
// with a sweep that also finds the next one.
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_rls_control #(
    parameter int BLOCKS = 2,
    parameter int FIRST_BLOCKS = 2,             // of 1 and the cosines; then come those of the inputs
    parameter int STEPS = 10,
    parameter int BLOCK_BITS = BLOCKS > 1 ? $clog2(BLOCKS) : 1
) (
    input  wire clk,
    input  wire rst,
    input  wire sample_full,                    // a sample can be read
    input  wire learning,                       // it has a target
    input  wire answer_free,
    output wire idle,
    output wire start,                          // the features; for one clock, as the next ones
    input  wire phi_last,
    output wire update,                         // R
    input  wire updated,
    output wire pass,                           // the residual; the error comes 4 clocks later
    input  wire passed,
    input  wire f_valid,
    output wire sweep,                          // of a block
    output wire sweep_first,
    output wire sweep_last,
    output wire sweep_scale,
    output wire [BLOCK_BITS-1:0] sweep_block,
    output wire searching,
    input  wire found,
    output wire choose,
    input  wire decided,
    input  wire halt,
    input  wire halt_saturated,
    output wire w_saturated,                    // a coefficient reached its range
    output wire answer                          // for one clock: the sample is done
);
    localparam STEP_BITS = $clog2(STEPS + 1);
    localparam [BLOCK_BITS-1:0] LAST_BLOCK = BLOCK_BITS'(BLOCKS - 1);
    localparam [BLOCK_BITS-1:0] LAST_FIRST = BLOCK_BITS'(FIRST_BLOCKS - 1);

    typedef enum logic [2:0] {IDLE, FEATURES, UPDATE, SWEEP, FIND, ANSWER} state_t;

    state_t state_reg;
    logic [1:0] pass_reg;
    logic updated_reg, passed_reg, f_reg, searching_reg, gap_reg, w_saturated_reg;
    logic [BLOCK_BITS-1:0] block_reg;
    logic [STEP_BITS-1:0] left_reg;
    wire ready = (updated || updated_reg) && (passed || passed_reg);
    wire sweep_end = sweep && block_reg == LAST_BLOCK;
    wire gap = FIRST_BLOCKS < BLOCKS && sweep && block_reg == LAST_FIRST;

    always_ff @(posedge clk) begin
        pass_reg <= {pass_reg[0], update};
        updated_reg <= updated || (updated_reg && state_reg == UPDATE);
        passed_reg <= passed || (passed_reg && state_reg == UPDATE);
        f_reg <= f_valid || (f_reg && state_reg != IDLE);
        gap_reg <= gap && state_reg == SWEEP;
        if (sweep) block_reg <= block_reg + 1'b1;
        case (state_reg)
            IDLE: begin
                w_saturated_reg <= 1'b0;
                if (sample_full) state_reg <= FEATURES;
            end
            FEATURES: if (phi_last) state_reg <= learning ? UPDATE : ANSWER;
            UPDATE: begin
                block_reg <= {BLOCK_BITS{1'b0}};
                searching_reg <= 1'b1;
                left_reg <= STEP_BITS'(STEPS);
                if (ready) state_reg <= SWEEP;
            end
            SWEEP: if (sweep_end) state_reg <= FIND;
            FIND: begin
                block_reg <= {BLOCK_BITS{1'b0}};
                if (found) begin
                    searching_reg <= 1'b0;
                    left_reg <= left_reg - 1'b1;
                    state_reg <= left_reg == 0 ? ANSWER : SWEEP;
                end
            end
            default: if (answer) state_reg <= IDLE;
        endcase
        if (decided && halt) begin
            state_reg <= ANSWER;
            w_saturated_reg <= halt_saturated;
        end
        if (rst) begin
            state_reg <= IDLE;
            gap_reg <= 1'b0;
            pass_reg <= 2'd0;
            updated_reg <= 1'b0;
            passed_reg <= 1'b0;
        end
    end

    assign idle = state_reg == IDLE;
    assign start = state_reg == IDLE && sample_full;
    assign update = state_reg == FEATURES && phi_last && learning;
    assign pass = pass_reg[1];
    assign sweep = state_reg == SWEEP && !gap_reg;
    assign sweep_first = block_reg == 0;
    assign sweep_last = block_reg == LAST_BLOCK;
    assign sweep_scale = state_reg == SWEEP && gap_reg;
    assign sweep_block = block_reg;
    assign searching = searching_reg;
    assign choose = state_reg == FIND && found && left_reg != 0;
    assign w_saturated = w_saturated_reg;
    assign answer = state_reg == ANSWER && answer_free && f_reg;
endmodule

`default_nettype wire
