// kerncast: takes a sample of COLUMNS raw words from a stream, converts it and holds it.
//
// One beat a column, tlast with the last one.  A sample whose tlast comes early or late is dropped: the
// words up to and with tlast are read and thrown away, `bad` says so for one clock, and the next beat
// starts a new sample.  SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_sample_buffer #(
    parameter COLUMNS = 1,
    parameter RAW_BITS = 16,
    parameter RAW_SIGNED = 0,
    parameter TDATA_BITS = 16,              // RAW_BITS in the low bits, the others are not looked at
    parameter X_BITS = 16,
    parameter OFFSET_BITS = 16,
    parameter GAIN_BITS = 16,
    parameter ENTRIES = 1,                  // of OFFSETS and GAINS: COLUMNS, or 1 for all columns
    parameter [ENTRIES*OFFSET_BITS-1:0] OFFSETS = 0,
    parameter [ENTRIES*GAIN_BITS-1:0] GAINS = 1,
    parameter SHIFT = 0,
    parameter ROUNDING = 1,
    parameter signed [63:0] LO = -32768,
    parameter signed [63:0] HI = 32767,
    parameter COLUMN_BITS = COLUMNS > 1 ? $clog2(COLUMNS) : 1
) (
    input  wire clk,
    input  wire rst,
    input  wire [TDATA_BITS-1:0] s_axis_x_tdata,
    input  wire s_axis_x_tvalid,
    output wire s_axis_x_tready,
    input  wire s_axis_x_tlast,
    input  wire enable,                     // a new sample may start
    output wire busy,                       // a sample is on its way or held
    output wire full,                       // a sample is held, until `done`
    input  wire done,
    output wire bad,
    input  wire [COLUMN_BITS-1:0] column,   // read port
    output wire [X_BITS-1:0] x
);
    localparam ENTRY_BITS = ENTRIES > 1 ? $clog2(ENTRIES) : 1;
    localparam LATENCY = 5;                 // one clock for offset and gain, four for the conversion
    localparam [COLUMN_BITS-1:0] LAST = COLUMN_BITS'(COLUMNS - 1);

    typedef enum logic [1:0] {RECEIVE, DROP, SETTLE, HOLD} state_t;

    state_t state_reg, state_next;
    logic [COLUMN_BITS-1:0] column_reg, column_next;
    logic bad_next, bad_reg;
    logic [RAW_BITS-1:0] raw_reg;
    logic [LATENCY-1:0] valid_reg;
    logic [LATENCY*COLUMN_BITS-1:0] write_column_reg;

    wire ready = (state_reg == RECEIVE && (enable || column_reg != 0)) || state_reg == DROP;
    wire accept = s_axis_x_tvalid && ready;
    wire last = column_reg == LAST;
    wire good = last == s_axis_x_tlast;
    wire [ENTRY_BITS-1:0] entry = ENTRIES > 1 ? ENTRY_BITS'(column_reg) : {ENTRY_BITS{1'b0}};
    wire [COLUMN_BITS-1:0] write_column = write_column_reg[LATENCY*COLUMN_BITS-1 -: COLUMN_BITS];
    wire write = valid_reg[LATENCY-1];
    wire signed [OFFSET_BITS-1:0] offset;
    wire signed [GAIN_BITS-1:0] gain;
    wire [X_BITS-1:0] converted;

    always_comb begin
        state_next = state_reg;
        column_next = column_reg;
        bad_next = 1'b0;
        case (state_reg)
            RECEIVE: if (accept) begin
                column_next = last ? {COLUMN_BITS{1'b0}} : column_reg + 1'b1;
                if (!good) begin
                    bad_next = 1'b1;
                    column_next = {COLUMN_BITS{1'b0}};
                end
                if (last && good) state_next = SETTLE;
                if (last && !good) state_next = DROP;
            end
            DROP: if (accept && s_axis_x_tlast) state_next = RECEIVE;
            SETTLE: if (write && write_column == LAST) state_next = HOLD;
            HOLD: if (done) state_next = RECEIVE;
            default: state_next = RECEIVE;
        endcase
    end

    always_ff @(posedge clk) begin
        state_reg <= state_next;
        column_reg <= column_next;
        bad_reg <= bad_next;
        raw_reg <= s_axis_x_tdata[RAW_BITS-1:0];
        // Not a word of a beat that ends a bad sample: the last column is only ever written by a good one.
        valid_reg <= {valid_reg[LATENCY-2:0], accept && state_reg == RECEIVE && good};
        write_column_reg <= {write_column_reg[(LATENCY-1)*COLUMN_BITS-1:0], column_reg};
        if (rst) begin
            state_reg <= RECEIVE;
            column_reg <= {COLUMN_BITS{1'b0}};
            bad_reg <= 1'b0;
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
    kc_ram #(.WIDTH(X_BITS), .DEPTH(COLUMNS))
        x_inst (.clk(clk), .write_enable(write), .write_address(write_column), .write_data(converted),
                .read_address(column), .read_data(x));

    assign s_axis_x_tready = ready;
    assign busy = state_reg != RECEIVE || column_reg != 0;
    assign full = state_reg == HOLD;
    assign bad = bad_reg;
endmodule

`default_nettype wire
