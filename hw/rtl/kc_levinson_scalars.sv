// kerncast: scalars of the Levinson recursion: xi (the reflection coefficient), eps and the exponent of a, then c and
// the exponent of x.
//
// Step `step` begins with `a_dot_done`, when acc holds sum r[step-i] a[i]; that may come while c of the previous step
// is computed. Step 0 begins with `start`. xi is valid while `xi_ready` is high. `x_dot_done`: acc holds
// sum r[step-i] x[i]. `a_done` and `x_done`: a and x are updated, with their largest magnitude. c, x_scale and s are
// valid while `c_ready` is high. `failed` ends the recursion.
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_levinson_scalars #(
    parameter int W = 16,
    parameter int SOLVER_SHIFT = 0,               // constants of the plan, under their names there
    parameter int XI_FRAC = 54,
    parameter int INNOV_FRAC = 50,
    parameter logic [61:0] EPS_MIN = 1,
    parameter int A_EXP_MIN = 0,
    parameter int A_EXP_MAX = 4,
    parameter int X_EXP_MIN = -8,
    parameter int X_EXP_MAX = 8,
    parameter bit STATIC = 0,                     // 1: static scaling, exponents are constant
    parameter int ROUNDING = 1,
    parameter int EXP_BITS = 10,
    parameter int ACC_BITS = 64,                  // width that holds every sum
    parameter int SCALE_BITS = 6                  // a shift of 2**SCALE_BITS - 1 leaves nothing of a word
) (
    input  wire clk,
    input  wire rst,
    input  wire start,
    input  wire signed [ACC_BITS-1:0] acc,
    input  wire signed [W-1:0] r,             // r[step] and y[step]
    input  wire signed [W-1:0] y,
    input  wire a_dot_done,
    input  wire x_dot_done,
    input  wire a_done,
    input  wire [W:0] a_max,
    input  wire x_done,
    input  wire [W:0] x_max,
    output wire xi_ready,
    output wire signed [W-1:0] xi,
    output wire a_scale,
    output wire [W-1:0] a_last,               // a[step]
    output wire c_ready,
    output wire signed [W-1:0] c,
    output wire [SCALE_BITS-1:0] x_scale,
    output wire [5:0] s,
    output wire [W-1:0] x_last,               // x[step]
    output wire signed [EXP_BITS-1:0] x_exp,
    output wire signed [EXP_BITS-1:0] a_exp,
    output wire saturated,
    output wire failed
);
    localparam signed [63:0] HI = (64'sd1 <<< (W - 1)) - 64'sd1;
    localparam signed [EXP_BITS-1:0] SHIFT_MAX = 62;
    localparam signed [EXP_BITS-1:0] SCALE_MAX = EXP_BITS'((1 << SCALE_BITS) - 1);
    localparam signed [EXP_BITS-1:0] A_MIN = EXP_BITS'(A_EXP_MIN), A_MAX = EXP_BITS'(A_EXP_MAX);
    localparam signed [EXP_BITS-1:0] X_MIN = EXP_BITS'(X_EXP_MIN), X_MAX = EXP_BITS'(X_EXP_MAX);
    localparam signed [EXP_BITS-1:0] UNIT = EXP_BITS'(W - 1);
    localparam EPS_BITS = XI_FRAC + 1;
    // A sum is shifted left by XI_LEFT + a_exp or INNOV_LEFT + x_exp: between LEFT_MIN and LEFT_MAX. ZEROS bits on the
    // right of every numerator are 0 and are left out.
    localparam ACC_FRAC = 2*(W - 1) - SOLVER_SHIFT;
    localparam XI_LEFT = XI_FRAC - ACC_FRAC, INNOV_LEFT = INNOV_FRAC - ACC_FRAC;
    localparam R_LEFT = XI_FRAC - (W - 1), Y_LEFT = INNOV_FRAC - (W - 2);
    localparam LEFT_MIN = XI_LEFT + A_EXP_MIN < INNOV_LEFT + X_EXP_MIN ? XI_LEFT + A_EXP_MIN : INNOV_LEFT + X_EXP_MIN;
    localparam LEFT_MAX = XI_LEFT + A_EXP_MAX > INNOV_LEFT + X_EXP_MAX ? XI_LEFT + A_EXP_MAX : INNOV_LEFT + X_EXP_MAX;
    localparam SIDE_MIN = R_LEFT < Y_LEFT ? R_LEFT : Y_LEFT;
    localparam LEAST = LEFT_MIN < SIDE_MIN ? LEFT_MIN : SIDE_MIN;
    localparam ZEROS = LEAST > 0 ? LEAST : 0;
    localparam LEFT = LEFT_MAX > ZEROS ? LEFT_MAX - ZEROS : 0, RIGHT = LEFT_MAX < 0 ? -LEFT_MAX : 0;
    localparam BACK_BITS = LEFT_MAX > LEFT_MIN ? $clog2(LEFT_MAX - LEFT_MIN + 1) : 1;
    localparam WIDE_BITS = ACC_BITS + LEFT;
    localparam SIDE_BITS = W + 1 + (R_LEFT > Y_LEFT ? R_LEFT : Y_LEFT) - ZEROS;
    localparam ANY_BITS = 1 + (WIDE_BITS > SIDE_BITS ? WIDE_BITS : SIDE_BITS);
    localparam NUM_BITS = ANY_BITS < 63 - ZEROS ? ANY_BITS : 63 - ZEROS;   // the plan proves that 63 bits hold it
    localparam CUT = 32 - W;                  // bits of a quotient that c loses
    localparam A_SHIFT_BITS = A_EXP_MAX > 0 ? $clog2(A_EXP_MAX + 1) : 1;
    localparam signed [6:0] SQUARE_SHIFT = 7'(2*(W - 1) - 31);
    localparam signed [EXP_BITS-1:0] TO_C_EXP = EXP_BITS'(XI_FRAC - INNOV_FRAC);

    typedef enum logic [4:0] {
        IDLE, XI_SUM, XI_CHECK, XI_DIVIDE, XI_SHIFT, XI_ROUND, XI_LATCH, XI_GROW, XI_SQUARE, XI_COMMIT,
        EPS_PRODUCT, EPS_DROP, EPS_CHECK, C_WAIT, C_SUM, C_START, C_DIVIDE, C_SHIFT, C_ROUND, C_LATCH, C_EXP_BASE,
        C_EXP_ZERO, C_EXP_NEED, C_EXP_MAX, C_EXP_COMMIT
    } state_t;

    state_t state_reg;
    logic a_dot_done_reg, x_dot_done_reg, a_done_reg, xi_ready_reg, c_ready_reg, failed_reg, saturated_reg, a_scale_reg;
    logic begun_reg;
    logic signed [WIDE_BITS-1:0] fine_reg;    // the sum shifted to the left by LEFT_MAX, and back by 0 to 7
    logic signed [NUM_BITS-1:0] aligned_reg, side_reg, num_reg;
    logic [EPS_BITS-1:0] eps_reg;
    logic signed [W-1:0] xi_reg, c_reg;
    logic signed [2*W-1:0] square_reg;
    logic [W:0] a_used_reg, x_used_reg;
    logic signed [EXP_BITS-1:0] a_exp_reg, x_exp_reg, c_exp_reg, need_reg, c_need_reg, s_reg, x_scale_reg;
    logic signed [EXP_BITS-1:0] c_shift_reg, unit_reg;
    logic [BACK_BITS-1:0] back_reg, coarse_reg;
    logic [5:0] cut_reg;
    logic [EPS_BITS-1:0] eps_less_reg;        // eps - 1
    logic beyond_reg, at_top_reg;
    logic signed [W+1:0] room_reg;
    logic [W-1:0] a_word_reg, x_word_reg;
    logic [5:0] a_bits_reg;

    function automatic signed [EXP_BITS-1:0] min_exp(input signed [EXP_BITS-1:0] a, input signed [EXP_BITS-1:0] b);
        min_exp = a < b ? a : b;
    endfunction

    function automatic signed [EXP_BITS-1:0] max_exp(input signed [EXP_BITS-1:0] a, input signed [EXP_BITS-1:0] b);
        max_exp = a > b ? a : b;
    endfunction

    // The negative numerator of xi with XI_FRAC fraction bits, and the innovation with INNOV_FRAC.
    wire for_c = state_reg >= C_WAIT;
    wire next_for_c = state_reg >= EPS_PRODUCT && state_reg <= C_WAIT;   // for the next sum
    wire signed [W:0] r_negative = -$signed({r[W-1], r});
    wire signed [EXP_BITS-1:0] back = next_for_c ? EXP_BITS'(LEFT_MAX - INNOV_LEFT) - x_exp_reg
        : EXP_BITS'(LEFT_MAX - XI_LEFT) - a_exp_reg;
    wire signed [WIDE_BITS-1:0] acc_left = (WIDE_BITS'(acc) <<< LEFT) >>> RIGHT;
    wire signed [WIDE_BITS-1:0] fine = acc_left >>> (back_reg & BACK_BITS'(7));
    wire signed [WIDE_BITS-1:0] aligned = fine_reg >>> coarse_reg;
    wire signed [SIDE_BITS:0] r_wide = R_LEFT < ZEROS ? (SIDE_BITS + 1)'(r_negative) >>> (ZEROS - R_LEFT)
        : (SIDE_BITS + 1)'(r_negative) <<< (R_LEFT - ZEROS);
    wire signed [SIDE_BITS:0] y_wide = Y_LEFT < ZEROS ? (SIDE_BITS + 1)'(y) >>> (ZEROS - Y_LEFT)
        : (SIDE_BITS + 1)'(y) <<< (Y_LEFT - ZEROS);

    // The quotient over eps and its cast: e is valid long before q, except for q = 0, where the shift is irrelevant.
    // A numerator that is too large is divided as well, but its quotient is not used.
    wire divided;
    wire signed [32:0] quotient;
    wire signed [7:0] e;
    wire [W-1:0] requantised;
    wire unused_outside;
    localparam SUM_BITS = (NUM_BITS + ZEROS > EPS_BITS ? NUM_BITS + ZEROS : EPS_BITS) + 1;
    wire signed [SUM_BITS-1:0] num_wide = SUM_BITS'(num_reg) <<< ZEROS;
    wire signed [SUM_BITS-1:0] above = num_wide - SUM_BITS'(eps_reg);         // not negative: num >= eps
    wire signed [SUM_BITS-1:0] below = num_wide + SUM_BITS'(eps_less_reg);    // negative: -num >= eps
    wire beyond = !above[SUM_BITS-1] || below[SUM_BITS-1];
    // Every cast shifts by CUT - 1 or more: of those bits only whether one is set matters. For xi, e is at most 1.
    wire [35:0] quotient_8 = {quotient, 3'd0};
    wire signed [W+3:0] quotient_cut = {quotient_8[35:CUT+1], |quotient_8[CUT:0]};
    wire signed [7:0] cut = 8'sd3 - e;

    kc_divide #(.NUM_BITS(NUM_BITS), .NUM_ZEROS(ZEROS), .DEN_BITS(EPS_BITS)) divide_inst (
        .clk(clk), .rst(rst), .prepare(state_reg == EPS_CHECK || begun_reg), .den(eps_reg),
        .start(state_reg == XI_CHECK || state_reg == C_START), .num(num_reg), .done(divided), .q(quotient), .e(e)
    );
    kc_requantise #(.V_BITS(W + 4), .S_BITS(7), .ROUNDING(ROUNDING), .OUT_BITS(W), .LO(-HI - 64'sd1), .HI(HI),
                .CLOCKS(3))
        requantise_inst (.clk(clk), .v(quotient_cut), .s({1'b0, cut_reg}), .q(requantised), .outside(unused_outside));

    // Raise the exponent if the largest a_i + xi a_j could exceed the word; 4 covers the roundings.
    wire [W-1:0] xi_magnitude;
    wire [W:0] growth;
    wire grows = STATIC == 0 && $signed({1'b0, growth}) > room_reg;

    kc_magnitude #(.V_BITS(W)) xi_inst (.v(xi_reg), .q(xi_magnitude));
    kc_mul_shift #(.A_BITS(W + 1), .C_BITS(W - 1), .SHIFT(W - 1), .Q_BITS(W + 1))
        growth_inst (.clk(clk), .a(a_used_reg), .c(xi_magnitude[W-2:0]), .q(growth));

    // eps (1 - xi**2); the square 2**31 of xi = -1 is exact as well.
    wire signed [63:0] square;
    wire [EPS_BITS-1:0] drop;

    kc_arithmetic_shift #(.V_BITS(64), .S_BITS(7)) square_inst (.v(64'(square_reg)), .s(SQUARE_SHIFT), .q(square));
    kc_mul_shift #(.A_BITS(EPS_BITS), .C_BITS(32), .SHIFT(31), .Q_BITS(EPS_BITS), .CLOCKS(3))
        drop_inst (.clk(clk), .a(eps_reg), .c(square[31:0]), .q(drop));

    // Largest magnitude of an update, including the word that it appends.
    wire signed [W-1:0] a_word, x_word;
    wire [W-1:0] a_magnitude, x_magnitude;
    wire [W:0] a_used = a_max > {1'b0, a_magnitude} ? a_max : {1'b0, a_magnitude};
    wire [W:0] x_used = x_max > {1'b0, x_magnitude} ? x_max : {1'b0, x_magnitude};
    wire [5:0] a_bits;

    kc_shift_round #(.V_BITS(W), .S_BITS(A_SHIFT_BITS), .ROUNDING(ROUNDING))
        a_last_inst (.v(xi_reg), .s(a_exp_reg[A_SHIFT_BITS-1:0]), .q(a_word));
    kc_shift_round #(.V_BITS(W), .S_BITS(SCALE_BITS), .ROUNDING(ROUNDING))
        x_last_inst (.v(c_reg), .s(c_shift_reg[SCALE_BITS-1:0]), .q(x_word));
    kc_magnitude #(.V_BITS(W)) a_magnitude_inst (.v(a_word_reg), .q(a_magnitude));
    kc_magnitude #(.V_BITS(W)) x_magnitude_inst (.v(x_word_reg), .q(x_magnitude));
    kc_bit_length #(.V_BITS(W + 1)) a_bits_inst (.v(a_used_reg), .length(a_bits));

    // The smallest exponent that holds x, c and every c a_i without saturation.
    wire signed [EXP_BITS-1:0] x_need = STATIC != 0 ? x_exp_reg : x_exp_reg + EXP_BITS'(x_used_reg[W:W-2]);
    wire saturates = STATIC != 0 && c_reg != 0 && c_exp_reg > x_exp_reg;

    always_ff @(posedge clk) begin
        begun_reg <= start;
        back_reg <= back[BACK_BITS-1:0];
        fine_reg <= fine;
        coarse_reg <= back_reg & ~BACK_BITS'(7);
        eps_less_reg <= eps_reg - 1'b1;
        side_reg <= NUM_BITS'(next_for_c ? y_wide : r_wide);
        beyond_reg <= beyond;
        cut_reg <= for_c ? 6'd3 : cut > 8'sd62 ? 6'd62 : cut[5:0];
        room_reg <= (W + 2)'(HI) - (W + 2)'(4) - $signed({1'b0, a_used_reg});
        at_top_reg <= a_exp_reg >= A_MAX;
        a_word_reg <= a_word;
        x_word_reg <= x_word;
        if (a_dot_done) a_dot_done_reg <= 1'b1;
        if (x_dot_done) x_dot_done_reg <= 1'b1;
        case (state_reg)
            IDLE: if (a_dot_done_reg) begin
                a_dot_done_reg <= 1'b0;
                aligned_reg <= NUM_BITS'(aligned);
                state_reg <= XI_SUM;
            end
            XI_SUM: begin
                num_reg <= side_reg - aligned_reg;
                state_reg <= XI_CHECK;
            end
            XI_CHECK: state_reg <= XI_DIVIDE;
            XI_DIVIDE: if (beyond_reg) begin
                failed_reg <= 1'b1;
                state_reg <= IDLE;
            end else if (divided) state_reg <= XI_SHIFT;
            XI_SHIFT: state_reg <= XI_ROUND;
            XI_ROUND: state_reg <= XI_LATCH;
            XI_LATCH: begin
                xi_reg <= requantised;
                state_reg <= XI_GROW;
            end
            XI_GROW: begin
                square_reg <= xi_reg * xi_reg;
                state_reg <= XI_SQUARE;
            end
            XI_SQUARE: state_reg <= XI_COMMIT;
            XI_COMMIT: begin
                a_scale_reg <= grows;
                xi_ready_reg <= 1'b1;
                state_reg <= EPS_PRODUCT;
            end
            EPS_PRODUCT: begin
                a_exp_reg <= a_exp_reg + EXP_BITS'(a_scale_reg);
                if (a_scale_reg && at_top_reg) failed_reg <= 1'b1;
                state_reg <= a_scale_reg && at_top_reg ? IDLE : EPS_DROP;
            end
            EPS_DROP: begin
                eps_reg <= eps_reg - drop;
                state_reg <= EPS_CHECK;
            end
            EPS_CHECK: begin
                if (62'(eps_reg) < EPS_MIN) failed_reg <= 1'b1;
                state_reg <= 62'(eps_reg) < EPS_MIN ? IDLE : C_WAIT;
            end
            C_WAIT: if (x_dot_done_reg) begin
                x_dot_done_reg <= 1'b0;
                aligned_reg <= NUM_BITS'(aligned);
                state_reg <= C_SUM;
            end
            C_SUM: begin
                num_reg <= side_reg - aligned_reg;
                state_reg <= C_START;
            end
            C_START: state_reg <= C_DIVIDE;
            C_DIVIDE: if (divided) state_reg <= C_SHIFT;
            C_SHIFT: state_reg <= C_ROUND;
            C_ROUND: state_reg <= C_LATCH;
            C_LATCH: begin
                c_reg <= requantised;
                c_exp_reg <= EXP_BITS'(e) + TO_C_EXP;
                state_reg <= C_EXP_BASE;
            end
            C_EXP_BASE: if (a_done_reg) begin
                a_done_reg <= 1'b0;
                a_bits_reg <= a_bits;
                need_reg <= x_need;
                state_reg <= C_EXP_ZERO;
            end
            C_EXP_ZERO: begin   // a zero needs no exponent; static scaling saturates
                if (STATIC == 0 && c_reg == 0) c_exp_reg <= need_reg - a_exp_reg - 1'b1;
                if (STATIC != 0 && (c_reg == 0 || saturates)) c_exp_reg <= x_exp_reg;
                if (saturates) begin
                    c_reg <= c_reg[W-1] ? ~HI[W-1:0] : HI[W-1:0];
                    saturated_reg <= 1'b1;
                end
                state_reg <= C_EXP_NEED;
            end
            C_EXP_NEED: begin
                c_need_reg <= c_exp_reg + a_exp_reg + EXP_BITS'(a_bits_reg) - UNIT + 1'b1;
                need_reg <= STATIC != 0 ? need_reg : max_exp(need_reg, c_exp_reg);
                state_reg <= C_EXP_MAX;
            end
            C_EXP_MAX: begin
                if (STATIC == 0) need_reg <= max_exp(need_reg, c_need_reg);
                unit_reg <= UNIT - c_exp_reg - a_exp_reg;
                state_reg <= C_EXP_COMMIT;
            end
            default: begin   // C_EXP_COMMIT
                x_scale_reg <= min_exp(need_reg - x_exp_reg, SCALE_MAX);
                s_reg <= min_exp(need_reg + unit_reg, SHIFT_MAX);
                c_shift_reg <= min_exp(need_reg - c_exp_reg, SCALE_MAX);
                x_exp_reg <= need_reg;
                c_ready_reg <= need_reg <= X_MAX;
                if (need_reg > X_MAX) failed_reg <= 1'b1;
                state_reg <= IDLE;
            end
        endcase
        if (a_done) begin
            a_done_reg <= 1'b1;
            xi_ready_reg <= 1'b0;
            a_used_reg <= a_used;
            if (a_used > HI[W:0]) saturated_reg <= 1'b1;
        end
        if (x_done) begin
            c_ready_reg <= 1'b0;
            x_used_reg <= x_used;
            if (x_used > HI[W:0]) saturated_reg <= 1'b1;
        end
        if (start) begin
            state_reg <= C_WAIT;
            eps_reg <= EPS_BITS'(1) << XI_FRAC;
            fine_reg <= {WIDE_BITS{1'b0}};    // the sum of no terms
            coarse_reg <= {BACK_BITS{1'b0}};
            a_exp_reg <= A_MIN;
            x_exp_reg <= X_MIN;
            a_used_reg <= 0;
            x_used_reg <= 0;
            a_done_reg <= 1'b1;
            xi_ready_reg <= 1'b0;
            c_ready_reg <= 1'b0;
            saturated_reg <= 1'b0;
            failed_reg <= 1'b0;
            a_dot_done_reg <= 1'b0;
            x_dot_done_reg <= 1'b1;
        end
        if (rst) begin
            state_reg <= IDLE;
            a_dot_done_reg <= 1'b0;
            failed_reg <= 1'b0;
            xi_ready_reg <= 1'b0;
            c_ready_reg <= 1'b0;
            x_dot_done_reg <= 1'b0;
        end
    end

    assign xi_ready = xi_ready_reg;
    assign xi = xi_reg;
    assign a_scale = a_scale_reg;
    assign a_last = a_word_reg;
    assign c_ready = c_ready_reg;
    assign c = c_reg;
    assign x_scale = x_scale_reg[SCALE_BITS-1:0];
    assign s = s_reg[5:0];
    assign x_last = x_word_reg;
    assign x_exp = x_exp_reg;
    assign a_exp = a_exp_reg;
    assign saturated = saturated_reg;
    assign failed = failed_reg;
endmodule

`default_nettype wire
