// kerncast: a memory of rows of LANES words, a bank for each lane; a row is written under a mask, and a row is read.
// The row comes one clock after its address, lane l in its l-th WIDTH bits.  SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_banks #(
    parameter WIDTH = 16,
    parameter ROWS = 2,
    parameter LANES = 1,                    // a power of two
    parameter ROW_BITS = ROWS > 1 ? $clog2(ROWS) : 1
) (
    input  wire clk,
    input  wire [LANES-1:0] write_mask,
    input  wire [ROW_BITS-1:0] write_row,
    input  wire [LANES*WIDTH-1:0] write_data,
    input  wire [ROW_BITS-1:0] read_row,
    output wire [LANES*WIDTH-1:0] read_data
);
    genvar lane;

    generate
        // There is no such module: elaboration ends here.  Not every simulator has $error for it.
        if (LANES < 1 || (LANES & (LANES - 1)) != 0) begin : refused
            LANES_must_be_a_power_of_two lanes ();
        end
        for (lane = 0; lane < LANES; lane = lane + 1) begin : bank
            kc_ram #(.WIDTH(WIDTH), .DEPTH(ROWS))
                ram_inst (.clk(clk), .write_enable(write_mask[lane]), .write_address(write_row),
                          .write_data(write_data[lane*WIDTH +: WIDTH]), .read_address(read_row),
                          .read_data(read_data[lane*WIDTH +: WIDTH]));
        end
    endgenerate
endmodule

`default_nettype wire
