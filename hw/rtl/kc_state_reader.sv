// kerncast: sends the state of a learner to a stream.
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

// One word per beat, tlast with the last one; at least two clocks per beat. tuser is the kind of frame:
//   0  model: TAG, count, 0, then for each slot its COLUMNS words and its coefficient, as kc_model_store expects them
//   1  slots: TAG, count, then for each slot row and nearest_d2, PARTS words each, the low one first, nearest_idx,
//      age_order
module kc_state_reader #(
    parameter int WORD = 16,
    parameter int SLOTS = 2,
    parameter int COLUMNS = 1,
    parameter int LANES = 1,                     // words per row of a vector: a power of two
    parameter int DISTANCE_BITS = 32,
    parameter logic [WORD-1:0] TAG = 0,
    parameter int PLACE_BITS = $clog2(SLOTS),
    parameter int COUNT_BITS = $clog2(SLOTS + 1),
    parameter int V_ROW_BITS = $clog2(SLOTS * ((COLUMNS + LANES - 1) / LANES))
) (
    input  wire clk,
    input  wire rst,
    input  wire start,
    input  wire slots,                       // kind of frame, with `start`
    input  wire [COUNT_BITS-1:0] count,
    output wire busy,
    output wire [PLACE_BITS-1:0] place,      // read addresses; read latency one clock
    output wire [V_ROW_BITS-1:0] v_row,
    input  wire [LANES*WORD-1:0] v,
    input  wire [WORD-1:0] alpha,
    input  wire [DISTANCE_BITS-1:0] row,
    input  wire [DISTANCE_BITS-1:0] nearest_d2,
    input  wire [PLACE_BITS-1:0] nearest_idx,
    input  wire [PLACE_BITS-1:0] age_order,
    output wire [WORD-1:0] m_axis_state_tdata,
    output wire m_axis_state_tuser,
    output wire m_axis_state_tvalid,
    input  wire m_axis_state_tready,
    output wire m_axis_state_tlast
);
    localparam PARTS = (DISTANCE_BITS + WORD - 1) / WORD;
    localparam ORDER_AT = 2*PARTS + 1;           // last word of the group of a slot
    localparam MAX_INDEX = COLUMNS > ORDER_AT ? COLUMNS : ORDER_AT;
    localparam WORD_BITS = $clog2(MAX_INDEX + 1) > 2 ? $clog2(MAX_INDEX + 1) : 2;
    localparam LANE_BITS = LANES > 1 ? $clog2(LANES) : 1;

    typedef enum logic [1:0] {IDLE, FETCH, OFFER} state_t;

    state_t state_reg;
    logic slots_reg, head_reg;
    logic [WORD_BITS-1:0] word_reg;          // within the head, or the group of a slot
    logic [PLACE_BITS-1:0] place_reg;
    logic [V_ROW_BITS-1:0] v_row_reg;

    wire [WORD-1:0] head_word = word_reg == 0 ? TAG : word_reg == 1 ? WORD'(count) : {WORD{1'b0}};
    wire [(ORDER_AT+1)*WORD-1:0] group = {WORD'(age_order), WORD'(nearest_idx), (PARTS*WORD)'(nearest_d2), (PARTS*WORD)'(row)};
    wire is_alpha = word_reg == WORD_BITS'(COLUMNS);
    wire group_end = head_reg ? word_reg == (slots_reg ? WORD_BITS'(1) : WORD_BITS'(2))
        : slots_reg ? word_reg == WORD_BITS'(ORDER_AT) : is_alpha;
    wire last = group_end && (head_reg ? count == 0 : COUNT_BITS'(place_reg) + 1'b1 == count);
    wire taken = state_reg == OFFER && m_axis_state_tready;
    wire [LANE_BITS-1:0] lane;
    wire row_end, unused_last;

    kc_ram_lane_of #(.COLUMNS(COLUMNS), .LANES(LANES), .COLUMN_BITS(WORD_BITS))
        place_inst (.column(word_reg), .lane(lane), .last(unused_last), .row_end(row_end));

    always_ff @(posedge clk) begin
        if (state_reg == IDLE && start) begin
            state_reg <= FETCH;
            slots_reg <= slots;
            head_reg <= 1'b1;
            word_reg <= {WORD_BITS{1'b0}};
            place_reg <= {PLACE_BITS{1'b0}};
            v_row_reg <= {V_ROW_BITS{1'b0}};
        end
        if (state_reg == FETCH) state_reg <= OFFER;
        if (taken) begin
            state_reg <= last ? IDLE : FETCH;
            word_reg <= group_end ? {WORD_BITS{1'b0}} : word_reg + 1'b1;
            if (group_end) head_reg <= 1'b0;
            if (group_end && !head_reg) place_reg <= place_reg + 1'b1;
            if (!head_reg && !slots_reg && !is_alpha && row_end) v_row_reg <= v_row_reg + 1'b1;
        end
        if (rst) state_reg <= IDLE;
    end

    assign busy = state_reg != IDLE;
    assign place = place_reg;
    assign v_row = v_row_reg;
    assign m_axis_state_tdata = head_reg ? head_word : slots_reg ? group[word_reg*WORD +: WORD]
        : is_alpha ? alpha : v[lane*WORD +: WORD];
    assign m_axis_state_tuser = slots_reg;
    assign m_axis_state_tvalid = state_reg == OFFER;
    assign m_axis_state_tlast = last;
endmodule

`default_nettype wire
