// kerncast: receives a trained model from a stream and holds it: vectors, coefficients and their exponent.
//
// A frame is, one word per beat: TAG (of the plan), count, exponent, then for each vector its COLUMNS words and its
// coefficient; tlast with the last beat. count = 0 is a model without vectors. A frame of another plan, with a count or
// an exponent outside the range of the plan, or with tlast at the wrong beat is rejected: it is read up to tlast,
// `frame_error` is high for one clock, and no model is held until the next valid frame. With GRID_STEP the vectors are
// the grid 0, GRID_STEP, 2 GRID_STEP, ...: a frame with other vectors, or with fewer than VECTORS, is rejected as well.
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_model_store #(
    parameter int WORD = 16,                      // width of a beat and of a coefficient
    parameter int VECTORS = 1,                    // maximum number of vectors
    parameter int COLUMNS = 1,
    parameter int LANES = 1,                      // columns that are read at a time: a power of two
    parameter int VECTOR_LANES = 1,               // vectors that are read at a time, for COLUMNS = 1: a power of two
    parameter logic [WORD-1:0] TAG = 0,
    parameter logic signed [WORD-1:0] EXPONENT_MIN = 0,
    parameter logic signed [WORD-1:0] EXPONENT_MAX = 0,
    parameter logic [WORD-1:0] GRID_STEP = 0,     // for COLUMNS = 1; 0: any vectors
    parameter int COUNT_BITS = $clog2(VECTORS + 1),
    parameter int ROWS = ((VECTORS + VECTOR_LANES - 1) / VECTOR_LANES) * ((COLUMNS + LANES - 1) / LANES),
    parameter int ROW_BITS = ROWS > 1 ? $clog2(ROWS) : 1,
    parameter int ALPHA_ROWS = (VECTORS + VECTOR_LANES - 1) / VECTOR_LANES,
    parameter int ALPHA_ADDRESS_BITS = ALPHA_ROWS > 1 ? $clog2(ALPHA_ROWS) : 1
) (
    input  wire clk,
    input  wire rst,
    input  wire [WORD-1:0] s_axis_model_tdata,
    input  wire s_axis_model_tvalid,
    output wire s_axis_model_tready,
    input  wire s_axis_model_tlast,
    input  wire enable,                       // a new frame may start
    output wire busy,                         // a frame is being received
    output wire frame_error,
    output wire [COUNT_BITS-1:0] count,       // vectors in the model
    output wire signed [WORD-1:0] exponent,
    // Read ports: a vector has COLUMNS / LANES rows, rounded up, or VECTOR_LANES vectors have one; those behind the
    // last vector of a row are 0.
    input  wire [ROW_BITS-1:0] v_row,
    output wire [LANES*VECTOR_LANES*WORD-1:0] v,
    input  wire [ALPHA_ADDRESS_BITS-1:0] alpha_address,
    output wire [VECTOR_LANES*WORD-1:0] alpha
);
    localparam COLUMN_BITS = $clog2(COLUMNS + 1);
    localparam [WORD-1:0] MAX_COUNT = WORD'(VECTORS);
    localparam [COLUMN_BITS-1:0] ALPHA_COLUMN = COLUMN_BITS'(COLUMNS);
    localparam LANE_BITS = LANES > 1 ? $clog2(LANES) : 1;
    localparam V_LANE_BITS = LANES * VECTOR_LANES > 1 ? $clog2(LANES * VECTOR_LANES) : 1;
    localparam VECTOR_LANE_BITS = VECTOR_LANES > 1 ? $clog2(VECTOR_LANES) : 1;
    localparam [VECTOR_LANE_BITS-1:0] LAST_VECTOR_LANE = VECTOR_LANE_BITS'(VECTOR_LANES - 1);

    typedef enum logic [2:0] {HEAD_TAG, HEAD_COUNT, HEAD_EXPONENT, BODY, DROP} state_t;

    state_t state_reg, state_next;
    logic frame_error_reg, frame_error_next;
    logic [COUNT_BITS-1:0] count_reg, count_next;    // 0 until the frame is whole
    logic [COUNT_BITS-1:0] total_reg, total_next;
    logic [COUNT_BITS-1:0] vector_reg, vector_next;
    logic [COLUMN_BITS-1:0] column_reg, column_next;
    logic [ROW_BITS-1:0] v_write_reg, v_write_next;
    logic signed [WORD-1:0] exponent_reg, exponent_next;
    logic [WORD-1:0] grid_reg, grid_next;            // the next vector of a grid

    wire ready = state_reg != HEAD_TAG || enable;
    wire accept = s_axis_model_tvalid && ready;
    wire signed [WORD-1:0] word = s_axis_model_tdata;
    wire [COUNT_BITS-1:0] count_word = s_axis_model_tdata[COUNT_BITS-1:0];
    wire is_alpha = column_reg == ALPHA_COLUMN;
    wire is_last, row_end;
    wire [LANE_BITS-1:0] lane;
    wire [VECTOR_LANE_BITS-1:0] vector_lane = VECTOR_LANE_BITS'(vector_reg) & LAST_VECTOR_LANE;
    wire [V_LANE_BITS-1:0] v_lane = VECTOR_LANES > 1 ? V_LANE_BITS'(vector_lane) : V_LANE_BITS'(lane);
    wire [ALPHA_ADDRESS_BITS-1:0] alpha_row = ALPHA_ADDRESS_BITS'(vector_reg >> $clog2(VECTOR_LANES));
    wire write_v = accept && state_reg == BODY && !is_alpha;
    wire write_alpha = accept && state_reg == BODY && is_alpha;
    wire last_alpha = is_alpha && vector_reg + 1'b1 == total_reg;
    logic wrong;   // this beat cannot be part of a good frame
    logic whole;   // this beat must be the last one

    always_comb begin
        state_next = state_reg;
        frame_error_next = 1'b0;
        count_next = count_reg;
        total_next = total_reg;
        vector_next = vector_reg;
        column_next = column_reg;
        v_write_next = v_write_reg;
        exponent_next = exponent_reg;
        grid_next = grid_reg;
        wrong = 1'b0;
        whole = 1'b0;
        if (accept) begin
            case (state_reg)
                HEAD_TAG: begin
                    count_next = {COUNT_BITS{1'b0}};
                    wrong = s_axis_model_tdata != TAG;
                    state_next = HEAD_COUNT;
                end
                HEAD_COUNT: begin
                    total_next = count_word;
                    wrong = s_axis_model_tdata > MAX_COUNT
                        || (GRID_STEP != 0 && s_axis_model_tdata != 0 && s_axis_model_tdata != MAX_COUNT);
                    state_next = HEAD_EXPONENT;
                end
                HEAD_EXPONENT: begin
                    exponent_next = word;
                    vector_next = {COUNT_BITS{1'b0}};
                    column_next = {COLUMN_BITS{1'b0}};
                    v_write_next = {ROW_BITS{1'b0}};
                    grid_next = {WORD{1'b0}};
                    wrong = word < EXPONENT_MIN || word > EXPONENT_MAX;
                    whole = total_reg == 0;
                    state_next = BODY;
                end
                BODY: begin
                    column_next = is_alpha ? {COLUMN_BITS{1'b0}} : column_reg + 1'b1;
                    if (is_alpha) vector_next = vector_reg + 1'b1;
                    else if (row_end && vector_lane == LAST_VECTOR_LANE) v_write_next = v_write_reg + 1'b1;
                    if (is_alpha) grid_next = grid_reg + GRID_STEP;
                    wrong = GRID_STEP != 0 && !is_alpha && s_axis_model_tdata != grid_reg;
                    whole = last_alpha;
                end
                default: whole = s_axis_model_tlast;
            endcase
            frame_error_next = state_reg != DROP && (wrong || whole != s_axis_model_tlast);
            if (s_axis_model_tlast) state_next = HEAD_TAG;
            else if (frame_error_next) state_next = DROP;
            if (whole && s_axis_model_tlast && !wrong && state_reg != DROP) count_next = total_reg;
        end
    end

    always_ff @(posedge clk) begin
        state_reg <= state_next;
        frame_error_reg <= frame_error_next;
        count_reg <= count_next;
        total_reg <= total_next;
        vector_reg <= vector_next;
        column_reg <= column_next;
        v_write_reg <= v_write_next;
        exponent_reg <= exponent_next;
        grid_reg <= grid_next;
        if (rst) begin
            state_reg <= HEAD_TAG;
            frame_error_reg <= 1'b0;
            count_reg <= {COUNT_BITS{1'b0}};
        end
    end

    kc_ram_lane_of #(.COLUMNS(COLUMNS), .LANES(LANES), .COLUMN_BITS(COLUMN_BITS))
        place_inst (.column(column_reg), .lane(lane), .last(is_last), .row_end(row_end));
    kc_ram_wordwise #(.WIDTH(WORD), .ROWS(ROWS), .LANES(LANES * VECTOR_LANES))
        v_inst (.clk(clk), .write_enable(write_v), .write_row(v_write_reg), .write_lane(v_lane), .write_last(is_last),
                .write_data(s_axis_model_tdata), .read_row(v_row), .read_data(v));
    kc_ram_wordwise #(.WIDTH(WORD), .ROWS(ALPHA_ROWS), .LANES(VECTOR_LANES))
        alpha_inst (.clk(clk), .write_enable(write_alpha), .write_row(alpha_row), .write_lane(vector_lane),
                    .write_last(1'b1), .write_data(s_axis_model_tdata), .read_row(alpha_address), .read_data(alpha));

    assign s_axis_model_tready = ready;
    assign busy = state_reg != HEAD_TAG;
    assign frame_error = frame_error_reg;
    assign count = count_reg;
    assign exponent = exponent_reg;
endmodule

`default_nettype wire
