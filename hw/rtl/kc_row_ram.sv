// kerncast: a memory of rows of LANES words, which are written one by one and read a row at a time; the row comes
// one clock after its address, lane l in its l-th WIDTH bits.
//
// With the last word of a vector the lanes behind it become 0, so that a row may be longer than what is left of
// a vector.  SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_row_ram #(
    parameter WIDTH = 16,
    parameter ROWS = 2,
    parameter LANES = 1,                    // a power of two
    parameter ROW_BITS = ROWS > 1 ? $clog2(ROWS) : 1,
    parameter LANE_BITS = LANES > 1 ? $clog2(LANES) : 1
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
    wire [LANES-1:0] here = LANES'(1) << write_lane;
    wire [LANES-1:0] mask = write_last ? ~(here - 1'b1) : here;
    genvar lane;

    generate
        // There is no such module: elaboration ends here.  Not every simulator has $error for it.
        if (LANES < 1 || (LANES & (LANES - 1)) != 0) begin : refused
            LANES_must_be_a_power_of_two lanes ();
        end
        for (lane = 0; lane < LANES; lane = lane + 1) begin : bank
            kc_ram #(.WIDTH(WIDTH), .DEPTH(ROWS))
                ram_inst (.clk(clk), .write_enable(write_enable && mask[lane]), .write_address(write_row),
                          .write_data(here[lane] ? write_data : {WIDTH{1'b0}}), .read_address(read_row),
                          .read_data(read_data[lane*WIDTH +: WIDTH]));
        end
    endgenerate
endmodule

`default_nettype wire
