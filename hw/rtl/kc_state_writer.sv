// kerncast: takes the state of a learner from a stream, as kc_state_reader gives it: the frame of the model, then
// the frame of the slots.
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

// With the first beat of a model the learner forgets all, until the slots, which must follow before any sample,
// are whole.  A frame of another plan, with a count that does not fit, a slot or a rank that there is not, or tlast
// at the wrong beat is refused, and so are slots without a model: it is read up to its tlast, and `bad` says so for
// one clock.
module kc_state_writer #(
    parameter WORD = 16,
    parameter SLOTS = 2,
    parameter COLUMNS = 1,
    parameter LANES = 1,                     // words of a row, in which vectors are held: a power of two
    parameter DISTANCE_BITS = 32,
    parameter [WORD-1:0] TAG = 0,
    parameter PLACE_BITS = $clog2(SLOTS),
    parameter COUNT_BITS = $clog2(SLOTS + 1),
    parameter V_ROW_BITS = $clog2(SLOTS * ((COLUMNS + LANES - 1) / LANES)),
    parameter LANE_BITS = LANES > 1 ? $clog2(LANES) : 1
) (
    input  wire clk,
    input  wire rst,
    input  wire [WORD-1:0] s_axis_state_tdata,
    input  wire s_axis_state_tuser,          // which frame, with its first beat
    input  wire s_axis_state_tvalid,
    output wire s_axis_state_tready,
    input  wire s_axis_state_tlast,
    input  wire enable,                      // a frame may start
    input  wire spoil,                       // a sample is on its way
    output wire busy,                        // one is on its way
    output wire bad,
    output wire forget,                      // the learner holds nothing from now on
    output wire whole,                       // it holds `count` vectors from now on
    output wire [COUNT_BITS-1:0] count,
    output wire write_v,                     // the word belongs in `lane` of `v_row`,
    output wire write_alpha,                 // or is the multiplier of `place`
    output wire [WORD-1:0] word,
    output wire [V_ROW_BITS-1:0] v_row,
    output wire [LANE_BITS-1:0] lane,
    output wire last_column,                 // and is the last of its vector
    output wire write_slot,                  // the four words of `place`
    output wire [PLACE_BITS-1:0] place,
    output wire [DISTANCE_BITS-1:0] row,
    output wire [DISTANCE_BITS-1:0] near_d2,
    output wire [PLACE_BITS-1:0] near,
    output wire [PLACE_BITS-1:0] rank
);
    localparam PARTS = (DISTANCE_BITS + WORD - 1) / WORD;
    localparam RANK = 2*PARTS + 1;           // the last word of a slot's group
    localparam MOST = COLUMNS > RANK ? COLUMNS : RANK;
    localparam WORD_BITS = $clog2(MOST + 1) > 2 ? $clog2(MOST + 1) : 2;
    localparam [WORD-1:0] MOST_SLOTS = WORD'(SLOTS);

    typedef enum logic [1:0] {HEAD, BODY, DROP} state_t;

    state_t state_reg;
    logic slots_reg, modelled_reg, bad_reg, whole_reg, forget_reg;
    logic write_v_reg, write_alpha_reg, write_slot_reg;
    logic [COUNT_BITS-1:0] count_reg;
    logic [WORD_BITS-1:0] word_reg;          // within the head, or the slot's group
    logic [PLACE_BITS-1:0] place_reg, write_place_reg;
    logic [V_ROW_BITS-1:0] v_row_reg, write_v_row_reg;
    logic [LANE_BITS-1:0] lane_reg;
    logic last_column_reg;
    logic [WORD-1:0] data_reg;
    logic [(RANK+1)*WORD-1:0] group_reg;     // the newest word on top

    wire accept = s_axis_state_tvalid && s_axis_state_tready;
    wire begins = state_reg == HEAD && word_reg == 0;
    wire of_slots = begins ? s_axis_state_tuser : slots_reg;
    wire [WORD-1:0] data = s_axis_state_tdata;
    wire [COUNT_BITS-1:0] announced = data[COUNT_BITS-1:0];
    wire is_count = state_reg == HEAD && word_reg == 1;
    wire is_alpha = word_reg == WORD_BITS'(COLUMNS);
    wire head_end = state_reg == HEAD && word_reg == (of_slots ? WORD_BITS'(1) : WORD_BITS'(2));
    wire group_end = state_reg == BODY && (of_slots ? word_reg == WORD_BITS'(RANK) : is_alpha);
    wire is_place = state_reg == BODY && of_slots && word_reg >= WORD_BITS'(RANK - 1);
    wire none = of_slots ? announced == 0 : count_reg == 0;
    wire last = head_end ? none : group_end && COUNT_BITS'(place_reg) + 1'b1 == count_reg;
    wire wrong = (begins && (data != TAG || (of_slots && !modelled_reg)))
        || (is_count && (data > MOST_SLOTS || (of_slots && announced != count_reg)))
        || (is_place && data >= WORD'(count_reg)) || last != s_axis_state_tlast;
    wire good = accept && state_reg != DROP && !wrong;
    wire [LANE_BITS-1:0] at_lane;
    wire at_last_column, row_end;

    kc_lane_place #(.COLUMNS(COLUMNS), .LANES(LANES), .COLUMN_BITS(WORD_BITS))
        place_inst (.column(word_reg), .lane(at_lane), .last(at_last_column), .row_end(row_end));

    always_ff @(posedge clk) begin
        bad_reg <= accept && state_reg != DROP && wrong;
        whole_reg <= good && last && of_slots;
        forget_reg <= good && begins && !of_slots;
        write_v_reg <= good && state_reg == BODY && !of_slots && !is_alpha;
        write_alpha_reg <= good && state_reg == BODY && !of_slots && is_alpha;
        write_slot_reg <= good && group_end && of_slots;
        write_place_reg <= place_reg;
        write_v_row_reg <= v_row_reg;
        lane_reg <= at_lane;
        last_column_reg <= at_last_column;
        if (spoil) modelled_reg <= 1'b0;
        if (accept) begin
            data_reg <= data;
            group_reg <= {data, group_reg[(RANK+1)*WORD-1:WORD]};
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
            // Slots follow a model that is whole, and once.
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
            bad_reg <= 1'b0;
            whole_reg <= 1'b0;
            forget_reg <= 1'b0;
            write_v_reg <= 1'b0;
            write_alpha_reg <= 1'b0;
            write_slot_reg <= 1'b0;
        end
    end

    assign s_axis_state_tready = !begins || enable;
    assign busy = !begins || forget_reg || whole_reg || write_alpha_reg || write_slot_reg;
    assign bad = bad_reg;
    assign forget = forget_reg;
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
    assign near_d2 = group_reg[PARTS*WORD +: DISTANCE_BITS];
    assign near = group_reg[2*PARTS*WORD +: PLACE_BITS];
    assign rank = group_reg[RANK*WORD +: PLACE_BITS];
endmodule

`default_nettype wire
