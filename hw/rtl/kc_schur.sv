// kerncast: the factor of a banded Toeplitz matrix T + lambda I = L D L', by Schur's recursion on two generators u and v
// in fixed point, where ROW is the first row of T from lag 1, and u_0 and v_1 are those of the current column:
//
//   L[i+j, i] = u_j / u_0,   d_i = u_0
//   k = v_1 / u_0,           (u_j, v_j) <- (u_j - k v_{j+1}, v_{j+1} - k u_j)
//
// It writes the ROWS columns of L that differ, and 1 / d_i, into the memories of the solver. `lambda` must be stable from
// `start` to `done`. `failed`: the matrix is not positive definite.
//
// One hardware multiplier: three products per lag of a column, of 1 / d_i and u_j, and of k and each generator. The next
// division begins when u_0 of the next column is written.
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_schur #(
    parameter int W = 16,                     // of an entry of L
    parameter int BAND = 1,
    parameter int ROWS = 1,
    parameter int LAMBDA_FRAC = 24,           // fraction bits of lambda, ROW and the generators
    parameter int PIVOT_FRAC = 29,
    parameter int FACTOR_FRAC = 15,
    parameter logic [BAND*32-1:0] ROW = 0,
    parameter int ENTRY_BITS = ROWS*BAND > 1 ? $clog2(ROWS*BAND) : 1,
    parameter int ROW_BITS = ROWS > 1 ? $clog2(ROWS) : 1
) (
    input  wire clk,
    input  wire rst,
    input  wire start,
    input  wire [31:0] lambda,                // 1 + lambda has 31 bits
    output wire done,                         // for one clock
    output wire failed,                       // until the next start
    output wire factor_write,
    output wire [ENTRY_BITS-1:0] factor_address,
    output wire [W-1:0] factor_word,
    output wire pivot_write,
    output wire [ROW_BITS-1:0] pivot_address,
    output wire [31:0] pivot_word
);
    localparam K_FRAC = 31;
    localparam SCALE = LAMBDA_FRAC + PIVOT_FRAC;   // fraction bits of a product of d and 1 / d
    localparam LAG_BITS = $clog2(BAND + 1);
    localparam ROM_BITS = BAND > 1 ? $clog2(BAND) : 1;
    localparam [LAG_BITS-1:0] LAST_LAG = LAG_BITS'(BAND);
    localparam signed [63:0] HI = (64'sd1 <<< (W - 1)) - 64'sd1;
    localparam signed [63:0] LO = -HI - 64'sd1;
    localparam signed [63:0] MOST_PIVOT = 64'sd2147483647;
    localparam signed [63:0] HALF = 64'sd1 <<< (K_FRAC - 1);
    localparam LAT = 6;                       // clocks from a lag to its value
    localparam [2:0] DRAINED = 3'd5;          // since the last lag
    localparam [2:0] CHECKED = 3'd2;          // since the quotient
    localparam [2:0] SCALED = 3'd4;
    localparam [1:0] OF_FACTOR = 2'd0, OF_U = 2'd1, OF_V = 2'd2;

    typedef enum logic [2:0] {IDLE, FILL, DIVIDE, SCALE_COLUMN, LAGS} state_t;

    state_t state_reg;
    logic done_reg, failed_reg;
    logic [2:0] clock_reg;
    logic [LAG_BITS-1:0] lag_reg;
    logic [1:0] product_of_reg;
    logic [ROW_BITS-1:0] column_reg;
    logic [ENTRY_BITS-1:0] entry_reg;
    wire last_column = column_reg == ROW_BITS'(ROWS - 1);
    wire scaling = state_reg == SCALE_COLUMN;

    // ---- pipeline control: stage k holds a product k clocks after the address of its lag ----
    logic [LAT-1:0] valid_reg;
    logic [LAT*2-1:0] of_reg;
    logic [LAT*LAG_BITS-1:0] lags_reg;
    wire written = valid_reg[LAT-1];
    wire [1:0] written_of = of_reg[2*LAT-1 -: 2];
    wire [LAG_BITS-1:0] written_lag = lags_reg[LAT*LAG_BITS-1 -: LAG_BITS];
    wire not_first = written_lag != 0;

    // ---- the generators: v_{j+1} is at j, and v_{BAND+1} is 0 ----
    logic fill_valid_reg;
    logic [LAG_BITS-1:0] fill_lag_reg;
    logic signed [31:0] result_reg, u_first_reg, v_first_reg;
    wire [31:0] row_word;
    wire fill_begins = state_reg == FILL && lag_reg == 0;
    wire result_of_u = written && written_of == OF_U;
    wire result_of_v = written && written_of == OF_V && not_first;
    wire u_write = fill_begins || fill_valid_reg || result_of_u;
    wire v_write = fill_begins || fill_valid_reg || result_of_v;
    wire [LAG_BITS-1:0] u_address = fill_begins ? {LAG_BITS{1'b0}} : fill_valid_reg ? fill_lag_reg + 1'b1 : written_lag;
    wire [LAG_BITS-1:0] v_address = fill_begins ? LAST_LAG : fill_valid_reg ? fill_lag_reg : written_lag - 1'b1;
    wire [31:0] u_data = fill_begins ? (32'd1 << LAMBDA_FRAC) + lambda : fill_valid_reg ? row_word : result_reg;
    wire [31:0] v_data = fill_begins ? 32'd0 : fill_valid_reg ? row_word : result_reg;
    wire u_first_written = u_write && u_address == 0;
    wire signed [31:0] u, v;

    kc_rom #(.WIDTH(32), .DEPTH(BAND), .TABLE(ROW))
        row_inst (.clk(clk), .address(lag_reg[ROM_BITS-1:0]), .q(row_word));
    kc_ram #(.WIDTH(32), .DEPTH(BAND + 1))
        u_inst (.clk(clk), .write_enable(u_write), .write_address(u_address), .write_data(u_data),
                .read_address(lag_reg), .read_data(u));
    kc_ram #(.WIDTH(32), .DEPTH(BAND + 1))
        v_inst (.clk(clk), .write_enable(v_write), .write_address(v_address), .write_data(v_data),
                .read_address(lag_reg), .read_data(v));

    // ---- 1 / u_0, and from it 1 / d and k ----
    logic prepare_reg, divide_reg, divided_reg;
    logic signed [32:0] sum_reg, difference_reg;   // u_0 + v_1 and u_0 - v_1
    logic signed [7:0] drop_reg;
    logic [5:0] down_reg;
    logic signed [63:0] coarse_reg;
    logic signed [31:0] k_reg;
    logic [31:0] pivot_reg;
    logic pivot_write_reg;
    wire divided, unused_pivot_outside, unused_factor_outside;
    wire signed [32:0] q;
    wire signed [7:0] e;
    wire [31:0] pivot;
    wire signed [63:0] fine = coarse_reg >>> down_reg[2:0];
    wire positive = !sum_reg[32] && sum_reg != 0 && !difference_reg[32] && difference_reg != 0 && !drop_reg[7];

    kc_divide #(.NUM_BITS(2), .DEN_BITS(32)) divide_inst (
        .clk(clk), .rst(rst), .prepare(prepare_reg), .den(u_first_reg), .start(divide_reg), .num(2'sd1),
        .done(divided), .q(q), .e(e)
    );
    kc_requantise #(.V_BITS(33), .S_BITS(7), .ROUNDING(1), .OUT_BITS(32), .LO(0), .HI(MOST_PIVOT), .CLOCKS(3), .LEFT(0))
        pivot_inst (.clk(clk), .v(q), .s(drop_reg[6:0]), .q(pivot), .outside(unused_pivot_outside));

    // ---- the product of a lag ----
    logic signed [31:0] a_reg, c_reg, own_2_reg, own_3_reg, own_4_reg, own_5_reg;
    logic signed [48:0] low_reg, high_reg;
    logic signed [63:0] product_reg;
    logic signed [32:0] rounded_reg;
    wire [1:0] read_of = of_reg[1:0];
    wire signed [16:0] c_low = {1'b0, c_reg[15:0]};
    wire signed [16:0] c_high = {c_reg[31], c_reg[31:16]};
    wire signed [63:0] high = 64'(high_reg) <<< 16;
    wire signed [63:0] rounded = (product_reg + HALF) >>> K_FRAC;

    kc_requantise #(.V_BITS(64), .S_BITS(7), .ROUNDING(1), .OUT_BITS(W), .LO(LO), .HI(HI), .LEFT(0))
        factor_inst (.clk(clk), .v(product_reg), .s(7'(SCALE - FACTOR_FRAC)), .q(factor_word),
                     .outside(unused_factor_outside));

    always_ff @(posedge clk) begin
        // The numbers: they need no reset.
        a_reg <= scaling ? v_first_reg : read_of == OF_U ? v : u;
        c_reg <= scaling ? q[31:0] : read_of == OF_FACTOR ? pivot_reg : k_reg;
        own_2_reg <= read_of == OF_U ? u : v;
        own_3_reg <= own_2_reg;
        own_4_reg <= own_3_reg;
        own_5_reg <= own_4_reg;
        low_reg <= a_reg * c_low;
        high_reg <= a_reg * c_high;
        product_reg <= high + 64'(low_reg);
        rounded_reg <= rounded[32:0];
        result_reg <= own_5_reg - rounded_reg[31:0];
        coarse_reg <= product_reg >>> {down_reg[5:3], 3'd0};
        if (u_first_written) u_first_reg <= u_data;
        if (v_write && v_address == 0) v_first_reg <= v_data;
        sum_reg <= 33'(u_first_reg) + 33'(v_first_reg);
        difference_reg <= 33'(u_first_reg) - 33'(v_first_reg);
        drop_reg <= 8'(K_FRAC - SCALE) - e;
        down_reg <= 6'(-e);
        if (scaling && clock_reg == SCALED) begin
            k_reg <= fine[31:0];
            pivot_reg <= pivot;
        end
        pivot_write_reg <= scaling && clock_reg == SCALED;

        valid_reg <= {valid_reg[LAT-2:0], state_reg == LAGS};
        of_reg <= {of_reg[2*LAT-3:0], product_of_reg};
        lags_reg <= {lags_reg[(LAT-1)*LAG_BITS-1:0], lag_reg};
        fill_valid_reg <= state_reg == FILL;
        fill_lag_reg <= lag_reg;
        if (factor_write) entry_reg <= entry_reg + 1'b1;
        prepare_reg <= u_first_written && (state_reg == FILL || !last_column);
        divide_reg <= prepare_reg;
        divided_reg <= divided || (divided_reg && !prepare_reg);
        clock_reg <= clock_reg == 3'd7 ? clock_reg : clock_reg + 1'b1;
        done_reg <= 1'b0;
        case (state_reg)
            IDLE: if (start) begin
                failed_reg <= 1'b0;
                lag_reg <= {LAG_BITS{1'b0}};
                column_reg <= {ROW_BITS{1'b0}};
                entry_reg <= {ENTRY_BITS{1'b0}};
                divided_reg <= 1'b0;
                state_reg <= FILL;
            end
            FILL: begin
                lag_reg <= lag_reg + 1'b1;
                clock_reg <= 3'd0;
                if (lag_reg == LAST_LAG - 1'b1) state_reg <= DIVIDE;
            end
            DIVIDE: begin
                lag_reg <= {LAG_BITS{1'b0}};
                product_of_reg <= OF_FACTOR;
                if (clock_reg >= DRAINED && (divided || divided_reg)) begin
                    clock_reg <= 3'd0;
                    state_reg <= SCALE_COLUMN;
                end
            end
            SCALE_COLUMN: if (clock_reg == CHECKED && !positive) begin
                failed_reg <= 1'b1;
                done_reg <= 1'b1;
                state_reg <= IDLE;
            end else if (clock_reg == SCALED) state_reg <= LAGS;
            default: begin
                clock_reg <= 3'd0;
                product_of_reg <= product_of_reg == OF_V ? OF_FACTOR : product_of_reg + 1'b1;
                if (product_of_reg == OF_V) lag_reg <= lag_reg + 1'b1;
                if (product_of_reg == OF_V && lag_reg == LAST_LAG) begin
                    if (!last_column) column_reg <= column_reg + 1'b1;
                    done_reg <= last_column;
                    state_reg <= last_column ? IDLE : DIVIDE;
                end
            end
        endcase
        if (rst) begin
            state_reg <= IDLE;
            valid_reg <= {LAT{1'b0}};
            fill_valid_reg <= 1'b0;
            prepare_reg <= 1'b0;
            divide_reg <= 1'b0;
            pivot_write_reg <= 1'b0;
            done_reg <= 1'b0;
        end
    end

    assign done = done_reg;
    assign failed = failed_reg;
    assign factor_write = written && written_of == OF_FACTOR && not_first;
    assign factor_address = entry_reg;
    assign pivot_write = pivot_write_reg;
    assign pivot_address = column_reg;
    assign pivot_word = pivot_reg;
endmodule

`default_nettype wire
