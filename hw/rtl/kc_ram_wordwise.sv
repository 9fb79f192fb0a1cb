// kerncast: banked RAM that is written word by word and read row by row. Read latency: one clock; lane l is in the
// l-th WIDTH bits. Writing the last word of a vector clears the lanes behind it.
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_ram_wordwise #(
    parameter int WIDTH = 16,
    parameter int ROWS = 2,
    parameter int LANES = 1,                    // a power of two
    parameter int ROW_BITS = ROWS > 1 ? $clog2(ROWS) : 1,
    parameter int LANE_BITS = LANES > 1 ? $clog2(LANES) : 1
) (
    input  wire clk,
    input  wire write_enable,
    input  wire [ROW_BITS-1:0] write_row,
    input  wire [LANE_BITS-1:0] write_lane,
    input  wire write_last,                 // the word is the last of its vector
    input  wire [WIDTH-1:0] write_data,
    input  wire [ROW_BITS-1:0] read_row,
    output wire [LANES*WIDTH-1:0] read_data
);
    wire [LANES-1:0] mask;
    wire [LANES*WIDTH-1:0] row;

    kc_ram_word_mask #(.WIDTH(WIDTH), .LANES(LANES))
        word_inst (.word(write_data), .lane(write_lane), .last(write_last), .mask(mask), .row(row));
    kc_ram_banked #(.WIDTH(WIDTH), .ROWS(ROWS), .LANES(LANES))
        ram_banked_inst (.clk(clk), .write_mask(mask & {LANES{write_enable}}), .write_row(write_row), .write_data(row),
                    .read_row(read_row), .read_data(read_data));
endmodule

`default_nettype wire
