// kerncast: RAM with one bank per lane: a row of LANES words is written under a mask and read as a whole. Read
// latency: one clock. Lane l is in the l-th WIDTH bits.
//
//   vector index   0 1 2 3 4 5 6 7 ...        LANES = 4: row = index / 4, lane = index mod 4
//   row            0 0 0 0 1 1 1 1
//   lane           0 1 2 3 0 1 2 3
//
//   kc_ram_banked      row in, row out                     kc_ram_wordwise   word in, row out
//   kc_ram_banked_reg  the same, one clock later           kc_ram_sliding    row in, words top, top - 1, ... out
//   kc_ram_lane_of     index -> lane, end of row           kc_ram_word_mask  word -> mask and data of its row
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_ram_banked #(
    parameter int WIDTH = 16,
    parameter int ROWS = 2,
    parameter int LANES = 1,                    // a power of two
    parameter bit READ_OLD = 1,                 // as of kc_ram
    parameter int ROW_BITS = ROWS > 1 ? $clog2(ROWS) : 1
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
        // No such module exists, so elaboration stops here; not every simulator supports $error in a generate.
        if (LANES < 1 || (LANES & (LANES - 1)) != 0) begin : refused
            LANES_must_be_a_power_of_two lanes ();
        end
        for (lane = 0; lane < LANES; lane = lane + 1) begin : bank
            kc_ram #(.WIDTH(WIDTH), .DEPTH(ROWS), .READ_OLD(READ_OLD))
                ram_inst (.clk(clk), .write_enable(write_mask[lane]), .write_address(write_row),
                          .write_data(write_data[lane*WIDTH +: WIDTH]), .read_address(read_row),
                          .read_data(read_data[lane*WIDTH +: WIDTH]));
        end
    endgenerate
endmodule

`default_nettype wire
