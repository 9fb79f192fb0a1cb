// kerncast: subtracts the intercept b = w'y from the targets of a banded system. The sum grows as y arrives; after
// `start` every word y - b is written to the solver, which `run` starts. TABLE holds the first weights; the last of them
// is that of all words up to the last ones, whose weights mirror those of the first. b is limited so that y - b fits.
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_centre #(
    parameter int N = 2,
    parameter int W = 16,
    parameter int WEIGHTS = 1,
    parameter int PRODUCT_SHIFT = 0,              // constants of the plan: weight_shift, intercept_shift and the limits
    parameter int SUM_SHIFT = 31,
    parameter int ROUNDING = 1,                   // of b
    parameter logic signed [63:0] LO = -32768,
    parameter logic signed [63:0] HI = 32767,
    parameter logic [WEIGHTS*32-1:0] TABLE = 0,   // entry 0 in the lowest bits
    parameter int INDEX_BITS = $clog2(N)
) (
    input  wire clk,
    input  wire rst,
    input  wire y_write,                      // y, one clock or more before `start`
    input  wire [INDEX_BITS-1:0] y_index,
    input  wire [W-1:0] y_word,
    input  wire start,
    output wire released,                     // for one clock: the next y may be written
    output wire write,
    output wire [INDEX_BITS-1:0] index,
    output wire [W-1:0] word,
    output wire run,                          // for one clock: every word was written
    output wire limited,                      // stable, as the intercept, until the next `start`
    output wire [W-1:0] intercept
);
    localparam PIECE = 16;
    localparam PRODUCT_BITS = W + 32;
    localparam SUM_BITS = 62;
    localparam ADDRESS_BITS = WEIGHTS > 1 ? $clog2(WEIGHTS) : 1;
    localparam [INDEX_BITS-1:0] LAST = INDEX_BITS'(N - 1), LAST_WEIGHT = INDEX_BITS'(WEIGHTS - 1);
    localparam [3:0] CLOCKS = 9;              // from `start` to b

    typedef enum logic [1:0] {IDLE, SETTLE, PASS, FINISH} state_t;

    state_t state_reg;
    logic [3:0] clock_reg;

    // ---- the sum: a word is added six clocks after it came ----
    logic [4:0] valid_reg, first_reg;
    logic [ADDRESS_BITS-1:0] address_reg;
    logic signed [W-1:0] y_1_reg, y_2_reg, y_3_reg;
    logic signed [31:0] weight_reg;
    logic signed [W+PIECE:0] low_reg, high_reg;
    logic signed [PRODUCT_BITS-1:0] product_reg;
    logic signed [SUM_BITS-1:0] sum_reg;
    wire [31:0] weight;
    wire [INDEX_BITS-1:0] behind = LAST - y_index;
    wire [INDEX_BITS-1:0] nearer = behind < y_index ? behind : y_index;
    wire [INDEX_BITS-1:0] entry = nearer < LAST_WEIGHT ? nearer : LAST_WEIGHT;
    wire signed [PIECE:0] weight_low = {1'b0, weight_reg[PIECE-1:0]};
    wire signed [PIECE:0] weight_high = {weight_reg[31], weight_reg[31:PIECE]};
    wire signed [PRODUCT_BITS-1:0] high = PRODUCT_BITS'(high_reg) <<< PIECE;
    wire signed [PRODUCT_BITS-1:0] shifted = product_reg >>> PRODUCT_SHIFT;

    kc_rom #(.WIDTH(32), .DEPTH(WEIGHTS), .TABLE(TABLE))
        weight_inst (.clk(clk), .address(address_reg), .q(weight));

    // ---- b, and y - b two clocks after its index ----
    logic [INDEX_BITS-1:0] index_reg, index_1_reg, index_2_reg;
    logic reads_1_reg, reads_2_reg, limited_reg;
    logic signed [W-1:0] b_reg, centred_reg;
    wire signed [W-1:0] y;
    wire [W-1:0] b;
    wire outside;
    wire reads = state_reg == PASS;

    kc_ram #(.WIDTH(W), .DEPTH(N))
        y_inst (.clk(clk), .write_enable(y_write), .write_address(y_index), .write_data(y_word),
                .read_address(index_reg), .read_data(y));
    kc_requantise #(.V_BITS(SUM_BITS), .S_BITS(7), .ROUNDING(ROUNDING), .OUT_BITS(W), .LO(LO), .HI(HI), .CLOCKS(3),
                .LEFT(0))
        requantise_inst (.clk(clk), .v(sum_reg), .s(7'(SUM_SHIFT)), .q(b), .outside(outside));

    always_ff @(posedge clk) begin
        // The numbers: they need no reset.
        address_reg <= ADDRESS_BITS'(entry);
        y_1_reg <= y_word;
        y_2_reg <= y_1_reg;
        weight_reg <= weight;
        y_3_reg <= y_2_reg;
        low_reg <= y_3_reg * weight_low;
        high_reg <= y_3_reg * weight_high;
        product_reg <= high + PRODUCT_BITS'(low_reg);
        first_reg <= {first_reg[3:0], y_index == 0};
        if (valid_reg[4]) sum_reg <= (first_reg[4] ? {SUM_BITS{1'b0}} : sum_reg) + SUM_BITS'(shifted);
        if (state_reg == SETTLE) begin
            b_reg <= b;
            limited_reg <= outside;
        end
        index_1_reg <= index_reg;
        index_2_reg <= index_1_reg;
        centred_reg <= y - b_reg;

        valid_reg <= {valid_reg[3:0], y_write};
        reads_1_reg <= reads;
        reads_2_reg <= reads_1_reg;
        clock_reg <= state_reg == SETTLE ? clock_reg + 1'b1 : 4'd0;
        case (state_reg)
            IDLE: if (start) state_reg <= SETTLE;
            SETTLE: if (clock_reg == CLOCKS) state_reg <= PASS;
            PASS: begin
                index_reg <= index_reg == LAST ? {INDEX_BITS{1'b0}} : index_reg + 1'b1;
                if (index_reg == LAST) state_reg <= FINISH;
            end
            default: if (!reads_1_reg && !reads_2_reg) state_reg <= IDLE;
        endcase
        if (rst) begin
            state_reg <= IDLE;
            valid_reg <= 5'd0;
            index_reg <= {INDEX_BITS{1'b0}};
            reads_1_reg <= 1'b0;
            reads_2_reg <= 1'b0;
        end
    end

    assign write = reads_2_reg;
    assign index = index_2_reg;
    assign word = centred_reg;
    assign run = state_reg == FINISH && !reads_1_reg && !reads_2_reg;
    assign released = run;
    assign limited = limited_reg;
    assign intercept = b_reg;
endmodule

`default_nettype wire
