// kerncast: dictionary of a learner, in rows of LANES words, and a buffer for one vector that was moved aside.
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

// `put` writes one word. `exchange` copies the row of a slot that was read in the previous clock to the buffer and, if
// `inserting` is high, writes the row of the sample in its place. Columns behind the last one are 0.
module kc_learner_vectors #(
    parameter int WIDTH = 16,
    parameter int SLOTS = 2,
    parameter int ROWS = 1,                      // rows per vector
    parameter int LANES = 1,                     // a power of two
    parameter int ROW_BITS = ROWS > 1 ? $clog2(ROWS) : 1,
    parameter int V_ROW_BITS = $clog2(SLOTS * ROWS),
    parameter int LANE_BITS = LANES > 1 ? $clog2(LANES) : 1
) (
    input  wire clk,
    input  wire put,
    input  wire [V_ROW_BITS-1:0] put_row,
    input  wire [LANE_BITS-1:0] put_lane,
    input  wire put_last,                    // last word of its vector
    input  wire [WIDTH-1:0] put_word,
    input  wire exchange,                    // v belongs to `exchange_v_row`, x to `exchange_row`
    input  wire inserting,
    input  wire [ROW_BITS-1:0] exchange_row,
    input  wire [V_ROW_BITS-1:0] exchange_v_row,
    input  wire [LANES*WIDTH-1:0] x,
    input  wire [V_ROW_BITS-1:0] v_row,      // read ports, read latency one clock
    output wire [LANES*WIDTH-1:0] v,
    input  wire [ROW_BITS-1:0] row,
    output wire [LANES*WIDTH-1:0] aside
);
    wire [LANES-1:0] put_mask;
    wire [LANES*WIDTH-1:0] put_data, aside_data;
    wire aside_write;
    wire [ROW_BITS-1:0] aside_row;

    kc_ram_word_mask #(.WIDTH(WIDTH), .LANES(LANES))
        word_inst (.word(put_word), .lane(put_lane), .last(put_last), .mask(put_mask), .row(put_data));
    kc_ram_banked #(.WIDTH(WIDTH), .ROWS(SLOTS * ROWS), .LANES(LANES))
        v_inst (.clk(clk), .write_mask(put ? put_mask : {LANES{exchange && inserting}}),
                .write_row(put ? put_row : exchange_v_row), .write_data(put ? put_data : x),
                .read_row(v_row), .read_data(v));

    generate
        if (ROWS > 1) begin : g_many_rows
            // One clock after the read; the next pass starts with another row.
            logic aside_reg;
            logic [ROW_BITS-1:0] aside_row_reg;
            logic [LANES*WIDTH-1:0] aside_data_reg;

            always_ff @(posedge clk) begin
                aside_reg <= exchange;
                aside_row_reg <= exchange_row;
                aside_data_reg <= v;
            end

            assign aside_write = aside_reg;
            assign aside_row = aside_row_reg;
            assign aside_data = aside_data_reg;
        end else begin : g_one_row
            assign aside_write = exchange;
            assign aside_row = exchange_row;
            assign aside_data = v;
        end
    endgenerate

    kc_ram_banked #(.WIDTH(WIDTH), .ROWS(ROWS), .LANES(LANES))
        aside_inst (.clk(clk), .write_mask({LANES{aside_write}}), .write_row(aside_row), .write_data(aside_data),
                    .read_row(row), .read_data(aside));
endmodule

`default_nettype wire
