// kerncast: banked RAM with a sliding window: rows are written as in kc_ram_banked_reg; LANES words are read
// downwards from any index: lane l gets word top - l. Read latency: two clocks.
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_ram_sliding #(
    parameter WIDTH = 16,
    parameter ROWS = 2,
    parameter LANES = 1,                              // a power of two
    parameter ROW_BITS = ROWS > 1 ? $clog2(ROWS) : 1,
    parameter LANE_BITS = $clog2(LANES)
) (
    input  wire clk,
    input  wire [LANES-1:0] write_mask,
    input  wire [ROW_BITS-1:0] write_row,
    input  wire [LANES*WIDTH-1:0] write_data,
    input  wire [ROW_BITS+LANE_BITS-1:0] top,         // words below index 0 or just written are undefined
    output wire [LANES*WIDTH-1:0] read_data
);
    localparam INDEX_BITS = ROW_BITS + LANE_BITS;
    localparam LOW = LANES - 1;                       // mask of the bank number

    wire [LANES*WIDTH-1:0] bank_data;
    logic [LANES*WIDTH-1:0] bank_data_reg;
    logic [INDEX_BITS-1:0] top_reg, top_2_reg;
    genvar lane;

    always_ff @(posedge clk) begin
        top_reg <= top;
        top_2_reg <= top_reg;
        bank_data_reg <= bank_data;
    end

    generate
        for (lane = 0; lane < LANES; lane = lane + 1) begin : bank
            // This bank holds the word of the window that is (top - bank) mod LANES below top.
            wire [INDEX_BITS-1:0] below = (top - INDEX_BITS'(lane)) & INDEX_BITS'(LOW);
            wire [INDEX_BITS-1:0] index = top - below;
            wire [INDEX_BITS-1:0] source = (top_2_reg - INDEX_BITS'(lane)) & INDEX_BITS'(LOW);

            kc_ram #(.WIDTH(WIDTH), .DEPTH(ROWS), .READ_OLD(0))
                ram_inst (.clk(clk), .write_enable(write_mask[lane]), .write_address(write_row),
                          .write_data(write_data[lane*WIDTH +: WIDTH]),
                          .read_address(index[INDEX_BITS-1:LANE_BITS]),
                          .read_data(bank_data[lane*WIDTH +: WIDTH]));

            assign read_data[lane*WIDTH +: WIDTH] = bank_data_reg[source*WIDTH +: WIDTH];
        end
    endgenerate
endmodule

`default_nettype wire
