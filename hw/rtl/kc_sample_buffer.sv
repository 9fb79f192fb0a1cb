// kerncast: receives samples of COLUMNS ADC counts from a stream, converts them and holds up to SLOTS of them; the
// oldest one is read.
//
// One beat per column, tlast with the last one. If TARGET is 1 and tuser is high with the first beat, one more beat
// follows: the target, which is passed on unconverted. A sample whose tlast comes early or late is dropped: it is read
// up to tlast, `frame_error` is high for one clock, and the next beat starts a new sample.
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_sample_buffer #(
    parameter int COLUMNS = 1,
    parameter int TARGET = 0,                   // 1: samples may have a target; for SLOTS = 1 only
    parameter int SLOTS = 1,                    // 1, or 2: receive a sample while another one is read
    parameter int LANES = 1,                    // columns that are read at a time: a power of two
    parameter int RAW_BITS = 16,
    parameter bit RAW_SIGNED = 0,
    parameter int TDATA_BITS = 16,              // RAW_BITS in the low bits, the others are ignored
    parameter int X_BITS = 16,
    parameter int OFFSET_BITS = 16,
    parameter int GAIN_BITS = 16,
    parameter int ENTRIES = 1,                  // of OFFSETS and GAINS: COLUMNS, or 1 for all columns
    parameter logic [ENTRIES*OFFSET_BITS-1:0] OFFSETS = 0,
    parameter logic [ENTRIES*GAIN_BITS-1:0] GAINS = 1,
    parameter int SHIFT = 0,
    parameter int ROUNDING = 1,
    parameter logic signed [63:0] LO = -32768,
    parameter logic signed [63:0] HI = 32767,
    parameter int ROWS = (COLUMNS + LANES - 1) / LANES,
    parameter int ROW_BITS = ROWS > 1 ? $clog2(ROWS) : 1
) (
    input  wire clk,
    input  wire rst,
    input  wire [TDATA_BITS-1:0] s_axis_x_tdata,
    input  wire s_axis_x_tvalid,
    output wire s_axis_x_tready,
    input  wire s_axis_x_tlast,
    input  wire s_axis_x_tuser,             // a target follows; valid with the first beat
    input  wire enable,                     // a new sample may start
    output wire busy,                       // a sample is being received or held
    output wire full,                       // a sample is held; `done` releases the oldest
    output wire learning,                   // it has a target
    output wire [TDATA_BITS-1:0] target,
    input  wire done,
    output wire frame_error,
    input  wire [ROW_BITS-1:0] row,         // read port
    output wire [LANES*X_BITS-1:0] x
);
    localparam ENTRY_BITS = ENTRIES > 1 ? $clog2(ENTRIES) : 1;
    localparam LATENCY = 5;                 // one clock for offset and gain, four for the conversion
    localparam BEAT_BITS = COLUMNS + TARGET > 1 ? $clog2(COLUMNS + TARGET) : 1;
    localparam [BEAT_BITS-1:0] LAST = BEAT_BITS'(COLUMNS - 1);
    localparam [BEAT_BITS-1:0] LAST_OF_ALL = BEAT_BITS'(COLUMNS + TARGET - 1);
    localparam LANE_BITS = LANES > 1 ? $clog2(LANES) : 1;
    localparam DEPTH = SLOTS > 1 ? 2 << ROW_BITS : ROWS;
    localparam ADDRESS_BITS = SLOTS > 1 ? ROW_BITS + 1 : ROW_BITS;
    localparam [1:0] ALL = 2'(SLOTS);

    typedef enum logic [1:0] {RECEIVE, DROP, SETTLE, HOLD} state_t;

    state_t state_reg, state_next;
    logic [BEAT_BITS-1:0] beat_reg, beat_next;
    logic frame_error_next, frame_error_reg;
    logic learning_reg;
    logic [TDATA_BITS-1:0] target_reg;
    logic [RAW_BITS-1:0] raw_reg;
    logic [LATENCY-1:0] valid_reg;
    logic [LATENCY*BEAT_BITS-1:0] write_beat_reg;
    logic [1:0] held_reg;                   // samples
    logic write_slot_reg, read_slot_reg;

    wire ready = (state_reg == RECEIVE && (enable || beat_reg != 0)) || state_reg == DROP;
    wire accept = s_axis_x_tvalid && ready;
    wire with_target = TARGET != 0 && (beat_reg == 0 ? s_axis_x_tuser : learning_reg);
    wire last = beat_reg == (with_target ? LAST_OF_ALL : LAST);
    wire good = last == s_axis_x_tlast;
    wire [ENTRY_BITS-1:0] entry = ENTRIES > 1 ? ENTRY_BITS'(beat_reg) : {ENTRY_BITS{1'b0}};
    wire [BEAT_BITS-1:0] write_beat = write_beat_reg[LATENCY*BEAT_BITS-1 -: BEAT_BITS];
    wire [ROW_BITS-1:0] write_row = ROW_BITS'(write_beat >> $clog2(LANES));
    wire settled = state_reg == SETTLE && valid_reg[LATENCY-2:0] == 0;   // only the last beat is still in the pipeline
    wire [1:0] held = held_reg + 2'(settled) - 2'(done);
    wire write = valid_reg[LATENCY-1] && (TARGET == 0 || write_beat != LAST_OF_ALL);
    wire signed [OFFSET_BITS-1:0] offset;
    wire signed [GAIN_BITS-1:0] gain;
    wire [X_BITS-1:0] converted;
    wire [LANE_BITS-1:0] lane;
    wire last_column, unused_row_end;

    always_comb begin
        state_next = state_reg;
        beat_next = beat_reg;
        frame_error_next = 1'b0;
        case (state_reg)
            RECEIVE: if (accept) begin
                beat_next = last ? {BEAT_BITS{1'b0}} : beat_reg + 1'b1;
                if (!good) begin
                    frame_error_next = 1'b1;
                    beat_next = {BEAT_BITS{1'b0}};
                end
                if (last && good) state_next = SETTLE;
                if (last && !good) state_next = DROP;
            end
            DROP: if (accept && s_axis_x_tlast) state_next = RECEIVE;
            SETTLE: begin
                if (settled && held == ALL) state_next = HOLD;
                if (settled && held != ALL) state_next = RECEIVE;
            end
            default: if (done) state_next = RECEIVE;
        endcase
    end

    always_ff @(posedge clk) begin
        state_reg <= state_next;
        beat_reg <= beat_next;
        frame_error_reg <= frame_error_next;
        raw_reg <= s_axis_x_tdata[RAW_BITS-1:0];
        // The last beat of a bad sample is not written; its other words are overwritten later.
        valid_reg <= {valid_reg[LATENCY-2:0], accept && state_reg == RECEIVE && good};
        write_beat_reg <= {write_beat_reg[(LATENCY-1)*BEAT_BITS-1:0], beat_reg};
        if (accept && state_reg == RECEIVE) begin
            if (beat_reg == 0) learning_reg <= TARGET != 0 && s_axis_x_tuser;
            target_reg <= s_axis_x_tdata;   // the last beat wins
        end
        held_reg <= held;
        if (settled) write_slot_reg <= !write_slot_reg;
        if (done) read_slot_reg <= !read_slot_reg;
        if (rst) begin
            state_reg <= RECEIVE;
            held_reg <= 2'd0;
            write_slot_reg <= 1'b0;
            read_slot_reg <= 1'b0;
            beat_reg <= {BEAT_BITS{1'b0}};
            frame_error_reg <= 1'b0;
            valid_reg <= {LATENCY{1'b0}};
        end
    end

    kc_rom #(.WIDTH(OFFSET_BITS), .DEPTH(ENTRIES), .TABLE(OFFSETS))
        offset_inst (.clk(clk), .address(entry), .q(offset));
    kc_rom #(.WIDTH(GAIN_BITS), .DEPTH(ENTRIES), .TABLE(GAINS))
        gain_inst (.clk(clk), .address(entry), .q(gain));
    kc_affine #(.RAW_BITS(RAW_BITS), .RAW_SIGNED(RAW_SIGNED), .OFFSET_BITS(OFFSET_BITS), .GAIN_BITS(GAIN_BITS),
                .SHIFT(SHIFT), .ROUNDING(ROUNDING), .OUT_BITS(X_BITS), .LO(LO), .HI(HI))
        affine_inst (.clk(clk), .raw(raw_reg), .offset(offset), .gain(gain), .q(converted));
    kc_ram_lane_of #(.COLUMNS(COLUMNS), .LANES(LANES), .COLUMN_BITS(BEAT_BITS))
        place_inst (.column(write_beat), .lane(lane), .last(last_column), .row_end(unused_row_end));
    kc_ram_wordwise #(.WIDTH(X_BITS), .ROWS(DEPTH), .LANES(LANES))
        x_inst (.clk(clk), .write_enable(write), .write_row(ADDRESS_BITS'({write_slot_reg, write_row})),
                .write_lane(lane), .write_last(last_column),
                .write_data(converted), .read_row(ADDRESS_BITS'({read_slot_reg, row})), .read_data(x));

    assign s_axis_x_tready = ready;
    assign busy = state_reg != RECEIVE || beat_reg != 0 || held_reg != 0;
    assign full = held_reg != 0;
    assign learning = learning_reg;
    assign target = target_reg;
    assign frame_error = frame_error_reg;
endmodule

`default_nettype wire
