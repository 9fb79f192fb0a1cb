// kerncast: the residual beta of the normal equations of kernel RLS. A pass over the features with a new sample:
//   beta <- wrap(beta, 61) - mu beta (toward zero) + floor(error phi / 2^15) - floor(mu ridge w / 2^STEP_SHIFT)
// A sweep over their blocks subtracts the product of a step and a column of R, and finds the largest |beta|, the first of several;
// those of the inputs count 2^scale times.
//
// A pass takes one feature a clock and 9 clocks more. A sweep takes one block a clock, one clock more if the inputs are
// features, and 6 + log2(LANES) clocks more.
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_rls_residual #(
    parameter int LANES = 1,                    // a power of two
    parameter int BLOCKS = 2,
    parameter int FIRST_BLOCKS = 2,             // of 1 and the cosines; then come those of the inputs
    parameter int FIRST_REST = 1,               // features in the last block of either, 1 to LANES
    parameter int INPUT_REST = 1,
    parameter int ERROR_BITS = 48,              // at most 48
    parameter int STEP_SHIFT = 0,
    parameter logic [30:0] FADING = 0,          // mu as a fraction of 32 bits
    parameter logic [31:0] FADE_ONE = 0, FADE_COSINE = 0, FADE_INPUT = 0,   // floor(mu ridge)
    parameter int BLOCK_BITS = BLOCKS > 1 ? $clog2(BLOCKS) : 1,
    parameter int LANE_BITS = LANES > 1 ? $clog2(LANES) : 1
) (
    input  wire clk,
    input  wire rst,

    input  wire pass,                           // for one clock: begin
    input  wire empty,                          // beta is 0
    output wire passing,
    output wire passed,                         // for one clock
    output wire [BLOCK_BITS-1:0] pass_block,    // a feature,
    output wire [LANE_BITS-1:0] pass_lane,
    input  wire [15:0] phi,                     // its value and its coefficient, one clock later
    input  wire [31:0] w,
    input  wire signed [ERROR_BITS-1:0] error,

    input  wire sweep,                          // read a block
    input  wire sweep_first,                    // it is the first one of the sweep,
    input  wire sweep_last,                     // or the last
    input  wire sweep_scale,                    // none: the next one is the first of the inputs
    input  wire [BLOCK_BITS-1:0] sweep_block,
    input  wire searching,                      // the sweep changes nothing
    input  wire [LANES*32-1:0] column,          // two clocks after its block
    input  wire negative,                       // of the step; two clocks after the first block
    input  wire [4:0] power,                    // the step is 2^power
    input  wire halt,                           // it is not taken; four clocks after the first block
    input  wire [3:0] scale,
    output wire found,                          // for one clock: the largest of the sweep
    output wire [63:0] largest,                 // its magnitude
    output wire largest_negative,
    output wire [BLOCK_BITS-1:0] largest_block,
    output wire [LANE_BITS-1:0] largest_lane,

    input  wire [BLOCK_BITS-1:0] state_block,   // one entry; read latency one clock
    input  wire [LANE_BITS-1:0] state_lane,
    output wire [63:0] state_entry,
    input  wire state_write,
    input  wire [63:0] state_word
);
    localparam LEVELS = $clog2(LANES);
    localparam DEPTH = 5 + LEVELS;              // clocks from the address of a block to its largest entry
    localparam PASS = 8;                        // clocks from the address of a feature to its write
    localparam [LANE_BITS-1:0] LAST_LANE = LANE_BITS'(LANES - 1);
    localparam [BLOCK_BITS-1:0] LAST_BLOCK = BLOCK_BITS'(BLOCKS - 1);

    wire [LANES*64-1:0] beta, swept, keys;
    wire [63:0] passed_word;
    wire [BLOCK_BITS+LANE_BITS-1:0] passed_place;
    wire [BLOCK_BITS-1:0] swept_block;
    wire pass_write, sweep_write;
    wire [LANES-1:0] pass_mask = LANES'(1) << passed_place[LANE_BITS-1:0];
    wire [LANES-1:0] state_mask = LANES'(1) << state_lane;

    // ---- a pass ----
    logic passing_reg;
    logic [BLOCK_BITS-1:0] block_reg;
    logic [LANE_BITS-1:0] lane_reg, lane_1_reg;
    logic [PASS-1:0] pass_valid_reg, pass_last_reg;
    logic one_1_reg, input_1_reg, pad_1_reg;
    wire one, is_input, pad;
    wire last = block_reg == LAST_BLOCK && lane_reg == LAST_LANE;

    kc_rls_kind #(.LANES(LANES), .BLOCKS(BLOCKS), .FIRST_BLOCKS(FIRST_BLOCKS), .FIRST_REST(FIRST_REST), .INPUT_REST(INPUT_REST))
        kind_inst (.block(block_reg), .lane(lane_reg), .one(one), .is_input(is_input), .pad(pad));

    always_ff @(posedge clk) begin
        if (pass) begin
            passing_reg <= 1'b1;
            block_reg <= {BLOCK_BITS{1'b0}};
            lane_reg <= {LANE_BITS{1'b0}};
        end
        if (passing_reg) begin
            lane_reg <= lane_reg == LAST_LANE ? {LANE_BITS{1'b0}} : lane_reg + 1'b1;
            if (lane_reg == LAST_LANE) block_reg <= block_reg + 1'b1;
            if (last) passing_reg <= 1'b0;
        end
        pass_valid_reg <= {pass_valid_reg[PASS-2:0], passing_reg};
        pass_last_reg <= {pass_last_reg[PASS-2:0], passing_reg && last};
        lane_1_reg <= lane_reg;
        one_1_reg <= one;
        input_1_reg <= is_input;
        pad_1_reg <= pad;
        if (rst) begin
            passing_reg <= 1'b0;
            pass_valid_reg <= {PASS{1'b0}};
            pass_last_reg <= {PASS{1'b0}};
        end
    end

    kc_ram_banked #(.WIDTH(64), .ROWS(BLOCKS), .LANES(LANES), .READ_OLD(0)) beta_inst (
        .clk(clk), .write_mask(sweep_write ? {LANES{1'b1}} : pass_write ? pass_mask : state_mask & {LANES{state_write}}),
        .write_row(sweep_write ? swept_block : pass_write ? passed_place[LANE_BITS +: BLOCK_BITS] : state_block),
        .write_data(sweep_write ? swept : {LANES{pass_write ? passed_word : state_word}}),
        .read_row(passing_reg ? block_reg : sweep ? sweep_block : state_block), .read_data(beta));

    // Second clock: the words out of their memories.  Third: |beta|, and products of pieces of 16 bits.  Fourth to
    // sixth: the part of beta that is forgotten, the sums of the products.  Seventh, eighth: the sums of all.
    logic signed [60:0] beta_2_reg;
    logic signed [31:0] w_2_reg;
    logic signed [15:0] phi_2_reg;
    logic [31:0] fade_2_reg;
    logic [60:0] size_3_reg;
    logic signed [31:0] e_high_3_reg;
    logic signed [32:0] e_mid_3_reg, e_low_3_reg;
    logic signed [63:0] e_4_reg, e_5_reg, change_6_reg, change_7_reg, kept_7_reg, new_8_reg;
    logic signed [48:0] e_low_4_reg;
    wire [60:0] faded_6;
    wire [60:0] beta_6;
    wire signed [47:0] wide_error = 48'(error);
    wire [63:0] beta_lane = beta[lane_1_reg*64 +: 64];
    wire signed [63:0] w_5;
    wire signed [63:0] old_6 = 64'($signed(beta_6));

    kc_mul_shift #(.A_BITS(61), .C_BITS(31), .SHIFT(32), .Q_BITS(61), .CLOCKS(3))
        forget_inst (.clk(clk), .a(size_3_reg), .c(FADING), .q(faded_6));
    kc_mul_signed ridge_inst (.clk(clk), .a(w_2_reg), .c(fade_2_reg[30:0]), .q(w_5));
    kc_delay #(.WIDTH(61), .CLOCKS(4)) beta_delay_inst (.clk(clk), .d(beta_2_reg), .q(beta_6));
    kc_delay #(.WIDTH(BLOCK_BITS + LANE_BITS), .CLOCKS(PASS)) place_inst (.clk(clk), .d({block_reg, lane_reg}), .q(passed_place));

    always_ff @(posedge clk) begin
        beta_2_reg <= empty || pad_1_reg ? 61'sd0 : beta_lane[60:0];
        w_2_reg <= empty || pad_1_reg ? 32'sd0 : w;
        phi_2_reg <= phi;
        fade_2_reg <= pad_1_reg ? 32'd0 : one_1_reg ? FADE_ONE : input_1_reg ? FADE_INPUT : FADE_COSINE;
        size_3_reg <= beta_2_reg < 0 ? -beta_2_reg : beta_2_reg;
        e_high_3_reg <= $signed(wide_error[47:32]) * phi_2_reg;
        e_mid_3_reg <= $signed({1'b0, wide_error[31:16]}) * phi_2_reg;
        e_low_3_reg <= $signed({1'b0, wide_error[15:0]}) * phi_2_reg;
        e_4_reg <= 64'(e_high_3_reg) <<< 32;
        e_low_4_reg <= 49'(e_low_3_reg) + (49'(e_mid_3_reg) <<< 16);
        e_5_reg <= e_4_reg + 64'(e_low_4_reg);
        change_6_reg <= (e_5_reg >>> 15) - (w_5 >>> STEP_SHIFT);
        change_7_reg <= change_6_reg;
        kept_7_reg <= beta_6[60] ? old_6 + $signed(64'(faded_6)) : old_6 - $signed(64'(faded_6));
        new_8_reg <= kept_7_reg + change_7_reg;
    end

    assign pass_write = pass_valid_reg[PASS-1];
    assign passed_word = new_8_reg;
    assign passing = passing_reg;
    assign passed = pass_last_reg[PASS-1];
    assign pass_block = block_reg;
    assign pass_lane = lane_reg;

    // ---- a sweep: bit i of these is i + 1 clocks after the block's address ----
    logic [DEPTH-1:0] valid_reg, first_reg, last_reg, scale_reg;
    logic [3:0] change_reg;
    logic [DEPTH*BLOCK_BITS-1:0] blocks_reg;
    wire [LANES*(LANE_BITS+1)-1:0] tags;
    wire [63:0] key;
    wire [LANE_BITS:0] tag;
    logic [63:0] compared_reg, largest_reg;
    logic negative_reg, found_reg;
    logic [BLOCK_BITS-1:0] largest_block_reg;
    logic [LANE_BITS-1:0] largest_lane_reg;
    genvar i;

    generate
        for (i = 0; i < LANES; i = i + 1) begin : lane_of
            // Second clock: the words out of their memories.  Third: the shift.  Fourth: the sum.  Fifth: |beta|.
            logic signed [63:0] beta_s2_reg, beta_s3_reg, shifted_reg, sum_reg;
            logic rounded_reg, negative_5_reg;
            logic [63:0] size_reg;
            wire signed [31:0] r = column[i*32 +: 32];
            wire signed [63:0] multiplied = 64'(r) <<< power;
            wire one_4, is_input_4, pad_4;
            wire [63:0] addend = negative ? shifted_reg : ~shifted_reg;

            // A lane that is left takes no part.
            kc_rls_kind #(.LANES(LANES), .BLOCKS(BLOCKS), .FIRST_BLOCKS(FIRST_BLOCKS), .FIRST_REST(FIRST_REST), .INPUT_REST(INPUT_REST))
                kind_inst (.block(swept_block), .lane(LANE_BITS'(i)), .one(one_4), .is_input(is_input_4), .pad(pad_4));

            always_ff @(posedge clk) begin
                beta_s2_reg <= beta[i*64 +: 64];
                beta_s3_reg <= beta_s2_reg;
                shifted_reg <= change_reg[1] ? multiplied >>> STEP_SHIFT : 64'sd0;
                rounded_reg <= change_reg[1] && |(multiplied & ((64'sd1 <<< STEP_SHIFT) - 64'sd1));
                // floor(-v) is -ceil(v)
                sum_reg <= beta_s3_reg + $signed(addend) + $signed({63'd0, !negative || rounded_reg});
                size_reg <= pad_4 ? 64'd0 : sum_reg < 0 ? -sum_reg : sum_reg;
                negative_5_reg <= sum_reg < 0;
            end

            assign swept[i*64 +: 64] = sum_reg;
            assign keys[i*64 +: 64] = size_reg;
            assign tags[i*(LANE_BITS+1) +: LANE_BITS+1] = {negative_5_reg, LANE_BITS'(i)};
        end
    endgenerate

    kc_argmax_tree #(.KEY_BITS(64), .TAG_BITS(LANE_BITS + 1), .LANES(LANES))
        tree_inst (.clk(clk), .keys(keys), .tags(tags), .key(key), .tag(tag));

    always_ff @(posedge clk) begin
        valid_reg <= {valid_reg[DEPTH-2:0], sweep};
        first_reg <= {first_reg[DEPTH-2:0], sweep_first};
        last_reg <= {last_reg[DEPTH-2:0], sweep && sweep_last};
        scale_reg <= {scale_reg[DEPTH-2:0], sweep_scale};
        change_reg <= {change_reg[2:0], sweep && !searching};
        blocks_reg <= (DEPTH*BLOCK_BITS)'({blocks_reg, sweep_block});
        found_reg <= last_reg[DEPTH-1];
        if (valid_reg[DEPTH-1] && (first_reg[DEPTH-1] || key > compared_reg)) begin
            compared_reg <= key;
            largest_reg <= key;
            {negative_reg, largest_lane_reg} <= tag;
            largest_block_reg <= blocks_reg[DEPTH*BLOCK_BITS-1 -: BLOCK_BITS];
        end
        if (scale_reg[DEPTH-1]) compared_reg <= compared_reg >> scale;
        if (rst) begin
            valid_reg <= {DEPTH{1'b0}};
            last_reg <= {DEPTH{1'b0}};
            scale_reg <= {DEPTH{1'b0}};
            change_reg <= 4'd0;
            found_reg <= 1'b0;
        end
    end

    assign sweep_write = change_reg[3] && !halt;
    assign swept_block = blocks_reg[4*BLOCK_BITS-1 -: BLOCK_BITS];
    assign found = found_reg;
    assign largest = largest_reg;
    assign largest_negative = negative_reg;
    assign largest_block = largest_block_reg;
    assign largest_lane = largest_lane_reg;
    assign state_entry = beta[state_lane*64 +: 64];
endmodule

`default_nettype wire
