// kerncast: sends the state of kernel RLS to a stream, and receives it.
//
// A frame of 32-bit words: TAG, trained (0 or 1), the upper triangle of R row by row, beta (the low word first), w. If
// trained is 0, the other words are 0. A frame of another plan is refused at its first beat; one with trained above 1,
// or with tlast at the wrong beat, leaves the learner empty: it is read up to tlast, and `frame_error` is high for one
// clock. At least four clocks per beat that is sent, and four per beat that is received. A frame is
// accepted one clock after `enable`, and a beat is checked in the clock after it was accepted, which keeps paths short.
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_rls_state #(
    parameter int LANES = 1,                    // features per block: a power of two
    parameter int BLOCKS = 2,
    parameter int FIRST_BLOCKS = 2,             // of 1 and the cosines; then come those of the inputs
    parameter int FIRST_REST = 1,               // features in the last block of either, 1 to LANES
    parameter int INPUT_REST = 1,
    parameter logic [31:0] TAG = 0,
    parameter int BLOCK_BITS = BLOCKS > 1 ? $clog2(BLOCKS) : 1,
    parameter int LANE_BITS = LANES > 1 ? $clog2(LANES) : 1,
    parameter int TILES = BLOCKS*(BLOCKS + 1)/2,
    parameter int TILE_BITS = TILES > 1 ? $clog2(TILES) : 1
) (
    input  wire clk,
    input  wire rst,
    input  wire [31:0] s_axis_state_tdata,
    input  wire s_axis_state_tvalid,
    output wire s_axis_state_tready,
    input  wire s_axis_state_tlast,
    output wire [31:0] m_axis_state_tdata,
    output wire m_axis_state_tvalid,
    input  wire m_axis_state_tready,
    output wire m_axis_state_tlast,
    input  wire enable,                         // a frame may be received
    input  wire send,                           // send one, if none is being received
    output wire busy,
    output wire sending,
    output wire frame_error,

    input  wire trained,
    output wire forget,                         // for one clock: empty the learner
    output wire restored,                       // for one clock: the state is complete
    output wire [BLOCK_BITS-1:0] block,         // a feature
    output wire [LANE_BITS-1:0] lane,
    output wire [TILE_BITS-1:0] tile,           // an entry of R
    output wire [LANE_BITS-1:0] row,
    output wire [LANE_BITS-1:0] column,
    input  wire [31:0] r,                       // two clocks later
    input  wire [63:0] beta,
    input  wire [31:0] w,                       // one clock later
    output wire [2:0] write,                    // w, beta, R
    output wire [63:0] word
);
    localparam [LANE_BITS-1:0] LAST_LANE = LANE_BITS'(LANES - 1);
    localparam [LANE_BITS-1:0] FIRST_LANE = LANE_BITS'(FIRST_REST - 1);
    localparam [LANE_BITS-1:0] INPUT_LANE = LANE_BITS'(INPUT_REST - 1);
    localparam [BLOCK_BITS-1:0] LAST_BLOCK = BLOCK_BITS'(BLOCKS - 1);
    localparam [BLOCK_BITS-1:0] LAST_FIRST = BLOCK_BITS'(FIRST_BLOCKS - 1);
    localparam [LANE_BITS-1:0] END_LANE = FIRST_BLOCKS < BLOCKS ? INPUT_LANE : FIRST_LANE;

    typedef enum logic [3:0] {IDLE, FETCH, SETTLE, LATCH, OFFER, OPEN, TAKE, CHECK, WRITE, MIRROR, DROP} state_t;
    typedef enum logic [2:0] {HEAD, TRAINED, MATRIX, BETA_LOW, BETA_HIGH, WEIGHT} part_t;

    state_t state_reg;
    part_t part_reg, part_next;
    logic [BLOCK_BITS-1:0] i_block_reg, j_block_reg;
    logic [LANE_BITS-1:0] i_lane_reg, j_lane_reg;
    logic [TILE_BITS-1:0] tile_reg, row_tile_reg;
    logic [31:0] data_reg, low_reg;
    logic last_beat_reg, wrong_reg, trained_reg, forget_reg, restored_reg;

    // The next feature after i, and after j. Registers hold what is derived from them, which is used two clocks after
    // a change or later.
    logic i_last_reg, j_last_reg, i_ends_reg, j_ends_reg, mirrored_reg;
    logic [TILE_BITS-1:0] row_tile_next_reg;
    wire i_last = i_block_reg == LAST_BLOCK && i_lane_reg == END_LANE;
    wire j_last = j_block_reg == LAST_BLOCK && j_lane_reg == END_LANE;
    wire i_ends = i_lane_reg == LAST_LANE || (i_block_reg == LAST_FIRST && i_lane_reg == FIRST_LANE);
    wire j_ends = j_lane_reg == LAST_LANE || (j_block_reg == LAST_FIRST && j_lane_reg == FIRST_LANE);
    wire [BLOCK_BITS-1:0] i_block_next = i_ends_reg ? i_block_reg + 1'b1 : i_block_reg;
    wire [LANE_BITS-1:0] i_lane_next = i_ends_reg ? {LANE_BITS{1'b0}} : i_lane_reg + 1'b1;
    wire [TILE_BITS-1:0] row_tile_next = i_ends ? row_tile_reg + TILE_BITS'(BLOCKS) - TILE_BITS'(i_block_reg) : row_tile_reg;
    wire last = part_reg == WEIGHT && i_last_reg;
    wire accept = s_axis_state_tvalid && s_axis_state_tready;
    wire taken = m_axis_state_tvalid && m_axis_state_tready;
    wire wrong = (part_reg == HEAD && data_reg != TAG) || (part_reg == TRAINED && data_reg > 32'd1)
        || last != last_beat_reg;
    wire advance = taken || (state_reg == WRITE && !mirrors) || state_reg == MIRROR;
    wire [31:0] sent = part_reg == HEAD ? TAG : part_reg == TRAINED ? {31'd0, trained} : !trained ? 32'd0
        : part_reg == MATRIX ? r : part_reg == BETA_LOW ? beta[31:0] : part_reg == BETA_HIGH ? beta[63:32] : w;
    // A tile on the diagonal is stored whole.
    wire mirrors = part_reg == MATRIX && mirrored_reg;

    always_comb begin
        part_next = part_reg;
        case (part_reg)
            HEAD: part_next = TRAINED;
            TRAINED: part_next = MATRIX;
            MATRIX: if (i_last_reg) part_next = BETA_LOW;
            BETA_LOW: part_next = BETA_HIGH;
            BETA_HIGH: if (i_last_reg) part_next = WEIGHT; else part_next = BETA_LOW;
            default: if (i_last_reg) part_next = HEAD;
        endcase
    end

    always_ff @(posedge clk) begin
        i_last_reg <= i_last;
        j_last_reg <= j_last;
        i_ends_reg <= i_ends;
        j_ends_reg <= j_ends;
        mirrored_reg <= i_block_reg == j_block_reg && i_lane_reg != j_lane_reg;
        row_tile_next_reg <= row_tile_next;
        wrong_reg <= wrong;
        forget_reg <= state_reg == WRITE && part_reg == HEAD && !wrong_reg;
        restored_reg <= state_reg == WRITE && last && !wrong_reg && trained_reg;
        case (state_reg)
            IDLE: begin
                part_reg <= HEAD;
                i_block_reg <= {BLOCK_BITS{1'b0}};
                j_block_reg <= {BLOCK_BITS{1'b0}};
                i_lane_reg <= {LANE_BITS{1'b0}};
                j_lane_reg <= {LANE_BITS{1'b0}};
                tile_reg <= {TILE_BITS{1'b0}};
                row_tile_reg <= {TILE_BITS{1'b0}};
                if (send) state_reg <= FETCH;
                else if (enable && s_axis_state_tvalid) state_reg <= OPEN;
            end
            FETCH: state_reg <= SETTLE;
            SETTLE: state_reg <= LATCH;
            LATCH: begin
                data_reg <= sent;
                state_reg <= OFFER;
            end
            OFFER: if (taken) begin
                if (last) state_reg <= IDLE;
                else state_reg <= FETCH;
            end
            CHECK: state_reg <= WRITE;
            WRITE: begin
                if (wrong_reg) state_reg <= last_beat_reg ? IDLE : DROP;
                else if (mirrors) state_reg <= MIRROR;
                else if (last) state_reg <= IDLE;
                else state_reg <= TAKE;
            end
            MIRROR: state_reg <= TAKE;
            DROP: if (accept && s_axis_state_tlast) state_reg <= IDLE;
            default: begin
                if (accept) state_reg <= CHECK;
                else if (state_reg == OPEN) state_reg <= IDLE;
            end
        endcase
        if (advance) begin
            part_reg <= part_next;
            if (part_reg == MATRIX) begin
                tile_reg <= j_last_reg ? row_tile_next_reg : j_ends_reg ? tile_reg + 1'b1 : tile_reg;
                j_block_reg <= j_last_reg ? i_block_next : j_ends_reg ? j_block_reg + 1'b1 : j_block_reg;
                j_lane_reg <= j_last_reg ? i_lane_next : j_ends_reg ? {LANE_BITS{1'b0}} : j_lane_reg + 1'b1;
            end
            if (part_reg == MATRIX ? j_last_reg : part_reg == BETA_HIGH || part_reg == WEIGHT) begin
                i_block_reg <= i_last_reg ? {BLOCK_BITS{1'b0}} : i_block_next;
                i_lane_reg <= i_last_reg ? {LANE_BITS{1'b0}} : i_lane_next;
                row_tile_reg <= row_tile_next_reg;
            end
        end
        if (accept) begin
            data_reg <= s_axis_state_tdata;
            last_beat_reg <= s_axis_state_tlast;
            if (part_reg == BETA_LOW) low_reg <= s_axis_state_tdata;
            if (part_reg == TRAINED) trained_reg <= s_axis_state_tdata[0];
        end
        if (rst) begin
            state_reg <= IDLE;
            forget_reg <= 1'b0;
            restored_reg <= 1'b0;
        end
    end

    assign s_axis_state_tready = state_reg == OPEN || state_reg == TAKE || state_reg == DROP;
    assign m_axis_state_tvalid = state_reg == OFFER;
    assign m_axis_state_tdata = data_reg;
    assign m_axis_state_tlast = last;
    assign busy = state_reg != IDLE || restored_reg || forget_reg;
    assign sending = state_reg == FETCH || state_reg == SETTLE || state_reg == LATCH || state_reg == OFFER;
    assign frame_error = state_reg == WRITE && wrong_reg;
    assign forget = forget_reg;
    assign restored = restored_reg;
    assign block = i_block_reg;
    assign lane = i_lane_reg;
    assign row = state_reg == MIRROR ? j_lane_reg : i_lane_reg;
    assign column = state_reg == MIRROR ? i_lane_reg : j_lane_reg;
    assign tile = tile_reg;
    assign write = state_reg == WRITE || state_reg == MIRROR
        ? {part_reg == MATRIX, part_reg == BETA_HIGH, part_reg == WEIGHT} : 3'd0;
    assign word = part_reg == BETA_HIGH ? {data_reg, low_reg} : 64'(data_reg);
endmodule

`default_nettype wire
