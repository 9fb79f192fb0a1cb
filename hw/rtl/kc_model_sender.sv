// kerncast: converts the frame of a solution to the frame of a model for kc_model_store: TAG, count, exponent; then for
// each vector its COLUMNS words and its coefficient. A solution without words becomes a model without vectors. Every
// beat carries the status of the solution.
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_model_sender #(
    parameter int WORD = 16,
    parameter int VECTORS = 1,
    parameter int COLUMNS = 1,
    parameter logic [WORD-1:0] TAG = 0
) (
    input  wire clk,
    input  wire rst,
    input  wire [WORD-1:0] s_axis_tdata,
    input  wire [2:0] s_axis_tuser,
    input  wire s_axis_tvalid,
    output wire s_axis_tready,
    input  wire s_axis_tlast,
    input  wire [WORD-1:0] x,                 // the words of the vectors in order
    output wire x_next,                       // advance to the next word, two clocks
    output wire x_first,                      // go to the first word
    output wire [WORD-1:0] m_axis_tdata,
    output wire [2:0] m_axis_tuser,
    output wire m_axis_tvalid,
    input  wire m_axis_tready,
    output wire m_axis_tlast
);
    localparam COLUMN_BITS = $clog2(COLUMNS + 1);

    typedef enum logic [2:0] {HEAD_TAG, HEAD_COUNT, HEAD_EXPONENT, FETCH, VECTOR, COEFFICIENT} state_t;

    state_t state_reg;
    logic [COLUMN_BITS-1:0] column_reg;
    wire taken = m_axis_tvalid && m_axis_tready;
    wire passes = state_reg == HEAD_EXPONENT || state_reg == COEFFICIENT;

    always_ff @(posedge clk) begin
        case (state_reg)
            HEAD_TAG: begin
                column_reg <= COLUMN_BITS'(COLUMNS);
                if (taken) state_reg <= HEAD_COUNT;
            end
            HEAD_COUNT: if (taken) state_reg <= HEAD_EXPONENT;
            HEAD_EXPONENT: if (taken) state_reg <= s_axis_tlast ? HEAD_TAG : FETCH;
            FETCH: state_reg <= VECTOR;
            VECTOR: if (taken) begin
                column_reg <= column_reg == 1 ? COLUMN_BITS'(COLUMNS) : column_reg - 1'b1;
                state_reg <= column_reg == 1 ? COEFFICIENT : FETCH;
            end
            default: if (taken) state_reg <= s_axis_tlast ? HEAD_TAG : FETCH;
        endcase
        if (rst) state_reg <= HEAD_TAG;
    end

    assign s_axis_tready = passes && m_axis_tready;
    assign x_next = taken && state_reg == VECTOR;
    assign x_first = state_reg == HEAD_TAG;
    assign m_axis_tdata = passes ? s_axis_tdata : state_reg == VECTOR ? x : state_reg == HEAD_TAG ? TAG
        : s_axis_tlast ? {WORD{1'b0}} : WORD'(VECTORS);
    assign m_axis_tuser = s_axis_tuser;
    assign m_axis_tvalid = s_axis_tvalid && state_reg != FETCH;
    assign m_axis_tlast = passes && s_axis_tlast;
endmodule

`default_nettype wire
