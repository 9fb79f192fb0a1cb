// kerncast: the features of a sample for kernel RLS: 1, COSINES random Fourier features, and the scaled inputs.
//
// A feature has a place: a block and a lane in it. The inputs begin with a block of their own; the lanes that are left
// in the last block of either group are sent as zeros. The cosine of direction.x + phase turns is interpolated between
// entries of the table.
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_rls_features #(
    parameter int LANES = 1,                    // columns of a sample at a time: a power of two
    parameter int COLUMNS = 1,
    parameter int COSINES = 2,
    parameter bit INPUTS = 1,                   // the inputs are features, too
    parameter int X_BITS = 16,
    parameter bit X_SIGNED = 1,
    parameter int X_EXP = 0,                    // an input is a feature after a right shift; if negative, a left one
    parameter int PHASE_SHIFT = 0,              // from direction.x to turns of 20 bits
    parameter logic [COSINES*COLUMNS*16-1:0] DIRECTIONS = 0,
    parameter logic [COSINES*16-1:0] PHASES = 0,
    parameter logic [257*16-1:0] COSINE = 0,
    parameter int BLOCK_BITS = 1,
    parameter int ROWS = (COLUMNS + LANES - 1) / LANES,
    parameter int ROW_BITS = ROWS > 1 ? $clog2(ROWS) : 1,
    parameter int LANE_BITS = LANES > 1 ? $clog2(LANES) : 1
) (
    input  wire clk,
    input  wire rst,
    input  wire start,                          // a sample can be read
    output wire [ROW_BITS-1:0] row,             // of the sample; read latency one clock
    input  wire [LANES*X_BITS-1:0] x,
    output wire valid,                          // `phi` is the feature of a place; places come in order
    output wire last,
    output wire [BLOCK_BITS-1:0] block,
    output wire [LANE_BITS-1:0] lane,
    output wire [15:0] phi,
    output wire [LANES*(X_BITS+1)-1:0] factors_x,   // in the hardware multipliers of the lanes
    output wire [LANES*16-1:0] factors_direction,
    input  wire [LANES*(X_BITS+17)-1:0] products    // two clocks later
);
    localparam LEVELS = $clog2(LANES);
    localparam TO_SUM = 4 + LEVELS;             // clocks from a row's address to the sum that it ends
    localparam LATENCY = TO_SUM + 6;
    localparam ACC_BITS = X_BITS + 17 + $clog2(COLUMNS);
    localparam WIDE_BITS = X_BITS + 17 > 64 ? X_BITS + 17 : 64;
    localparam J_BITS = $clog2(COSINES);
    localparam TABLE_ROWS = COSINES*ROWS;
    localparam AT_BITS = $clog2(TABLE_ROWS);
    localparam [LANE_BITS-1:0] LAST_LANE = LANE_BITS'(LANES - 1);
    localparam [ROW_BITS-1:0] LAST_ROW = ROW_BITS'(ROWS - 1);
    localparam [LANE_BITS-1:0] LAST_INPUT = LANE_BITS'((COLUMNS - 1) % LANES);

    typedef enum logic [2:0] {IDLE, ONE, COSINES_OF, PAD, INPUT} state_t;

    state_t state_reg, state_next;
    logic inputs_reg;                           // the second group has begun
    logic [J_BITS-1:0] j_reg;
    logic [ROW_BITS-1:0] row_reg;
    logic [AT_BITS-1:0] at_reg;
    logic [BLOCK_BITS-1:0] block_reg;
    logic [LANE_BITS-1:0] lane_reg;

    wire cosine = state_reg == COSINES_OF;
    wire row_end = row_reg == LAST_ROW;
    wire feature_end = state_reg != IDLE && (!cosine || row_end);
    wire block_end = lane_reg == LAST_LANE;
    wire ends = state_reg != IDLE && state_next == IDLE;

    always_comb begin
        state_next = state_reg;
        case (state_reg)
            IDLE: if (start) state_next = ONE;
            ONE: state_next = COSINES_OF;
            COSINES_OF: if (row_end && j_reg == J_BITS'(COSINES - 1)) begin
                state_next = PAD;
                if (block_end && INPUTS == 0) state_next = IDLE;
                if (block_end && INPUTS != 0) state_next = INPUT;
            end
            PAD: if (block_end) begin
                state_next = IDLE;
                if (INPUTS != 0 && !inputs_reg) state_next = INPUT;
            end
            default: if (row_end && lane_reg == LAST_INPUT) begin
                state_next = PAD;
                if (block_end) state_next = IDLE;
            end
        endcase
    end

    always_ff @(posedge clk) begin
        state_reg <= state_next;
        if (state_reg == IDLE) begin
            inputs_reg <= 1'b0;
            j_reg <= {J_BITS{1'b0}};
            at_reg <= {AT_BITS{1'b0}};
            block_reg <= {BLOCK_BITS{1'b0}};
            lane_reg <= {LANE_BITS{1'b0}};
        end
        if (state_reg == INPUT) inputs_reg <= 1'b1;
        if (cosine) at_reg <= at_reg + 1'b1;
        if (cosine && row_end) j_reg <= j_reg + 1'b1;
        if (feature_end) begin
            lane_reg <= block_end ? {LANE_BITS{1'b0}} : lane_reg + 1'b1;
            if (block_end) block_reg <= block_reg + 1'b1;
        end
        // Column and place of an input are in the same lane.
        if (state_reg == INPUT ? block_end : cosine) row_reg <= row_reg + 1'b1;
        if ((cosine && row_end) || !(cosine || state_reg == INPUT)) row_reg <= {ROW_BITS{1'b0}};
        if (rst) state_reg <= IDLE;
    end

    // The sum of a cosine: the words out of their memories, then the products.
    logic [LATENCY-1:0] valid_reg, last_reg;    // bit i: i + 1 clocks after the address
    logic [TO_SUM-1:0] cosine_reg, first_reg;
    logic [LANES*X_BITS-1:0] x_reg;
    logic [LANES*ACC_BITS-1:0] acc_reg;
    wire [LANES*16-1:0] direction;
    wire signed [ACC_BITS-1:0] sum;
    wire [15:0] phase, phase_late, aux_late;
    wire [1:0] kind_2;
    wire [LANE_BITS-1:0] lane_2;
    wire [BLOCK_BITS+LANE_BITS-1:0] place;
    wire is_cosine;
    genvar i;

    always_ff @(posedge clk) begin
        valid_reg <= {valid_reg[LATENCY-2:0], feature_end};
        last_reg <= {last_reg[LATENCY-2:0], ends};
        cosine_reg <= {cosine_reg[TO_SUM-2:0], cosine};
        first_reg <= {first_reg[TO_SUM-2:0], row_reg == 0};
        x_reg <= x;
        if (rst) valid_reg <= {LATENCY{1'b0}};
        if (rst) last_reg <= {LATENCY{1'b0}};
    end

    kc_rom_banked #(.WIDTH(16), .VECTORS(COSINES), .COLUMNS(COLUMNS), .LANES(LANES), .TABLE(DIRECTIONS))
        direction_inst (.clk(clk), .row(at_reg), .q(direction));
    kc_rom #(.WIDTH(16), .DEPTH(COSINES), .TABLE(PHASES)) phase_inst (.clk(clk), .address(j_reg), .q(phase));
    kc_delay #(.WIDTH(16), .CLOCKS(TO_SUM - 1)) phase_delay_inst (.clk(clk), .d(phase), .q(phase_late));

    generate
        for (i = 0; i < LANES; i = i + 1) begin : term
            wire signed [X_BITS:0] wide_x = {X_SIGNED != 0 && x[(i+1)*X_BITS-1], x[i*X_BITS +: X_BITS]};
            wire signed [X_BITS+16:0] product = products[i*(X_BITS+17) +: X_BITS+17];
            wire signed [ACC_BITS-1:0] acc = acc_reg[i*ACC_BITS +: ACC_BITS];
            wire signed [ACC_BITS-1:0] begun = first_reg[2] ? {ACC_BITS{1'b0}} : acc;

            assign factors_x[i*(X_BITS+1) +: X_BITS+1] = wide_x;

            always_ff @(posedge clk) if (cosine_reg[2]) acc_reg[i*ACC_BITS +: ACC_BITS] <= begun + ACC_BITS'(product);
        end
    endgenerate

    assign factors_direction = direction;

    kc_sum_tree #(.WIDTH(ACC_BITS), .LANES(LANES)) sum_tree_inst (.clk(clk), .words(acc_reg), .sum(sum));

    // The other features: 1, a scaled input, 0.
    wire [X_BITS-1:0] x_lane = x_reg[lane_2*X_BITS +: X_BITS];
    wire signed [WIDE_BITS-1:0] x_wide = WIDE_BITS'($signed({X_SIGNED != 0 && x_lane[X_BITS-1], x_lane}));
    wire signed [WIDE_BITS-1:0] x_scaled;
    logic [15:0] aux_reg;

    kc_arithmetic_shift #(.V_BITS(WIDE_BITS), .S_BITS(7)) x_shift_inst (.v(x_wide), .s(7'(X_EXP)), .q(x_scaled));
    kc_delay #(.WIDTH(2 + LANE_BITS), .CLOCKS(2))
        kind_inst (.clk(clk), .d({state_reg == ONE, state_reg == INPUT, lane_reg}), .q({kind_2, lane_2}));

    always_ff @(posedge clk) aux_reg <= kind_2[1] ? COSINE[15:0] : kind_2[0] ? x_scaled[15:0] : 16'd0;

    kc_delay #(.WIDTH(16), .CLOCKS(LATENCY - 4)) aux_inst (.clk(clk), .d(aux_reg), .q(aux_late));

    // The turn, two entries of the table, registers for them, their difference, its product with the rest of the turn.
    wire signed [WIDE_BITS-1:0] sum_wide = WIDE_BITS'(sum);
    wire signed [WIDE_BITS-1:0] turns = sum_wide >>> PHASE_SHIFT;
    logic [19:0] turn_reg;
    logic [11:0] rest_reg, rest_2_reg, rest_3_reg;
    logic signed [15:0] left_reg, right_reg, left_2_reg, left_3_reg;
    logic signed [16:0] diff_reg;
    logic signed [29:0] product_reg;
    logic [15:0] phi_reg;
    wire signed [15:0] left, right;
    wire signed [29:0] step = product_reg >>> 12;

    kc_rom #(.WIDTH(16), .DEPTH(257), .TABLE(COSINE))
        left_inst (.clk(clk), .address({1'b0, turn_reg[19:12]}), .q(left));
    kc_rom #(.WIDTH(16), .DEPTH(257), .TABLE(COSINE))
        right_inst (.clk(clk), .address({1'b0, turn_reg[19:12]} + 9'd1), .q(right));
    kc_delay #(.WIDTH(BLOCK_BITS + LANE_BITS), .CLOCKS(LATENCY))
        place_inst (.clk(clk), .d({block_reg, lane_reg}), .q(place));
    kc_delay #(.WIDTH(1), .CLOCKS(5)) cosine_inst (.clk(clk), .d(cosine_reg[TO_SUM-1]), .q(is_cosine));

    always_ff @(posedge clk) begin
        turn_reg <= turns[19:0] + {phase_late, 4'd0};
        rest_reg <= turn_reg[11:0];
        left_reg <= left;
        right_reg <= right;
        rest_2_reg <= rest_reg;
        left_2_reg <= left_reg;
        diff_reg <= 17'(right_reg) - 17'(left_reg);
        rest_3_reg <= rest_2_reg;
        left_3_reg <= left_2_reg;
        product_reg <= diff_reg * $signed({1'b0, rest_3_reg});
        phi_reg <= is_cosine ? left_3_reg + step[15:0] : aux_late;
    end

    assign row = row_reg;
    assign valid = valid_reg[LATENCY-1];
    assign last = last_reg[LATENCY-1];
    assign {block, lane} = place;
    assign phi = phi_reg;
endmodule

`default_nettype wire
