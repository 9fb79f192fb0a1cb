// kerncast: symmetric FIR filter of 2 LAG + 1 taps, exact until the one cast of its result.
//
// A sample enters with `valid`, at most one every ROWS = ceil((LAG + 1) / LANES) clocks. As soon as 2 LAG + 1 samples
// of a record are held, each further one has a value LATENCY clocks later; before, `no_value` is high for a clock.
// After `last` the next sample begins a record. The two samples of a lag are added before their multiplication.
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_symmetric_fir #(
    parameter int W = 16,                       // of samples and taps, two's complement
    parameter int LAG = 1,
    parameter int LANES = 1,                    // hardware multipliers: a power of two
    parameter logic [(LAG+1)*W-1:0] TAPS = 0,   // lag 0 in the lowest bits
    parameter int ACC_BITS = 64,                // holds every sum, and a product
    parameter int SHIFT = 0,
    parameter int ROUNDING = 1,
    parameter int OUT_BITS = 16,                // width that holds LO and HI
    parameter logic signed [63:0] LO = -32768,
    parameter logic signed [63:0] HI = 32767
) (
    input  wire clk,
    input  wire rst,
    input  wire valid,
    input  wire last,
    input  wire [W-1:0] y,
    output wire no_value,                       // the sample of the last clock has none
    output wire done,
    output wire done_last,                      // it is the value of the last sample of a record
    output wire [OUT_BITS-1:0] f,
    output wire outside                         // f is saturated
);
    localparam ROWS = (LAG + LANES) / LANES;
    localparam ROW_BITS = ROWS > 1 ? $clog2(ROWS) : 1;
    localparam COUNT_BITS = $clog2(2*LAG + 1);
    localparam CELLS = ROWS * LANES;
    localparam CAST_CLOCKS = 3;
    localparam AFTER = 3 + $clog2(LANES) + CAST_CLOCKS;   // clocks from the last row to the value
    localparam signed [6:0] S = 7'(SHIFT);
    localparam [CELLS*W-1:0] WEIGHTS = (CELLS*W)'(TAPS);

    logic [(2*LAG+1)*W-1:0] line_reg;           // the latest sample in the lowest bits
    logic [COUNT_BITS-1:0] count_reg;           // samples of the record before the next one, at most 2 LAG
    logic active_reg, of_last_reg, no_value_reg;
    logic [ROW_BITS-1:0] row_reg;
    logic first_reg, row_valid_reg;
    logic [LANES*(W+1)-1:0] pair_reg;
    logic [LANES*W-1:0] tap_reg;
    logic [AFTER-1:0] done_reg, last_reg;
    wire [CELLS*W-1:0] newer, older;            // samples at the lags
    wire [LANES*ACC_BITS-1:0] sums;
    wire signed [ACC_BITS-1:0] total;
    wire full = count_reg == COUNT_BITS'(2*LAG);
    wire last_row = row_reg == ROW_BITS'(ROWS - 1);
    wire [LANES*W-1:0] newer_row = newer[row_reg*(LANES*W) +: LANES*W];
    wire [LANES*W-1:0] older_row = older[row_reg*(LANES*W) +: LANES*W];
    wire [LANES*W-1:0] tap_row = WEIGHTS[row_reg*(LANES*W) +: LANES*W];
    genvar j;

    generate
        for (j = 0; j < CELLS; j = j + 1) begin : lag
            if (j <= LAG) begin : g_newer
                assign newer[j*W +: W] = line_reg[(LAG-j)*W +: W];
            end else begin : g_no_newer
                assign newer[j*W +: W] = {W{1'b0}};
            end
            if (j > 0 && j <= LAG) begin : g_older
                assign older[j*W +: W] = line_reg[(LAG+j)*W +: W];
            end else begin : g_no_older
                assign older[j*W +: W] = {W{1'b0}};
            end
        end
        for (j = 0; j < LANES; j = j + 1) begin : lane
            always_ff @(posedge clk) begin
                pair_reg[j*(W+1) +: W+1] <= {newer_row[j*W+W-1], newer_row[j*W +: W]}
                                            + {older_row[j*W+W-1], older_row[j*W +: W]};
                tap_reg[j*W +: W] <= tap_row[j*W +: W];
            end

            kc_mac #(.A_BITS(W), .B_BITS(W + 1), .SHIFT(0), .ACC_BITS(ACC_BITS)) mac_inst (
                .clk(clk), .valid(row_valid_reg), .first(first_reg), .a(tap_reg[j*W +: W]),
                .b(pair_reg[j*(W+1) +: W+1]), .acc(sums[j*ACC_BITS +: ACC_BITS])
            );
        end
    endgenerate

    kc_sum_tree #(.WIDTH(ACC_BITS), .LANES(LANES)) tree_inst (.clk(clk), .words(sums), .sum(total));
    kc_requantise #(.V_BITS(ACC_BITS), .S_BITS(7), .ROUNDING(ROUNDING), .OUT_BITS(OUT_BITS), .LO(LO), .HI(HI),
                    .CLOCKS(CAST_CLOCKS), .LEFT(0))
        requantise_inst (.clk(clk), .v(total), .s(S), .q(f), .outside(outside));

    always_ff @(posedge clk) begin
        if (valid) begin
            line_reg <= {line_reg[2*LAG*W-1:0], y};
            count_reg <= last ? {COUNT_BITS{1'b0}} : full ? count_reg : count_reg + 1'b1;
            of_last_reg <= last;
        end
        no_value_reg <= valid && !full;
        active_reg <= (valid && full) || (active_reg && !last_row);
        row_reg <= valid || last_row ? {ROW_BITS{1'b0}} : row_reg + ROW_BITS'(active_reg);
        first_reg <= row_reg == 0;
        row_valid_reg <= active_reg;
        done_reg <= {done_reg[AFTER-2:0], active_reg && last_row};
        last_reg <= {last_reg[AFTER-2:0], of_last_reg};
        if (rst) begin
            count_reg <= {COUNT_BITS{1'b0}};
            no_value_reg <= 1'b0;
            active_reg <= 1'b0;
            row_reg <= {ROW_BITS{1'b0}};
            done_reg <= {AFTER{1'b0}};
        end
    end

    assign no_value = no_value_reg;
    assign done = done_reg[AFTER-1];
    assign done_last = last_reg[AFTER-1];
endmodule

`default_nettype wire
