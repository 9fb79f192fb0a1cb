// kerncast: kc_ram_banked with an output register: a row of LANES words is written under a mask and read as a whole.
// Read latency: two clocks; a row that is read and written in one clock is undefined. Word i of a vector is in lane
// i mod LANES; lane l is in the l-th WIDTH bits.
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_ram_banked_reg #(
    parameter int WIDTH = 16,
    parameter int ROWS = 2,
    parameter int LANES = 1,
    parameter int ROW_BITS = ROWS > 1 ? $clog2(ROWS) : 1
) (
    input  wire clk,
    input  wire [LANES-1:0] write_mask,
    input  wire [ROW_BITS-1:0] write_row,
    input  wire [LANES*WIDTH-1:0] write_data,
    input  wire [ROW_BITS-1:0] read_row,
    output wire [LANES*WIDTH-1:0] read_data
);
    wire [LANES*WIDTH-1:0] row;
    logic [LANES*WIDTH-1:0] read_data_reg;

    kc_ram_banked #(.WIDTH(WIDTH), .ROWS(ROWS), .LANES(LANES), .READ_OLD(0))
        ram_banked_inst (.clk(clk), .write_mask(write_mask), .write_row(write_row), .write_data(write_data),
                    .read_row(read_row), .read_data(row));

    always_ff @(posedge clk) read_data_reg <= row;

    assign read_data = read_data_reg;
endmodule

`default_nettype wire
