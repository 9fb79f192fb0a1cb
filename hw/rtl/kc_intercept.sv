// kerncast: alpha and the intercept b of (T + lambda I) alpha = y - b with 1'alpha = 0, from two solutions of the same
// Levinson recursion (T. Schouten, J. A. K. Suykens, B. De Moor, "Multi resolution least squares SVM solver", 2000,
// eqs. 2 to 4): T z = y / (1 + lambda), T eta = 1 / (1 + lambda), b = 1'z / 1'eta, alpha = z - b eta.
//
//   SCAN      right-hand side 1; the shift `up` that y / (1 + lambda) needs
//   ETA       after the first solution: eta / (1 + lambda), and its sum
//   TARGETS   right-hand side y / (1 + lambda), shifted right by `up`
//   SUM       after the second one: the sum of z
//   CORRECT   alpha = z - b eta, in the memory of eta
//
// A block that is scaled several times is rounded half up each time. That equals one shift after the halves of all
// scalings are added: `halves_reg` has a bit for each scaling, and a word takes those since its own.
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_intercept #(
    parameter int N = 2,
    parameter int W = 16,
    parameter logic [30:0] RIDGE_SCALE = 0,         // constants of the plan, under their names there
    parameter int RESIDUAL_SHIFT = 0,
    parameter int ALPHA_FRAC = 15,
    parameter int ALPHA_EXP_MIN = -8,
    parameter int ALPHA_EXP_MAX = 8,
    parameter int TARGET_SHIFT = 0,               // from y * RIDGE_SCALE to the residual for alpha = 0
    parameter int ROUNDING = 1,                   // of alpha and eta, with their range
    parameter logic signed [63:0] LO = -32768,
    parameter logic signed [63:0] HI = 32767,
    parameter int Y_ROUNDING = 1,                 // of b, with its range
    parameter logic signed [63:0] Y_LO = -32768,
    parameter logic signed [63:0] Y_HI = 32767,
    parameter int EXP_BITS = 10,
    parameter int INDEX_BITS = $clog2(N)
) (
    input  wire clk,
    input  wire rst,
    input  wire y_write,                      // y, while no system is solved
    input  wire [INDEX_BITS-1:0] y_index,
    input  wire [W-1:0] y_word,
    input  wire start,
    output wire released,                     // for one clock: the first row and y are no longer needed
    output wire done,                         // for one clock; the outputs below are stable until the next start
    output wire failed,
    output wire saturated,
    output wire signed [EXP_BITS-1:0] exponent,
    output wire [W-1:0] intercept,
    input  wire [INDEX_BITS-1:0] alpha_index,
    output wire [W-1:0] alpha,                // two clocks after alpha_index

    output wire side_write,                   // the recursion: its right-hand side
    output wire [INDEX_BITS-1:0] side_index,
    output wire [W-1:0] side_word,
    output wire run,
    input  wire solved,
    input  wire solve_failed,
    input  wire solve_saturated,
    input  wire signed [EXP_BITS-1:0] x_exp,
    output wire [INDEX_BITS-1:0] x_index,
    input  wire signed [W-1:0] x_word         // three clocks after x_index
);
    localparam FLOOR = 0;
    localparam PIECE = 16;
    localparam PRODUCT_BITS = W + 32;
    localparam LIFTED_BITS = PRODUCT_BITS - (TARGET_SHIFT < 0 ? TARGET_SHIFT : 0);
    localparam CAST_BITS = 3*W + 1 < 64 ? 3*W + 1 : 64;
    localparam SUM_BITS = W + INDEX_BITS;
    localparam ANY_ROW_BITS = W + 32 - TARGET_SHIFT;
    localparam ROW_BITS = ANY_ROW_BITS > W + 1 ? ANY_ROW_BITS : W + 1;   // y / (1 + lambda), with a carry
    localparam SHARE_BITS = 36;               // a quotient of 33 bits to the left by 2 is saturated
    localparam DEPTH = 10;                    // clocks from an index to the last write
    localparam signed [W-1:0] ONE = W'(1) << (W - 2);
    // A word that is not 0 saturates if it is shifted to the left by W + 1.
    localparam Z_LEAST = W - 62 > -W - 1 ? W - 62 : -W - 1, ETA_LEAST = 2*W - 64 > -W - 1 ? 2*W - 64 : -W - 1;
    localparam signed [EXP_BITS-1:0] EXP_MIN = EXP_BITS'(ALPHA_EXP_MIN), EXP_MAX = EXP_BITS'(ALPHA_EXP_MAX);
    localparam signed [EXP_BITS-1:0] TO_SHIFT = EXP_BITS'(W - RESIDUAL_SHIFT);
    localparam signed [EXP_BITS-1:0] TO_ETA = EXP_BITS'(2*W - 3 - ALPHA_FRAC);

    typedef enum logic [3:0] {
        IDLE, SCAN, START_ETA, SOLVE_ETA, ETA, TARGETS, START_Z, SOLVE_Z, SETTLE, SUM, PREPARE, DIVIDE, SHARE, CORRECT,
        DONE
    } state_t;

    state_t state_reg;
    logic [INDEX_BITS-1:0] index_reg, write_index_reg;
    logic issued_reg, second_reg, failed_reg, saturated_reg, released_reg, divide_reg, side_write_reg;
    logic [DEPTH-1:0] valid_reg, seconds_reg;   // bit i: an index came i + 1 clocks ago, for the second time
    logic [2:0] clock_reg;
    logic signed [W-1:0] y_2_reg, eta_2_reg, word_reg, z_reg, side_word_reg, intercept_reg;
    logic signed [W+PIECE:0] low_reg, high_reg;
    logic signed [PRODUCT_BITS-1:0] product_reg;
    logic signed [SUM_BITS-1:0] num_reg, den_reg;
    logic signed [W:0] alpha_reg;
    logic signed [ROW_BITS-1:0] row_6_reg, row_7_reg, row_8_reg, row_9_reg;
    logic [5:0] length_reg, up_reg, up_total_reg;
    logic of_x_reg;
    logic signed [31:0] factor_reg;
    logic [ROW_BITS-1:0] halves_reg, since_reg;
    logic signed [EXP_BITS-1:0] base_reg, exponent_reg, eta_exp_reg, z_shift_reg, to_eta_reg, eta_shift_reg;
    logic signed [EXP_BITS-1:0] to_share_reg, share_reg;

    function automatic signed [EXP_BITS-1:0] clip(input signed [EXP_BITS-1:0] v, input signed [EXP_BITS-1:0] lo,
                                                  input signed [EXP_BITS-1:0] hi);
        clip = v < lo ? lo : v > hi ? hi : v;
    endfunction

    // A pass reads every word once, CORRECT twice.
    wire of_y = state_reg == SCAN || state_reg == TARGETS;
    wire corrects = state_reg == CORRECT;
    wire pass = of_y || state_reg == ETA || state_reg == SUM || corrects;
    wire issue = pass && !issued_reg;
    wire last = index_reg == INDEX_BITS'(N - 1) && (!corrects || second_reg);
    wire passed = pass && issued_reg && valid_reg == 0;

    // Third clock: the word; fifth: the product; sixth: its shift to the left; ninth: the cast.
    wire [W-1:0] y, eta;
    wire at_2 = seconds_reg[1], at_4 = seconds_reg[3], at_9 = seconds_reg[8];
    wire of_x = state_reg == SUM || state_reg == ETA || (corrects && !at_2);
    wire signed [W-1:0] a = of_x_reg ? x_word : word_reg;
    wire signed [PIECE:0] factor_low = {1'b0, factor_reg[PIECE-1:0]};
    wire signed [PIECE:0] factor_high = {factor_reg[31], factor_reg[31:PIECE]};
    wire signed [6:0] shift = state_reg == ETA ? 7'sd31 : at_4 ? eta_shift_reg[6:0] : z_shift_reg[6:0];
    logic [5:0] left_reg, right_reg, right_2_reg;
    logic signed [CAST_BITS-1:0] raised_reg;
    wire [W-1:0] cast;
    wire unused_cast, unused_share, alpha_outside;
    wire [W-1:0] corrected;
    wire eta_write = corrects ? valid_reg[9] && seconds_reg[9] : state_reg == ETA && valid_reg[8];

    kc_ram #(.WIDTH(W), .DEPTH(N))
        y_inst (.clk(clk), .write_enable(y_write), .write_address(y_index), .write_data(y_word),
                .read_address(index_reg), .read_data(y));
    kc_ram #(.WIDTH(W), .DEPTH(N))
        eta_inst (.clk(clk), .write_enable(eta_write), .write_address(write_index_reg),
                  .write_data(corrects ? corrected : cast),
                  .read_address(state_reg == IDLE ? alpha_index : index_reg), .read_data(eta));
    kc_requantise #(.V_BITS(CAST_BITS), .S_BITS(7), .ROUNDING(ROUNDING), .OUT_BITS(W), .LO(LO), .HI(HI), .CLOCKS(3),
                .LEFT(0))
        cast_inst (.clk(clk), .v(raised_reg), .s({1'b0, right_2_reg}), .q(cast), .outside(unused_cast));
    kc_saturate #(.V_BITS(W + 1), .OUT_BITS(W), .LO(LO), .HI(HI))
        alpha_inst (.v(alpha_reg), .q(corrected), .outside(alpha_outside));

    // y / (1 + lambda): its length, the shift of the block up to it, and the word with the halves of the scalings.
    wire signed [LIFTED_BITS-1:0] lifted;
    wire signed [ROW_BITS-1:0] row = ROW_BITS'(lifted);
    wire signed [ROW_BITS-1:0] shifted;
    wire [ROW_BITS-1:0] row_magnitude;
    wire [5:0] length;
    wire [6:0] need = {1'b0, length_reg} - 7'(W - 2);
    wire grows = !need[6] && need[5:0] > up_reg;
    wire [ROW_BITS-1:0] since = halves_reg & ({ROW_BITS{1'b1}} << (up_reg == 0 ? 6'd0 : up_reg - 6'd1));

    kc_arithmetic_shift #(.V_BITS(LIFTED_BITS), .S_BITS(7))
        row_inst (.v(LIFTED_BITS'(product_reg)), .s(7'(TARGET_SHIFT)), .q(lifted));
    kc_magnitude #(.V_BITS(ROW_BITS)) magnitude_inst (.v(row), .q(row_magnitude));
    kc_bit_length #(.V_BITS(63)) length_inst (.v(63'(row_magnitude)), .length(length));
    kc_shift_round #(.V_BITS(ROW_BITS), .S_BITS(6), .ROUNDING(FLOOR))
        shift_inst (.v(row_9_reg), .s(up_total_reg), .q(shifted));

    // b = num / den in LSB of y; 0 if den is not positive.
    wire divided;
    wire signed [32:0] quotient;
    wire signed [7:0] e;
    wire [W-1:0] share;

    kc_divide #(.NUM_BITS(SUM_BITS), .DEN_BITS(SUM_BITS)) divide_inst (
        .clk(clk), .rst(rst), .prepare(state_reg == PREPARE && clock_reg == 0), .den(den_reg), .start(divide_reg),
        .num(num_reg), .done(divided), .q(quotient), .e(e)
    );
    kc_requantise #(.V_BITS(SHARE_BITS), .S_BITS(7), .ROUNDING(Y_ROUNDING), .OUT_BITS(W), .LO(Y_LO), .HI(Y_HI),
                .CLOCKS(3))
        share_inst (.clk(clk), .v(SHARE_BITS'(quotient)), .s(share_reg[6:0]), .q(share), .outside(unused_share));

    always_ff @(posedge clk) begin
        y_2_reg <= y;
        eta_2_reg <= eta;
        word_reg <= of_y ? y_2_reg : eta_2_reg;
        of_x_reg <= of_x;
        factor_reg <= state_reg == SUM || (corrects && !at_2) ? 32'sd1
            : corrects ? 32'(intercept_reg) : {1'b0, RIDGE_SCALE};
        low_reg <= a * factor_low;
        high_reg <= a * factor_high;
        product_reg <= (PRODUCT_BITS'(high_reg) <<< PIECE) + PRODUCT_BITS'(low_reg);
        left_reg <= shift[6] ? -shift[5:0] : 6'd0;
        right_reg <= shift[6] ? 6'd0 : shift[5:0];
        raised_reg <= CAST_BITS'(product_reg) <<< left_reg;
        right_2_reg <= right_reg;
        valid_reg <= {valid_reg[DEPTH-2:0], issue};
        seconds_reg <= {seconds_reg[DEPTH-2:0], second_reg && corrects};
        second_reg <= issue && corrects && !second_reg;
        if (issue && (!corrects || second_reg)) index_reg <= last ? {INDEX_BITS{1'b0}} : index_reg + 1'b1;
        if (issue && last) issued_reg <= 1'b1;
        if (eta_write || side_write_reg)
            write_index_reg <= write_index_reg == INDEX_BITS'(N - 1) ? {INDEX_BITS{1'b0}} : write_index_reg + 1'b1;

        // Targets.
        length_reg <= length;
        row_6_reg <= row;
        row_7_reg <= row_6_reg;
        row_8_reg <= row_7_reg;
        since_reg <= since;
        row_9_reg <= row_8_reg + $signed(since_reg);
        if (of_y && valid_reg[5] && grows) begin
            up_reg <= need[5:0];
            halves_reg <= halves_reg | (ROW_BITS'(1) << (need[5:0] - 6'd1));
        end
        side_word_reg <= state_reg == SCAN ? ONE : shifted[W-1:0];
        side_write_reg <= of_y && valid_reg[8];

        // Sums, and alpha.
        if (state_reg == SUM && valid_reg[8]) num_reg <= num_reg + SUM_BITS'($signed(cast));
        if (state_reg == ETA && valid_reg[8]) den_reg <= den_reg + SUM_BITS'($signed(cast));
        if (!at_9) z_reg <= cast;
        alpha_reg <= (W + 1)'(z_reg) - (W + 1)'($signed(cast));
        if (corrects && eta_write && alpha_outside) saturated_reg <= 1'b1;

        // Exponents: valid after SETTLE.
        base_reg <= TO_SHIFT - EXP_BITS'($signed({1'b0, up_total_reg})) - x_exp;
        exponent_reg <= clip(EXP_MIN + 1'b1 - base_reg, EXP_MIN, EXP_MAX);
        z_shift_reg <= clip(base_reg + exponent_reg - EXP_MIN, EXP_BITS'(Z_LEAST), EXP_BITS'(62));
        to_eta_reg <= exponent_reg + TO_ETA - eta_exp_reg;
        eta_shift_reg <= clip(to_eta_reg, EXP_BITS'(ETA_LEAST), EXP_BITS'(62));
        to_share_reg <= EXP_BITS'(31) - EXP_BITS'(e) - to_eta_reg;
        share_reg <= clip(to_share_reg, -EXP_BITS'(2), EXP_BITS'(62));

        clock_reg <= state_reg == SETTLE || state_reg == PREPARE || state_reg == SHARE ? clock_reg + 1'b1 : 3'd0;
        divide_reg <= state_reg == PREPARE && clock_reg == 3'd6;
        released_reg <= 1'b0;
        case (state_reg)
            IDLE: if (start) begin
                failed_reg <= 1'b0;
                saturated_reg <= 1'b0;
                up_reg <= 6'd0;
                halves_reg <= {ROW_BITS{1'b0}};
                num_reg <= {SUM_BITS{1'b0}};
                den_reg <= {SUM_BITS{1'b0}};
                state_reg <= SCAN;
            end
            SCAN: if (passed) begin
                up_total_reg <= up_reg;
                up_reg <= 6'd0;
                state_reg <= START_ETA;
            end
            START_ETA: state_reg <= SOLVE_ETA;
            SOLVE_ETA, SOLVE_Z: if (solved) begin
                if (state_reg == SOLVE_ETA) eta_exp_reg <= x_exp;
                failed_reg <= solve_failed;
                saturated_reg <= saturated_reg || solve_saturated;
                released_reg <= solve_failed || state_reg == SOLVE_Z;
                state_reg <= solve_failed ? DONE : state_reg == SOLVE_Z ? SETTLE : ETA;
            end
            ETA: if (passed) state_reg <= TARGETS;
            TARGETS: if (passed) state_reg <= START_Z;
            START_Z: state_reg <= SOLVE_Z;
            SETTLE: if (clock_reg == 3'd4) state_reg <= SUM;
            SUM: if (passed) state_reg <= PREPARE;
            PREPARE: if (clock_reg == 3'd6) state_reg <= DIVIDE;
            DIVIDE: if (divided) state_reg <= SHARE;
            SHARE: if (clock_reg == 3'd6) begin
                intercept_reg <= den_reg > 0 ? share : {W{1'b0}};
                state_reg <= CORRECT;
            end
            CORRECT: if (passed) state_reg <= DONE;
            default: state_reg <= IDLE;
        endcase
        if (!pass) issued_reg <= 1'b0;
        if (passed) issued_reg <= 1'b0;
        if (rst) begin
            state_reg <= IDLE;
            index_reg <= {INDEX_BITS{1'b0}};
            write_index_reg <= {INDEX_BITS{1'b0}};
            valid_reg <= {DEPTH{1'b0}};
            second_reg <= 1'b0;
            issued_reg <= 1'b0;
            side_write_reg <= 1'b0;
            divide_reg <= 1'b0;
            released_reg <= 1'b0;
        end
    end

    assign released = released_reg;
    assign done = state_reg == DONE;
    assign failed = failed_reg;
    assign saturated = saturated_reg;
    assign exponent = exponent_reg;
    assign intercept = intercept_reg;
    assign alpha = eta_2_reg;
    assign side_write = side_write_reg;
    assign side_index = write_index_reg;
    assign side_word = side_word_reg;
    assign run = state_reg == START_ETA || state_reg == START_Z;
    assign x_index = index_reg;
endmodule

`default_nettype wire
