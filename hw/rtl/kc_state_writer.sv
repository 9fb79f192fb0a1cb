// kerncast: receives the state of a learner from a stream, as kc_state_reader sends it: the model frame, then the slots
// frame.
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

// The first beat of a model frame clears the dictionary until the slots frame, which must follow before any sample, is
// complete. A frame of another plan, with a count that does not fit, a slot or an age order out of range, or tlast at
// the wrong beat is rejected, and so is a slots frame without a model frame: it is read up to tlast and `frame_error`
// is high for one clock.
module kc_state_writer #(
    parameter int WORD = 16,
    parameter int SLOTS = 2,
    parameter int COLUMNS = 1,
    parameter int LANES = 1,                     // words per row of a vector: a power of two
    parameter int DISTANCE_BITS = 32,
    parameter logic [WORD-1:0] TAG = 0,
    parameter int PLACE_BITS = $clog2(SLOTS),
    parameter int COUNT_BITS = $clog2(SLOTS + 1),
    parameter int V_ROW_BITS = $clog2(SLOTS * ((COLUMNS + LANES - 1) / LANES)),
    parameter int LANE_BITS = LANES > 1 ? $clog2(LANES) : 1
) (
    input  wire clk,
    input  wire rst,
    input  wire [WORD-1:0] s_axis_state_tdata,
    input  wire s_axis_state_tuser,          // kind of frame, with its first beat
    input  wire s_axis_state_tvalid,
    output wire s_axis_state_tready,
    input  wire s_axis_state_tlast,
    input  wire enable,                      // a frame may start
    input  wire invalidate,                       // a sample has arrived
    output wire busy,                        // a frame is being received
    output wire frame_error,
    output wire clear_state,                      // clear the dictionary
    output wire whole,                       // the dictionary has `count` vectors
    output wire [COUNT_BITS-1:0] count,
    output wire write_v,                     // `word` belongs in `lane` of `v_row`,
    output wire write_alpha,                 // or is the coefficient of `place`
    output wire [WORD-1:0] word,
    output wire [V_ROW_BITS-1:0] v_row,
    output wire [LANE_BITS-1:0] lane,
    output wire last_column,                 // last word of its vector
    output wire write_slot,                  // the four words of `place`
    output wire [PLACE_BITS-1:0] place,
    output wire [DISTANCE_BITS-1:0] row,
    output wire [DISTANCE_BITS-1:0] nearest_d2,
    output wire [PLACE_BITS-1:0] nearest_idx,
    output wire [PLACE_BITS-1:0] age_order
);
    localparam PARTS = (DISTANCE_BITS + WORD - 1) / WORD;
    localparam ORDER_AT = 2*PARTS + 1;           // last word of the group of a slot
    localparam MAX_INDEX = COLUMNS > ORDER_AT ? COLUMNS : ORDER_AT;
    localparam WORD_BITS = $clog2(MAX_INDEX + 1) > 2 ? $clog2(MAX_INDEX + 1) : 2;
    localparam [WORD-1:0] MAX_SLOTS = WORD'(SLOTS);

    typedef enum logic [1:0] {HEAD, BODY, DROP} state_t;

    state_t state_reg;
    logic slots_reg, modelled_reg, frame_error_reg, whole_reg, clear_state_reg;
    logic write_v_reg, write_alpha_reg, write_slot_reg;
    logic [COUNT_BITS-1:0] count_reg;
    logic [WORD_BITS-1:0] word_reg;          // within the head, or the group of a slot
    logic [PLACE_BITS-1:0] place_reg, write_place_reg;
    logic [V_ROW_BITS-1:0] v_row_reg, write_v_row_reg;
    logic [LANE_BITS-1:0] lane_reg;
    logic last_column_reg;
    logic [WORD-1:0] data_reg;
    logic [(ORDER_AT+1)*WORD-1:0] group_reg;     // the newest word on top

    wire accept = s_axis_state_tvalid && s_axis_state_tready;
    wire frame_start = state_reg == HEAD && word_reg == 0;
    wire of_slots = frame_start ? s_axis_state_tuser : slots_reg;
    wire [WORD-1:0] data = s_axis_state_tdata;
    wire [COUNT_BITS-1:0] announced = data[COUNT_BITS-1:0];
    wire is_count = state_reg == HEAD && word_reg == 1;
    wire is_alpha = word_reg == WORD_BITS'(COLUMNS);
    wire head_end = state_reg == HEAD && word_reg == (of_slots ? WORD_BITS'(1) : WORD_BITS'(2));
    wire group_end = state_reg == BODY && (of_slots ? word_reg == WORD_BITS'(ORDER_AT) : is_alpha);
    wire is_place = state_reg == BODY && of_slots && word_reg >= WORD_BITS'(ORDER_AT - 1);
    wire none = of_slots ? announced == 0 : count_reg == 0;
    wire last = head_end ? none : group_end && COUNT_BITS'(place_reg) + 1'b1 == count_reg;
    wire wrong = (frame_start && (data != TAG || (of_slots && !modelled_reg)))
        || (is_count && (data > MAX_SLOTS || (of_slots && announced != count_reg)))
        || (is_place && data >= WORD'(count_reg)) || last != s_axis_state_tlast;
    wire good = accept && state_reg != DROP && !wrong;
    wire [LANE_BITS-1:0] at_lane;
    wire at_last_column, row_end;

    kc_ram_lane_of #(.COLUMNS(COLUMNS), .LANES(LANES), .COLUMN_BITS(WORD_BITS))
        place_inst (.column(word_reg), .lane(at_lane), .last(at_last_column), .row_end(row_end));

    always_ff @(posedge clk) begin
        frame_error_reg <= accept && state_reg != DROP && wrong;
        whole_reg <= good && last && of_slots;
        clear_state_reg <= good && frame_start && !of_slots;
        write_v_reg <= good && state_reg == BODY && !of_slots && !is_alpha;
        write_alpha_reg <= good && state_reg == BODY && !of_slots && is_alpha;
        write_slot_reg <= good && group_end && of_slots;
        write_place_reg <= place_reg;
        write_v_row_reg <= v_row_reg;
        lane_reg <= at_lane;
        last_column_reg <= at_last_column;
        if (invalidate) modelled_reg <= 1'b0;
        if (accept) begin
            data_reg <= data;
            group_reg <= {data, group_reg[(ORDER_AT+1)*WORD-1:WORD]};
            slots_reg <= of_slots;
            word_reg <= head_end || group_end ? {WORD_BITS{1'b0}} : word_reg + 1'b1;
            if (state_reg == HEAD) begin
                place_reg <= {PLACE_BITS{1'b0}};
                v_row_reg <= {V_ROW_BITS{1'b0}};
            end else begin
                if (group_end) place_reg <= place_reg + 1'b1;
                if (!of_slots && !is_alpha && row_end) v_row_reg <= v_row_reg + 1'b1;
            end
            if (is_count && !of_slots) count_reg <= announced;
            if (head_end) state_reg <= BODY;
            // A slots frame is accepted once, after a complete model frame.
            modelled_reg <= good && (last ? !of_slots : of_slots && modelled_reg);
            if (state_reg != DROP && wrong) state_reg <= DROP;
            if (s_axis_state_tlast) begin
                state_reg <= HEAD;
                word_reg <= {WORD_BITS{1'b0}};
            end
        end
        if (rst) begin
            state_reg <= HEAD;
            word_reg <= {WORD_BITS{1'b0}};
            modelled_reg <= 1'b0;
            frame_error_reg <= 1'b0;
            whole_reg <= 1'b0;
            clear_state_reg <= 1'b0;
            write_v_reg <= 1'b0;
            write_alpha_reg <= 1'b0;
            write_slot_reg <= 1'b0;
        end
    end

    assign s_axis_state_tready = !frame_start || enable;
    assign busy = !frame_start || clear_state_reg || whole_reg || write_alpha_reg || write_slot_reg;
    assign frame_error = frame_error_reg;
    assign clear_state = clear_state_reg;
    assign whole = whole_reg;
    assign count = count_reg;
    assign write_v = write_v_reg;
    assign write_alpha = write_alpha_reg;
    assign word = data_reg;
    assign v_row = write_v_row_reg;
    assign lane = lane_reg;
    assign last_column = last_column_reg;
    assign write_slot = write_slot_reg;
    assign place = write_place_reg;
    assign row = group_reg[DISTANCE_BITS-1:0];
    assign nearest_d2 = group_reg[PARTS*WORD +: DISTANCE_BITS];
    assign nearest_idx = group_reg[2*PARTS*WORD +: PLACE_BITS];
    assign age_order = group_reg[ORDER_AT*WORD +: PLACE_BITS];
endmodule

`default_nettype wire
