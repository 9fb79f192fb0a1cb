// kerncast: banked RAM with a sliding window: rows are written as in kc_ram_banked_reg; LANES words are read
// downwards from any index: lane l gets word top - l. `top` places the window, `down` moves it by LANES words down.
// Read latency: three clocks.
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_ram_sliding #(
    parameter int WIDTH = 16,
    parameter int ROWS = 2,
    parameter int LANES = 1,                              // a power of two
    parameter int ROW_BITS = ROWS > 1 ? $clog2(ROWS) : 1,
    parameter int LANE_BITS = $clog2(LANES)
) (
    input  wire clk,
    input  wire [LANES-1:0] write_mask,
    input  wire [ROW_BITS-1:0] write_row,
    input  wire [LANES*WIDTH-1:0] write_data,
    input  wire down,                                 // `top` is ignored
    input  wire [ROW_BITS+LANE_BITS-1:0] top,         // words below index 0 or just written are undefined
    output wire [LANES*WIDTH-1:0] read_data
);
    localparam INDEX_BITS = ROW_BITS + LANE_BITS;
    localparam LOW = LANES - 1;                       // mask of the bank number

    wire [LANES*WIDTH-1:0] bank_data;
    logic [LANES*WIDTH-1:0] bank_data_reg;
    logic [INDEX_BITS-1:0] low_reg, low_2_reg, low_3_reg;   // the place of `top` in its row
    genvar lane;

    always_ff @(posedge clk) begin
        if (!down) low_reg <= top & INDEX_BITS'(LOW);
        low_2_reg <= low_reg;
        low_3_reg <= low_2_reg;
        bank_data_reg <= bank_data;
    end

    generate
        for (lane = 0; lane < LANES; lane = lane + 1) begin : bank
            // This bank holds the word of the window that is (top - bank) mod LANES below top: in the row of top, or
            // in the one below. The row is counted here, so that nothing is added between a register and the memory.
            logic [ROW_BITS-1:0] row_reg;
            wire [ROW_BITS-1:0] top_row = top[INDEX_BITS-1:LANE_BITS];
            // verilator lint_off UNSIGNED
            wire below = (top & INDEX_BITS'(LOW)) < INDEX_BITS'(lane);    // never in bank 0
            // verilator lint_on UNSIGNED
            wire [INDEX_BITS-1:0] source = (low_3_reg - INDEX_BITS'(lane)) & INDEX_BITS'(LOW);

            always_ff @(posedge clk) row_reg <= (down ? row_reg : top_row) - ROW_BITS'(down || below);

            kc_ram #(.WIDTH(WIDTH), .DEPTH(ROWS), .READ_OLD(0))
                ram_inst (.clk(clk), .write_enable(write_mask[lane]), .write_address(write_row),
                          .write_data(write_data[lane*WIDTH +: WIDTH]), .read_address(row_reg),
                          .read_data(bank_data[lane*WIDTH +: WIDTH]));

            assign read_data[lane*WIDTH +: WIDTH] = bank_data_reg[source*WIDTH +: WIDTH];
        end
    endgenerate
endmodule

`default_nettype wire
