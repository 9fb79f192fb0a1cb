// kerncast: the residual beta of the normal equations of kernel RLS. A pass over the features with a new sample:
//   beta <- wrap(beta, 61) - mu beta (toward zero) + floor(error phi / 2^15) - floor(mu ridge w / 2^STEP_SHIFT)
// A sweep over their blocks subtracts the product of a step and a column of R, and finds the largest |beta|, the first of several;
// those of the inputs count 2^scale times.
//
// A pass takes four clocks per feature, in which four hardware multipliers compute its products piece by piece, and 9 clocks
// more. A sweep takes one block a clock, one clock more if the inputs are features, and 8 + log2(LANES) clocks more.
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

    input  wire pass,                           // for one clock: begin; the error is valid 4 clocks later
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
    input  wire [LANES*32-1:0] column,          // three clocks after its block
    input  wire negative,                       // of the step; three clocks after the first block
    input  wire [4:0] power,                    // the step is 2^power
    input  wire halt,                           // it is not taken; five clocks after the first block
    input  wire [3:0] scale,
    output wire found,                          // for one clock: the largest of the sweep
    output wire [63:0] largest,                 // twice its magnitude, its leading byte on the left,
    output wire [2:0] largest_byte,             // and the place of this byte
    output wire largest_negative,
    output wire [BLOCK_BITS-1:0] largest_block,
    output wire [LANE_BITS-1:0] largest_lane,

    input  wire [BLOCK_BITS-1:0] state_block,   // one entry; read latency two clocks
    input  wire [LANE_BITS-1:0] state_lane,
    output wire [63:0] state_entry,
    input  wire state_write,
    input  wire [63:0] state_word
);
    localparam LEVELS = $clog2(LANES);
    localparam DEPTH = 6 + LEVELS;              // clocks from the address of a block to its largest entry
    localparam PASS = 12;                       // clocks from the first address of a feature to its write
    localparam [LANE_BITS-1:0] LAST_LANE = LANE_BITS'(LANES - 1);
    localparam [BLOCK_BITS-1:0] LAST_BLOCK = BLOCK_BITS'(BLOCKS - 1);

    wire [LANES*64-1:0] beta, swept, keys;
    logic [LANES*64-1:0] beta_2_reg;            // the words of the second clock
    logic [LANE_BITS-1:0] state_lane_reg;
    wire [63:0] passed_word;
    wire [BLOCK_BITS+LANE_BITS-1:0] passed_place;
    wire [BLOCK_BITS-1:0] swept_block, read_block;
    wire pass_write, sweep_write, sweep_read;
    wire [LANES-1:0] pass_mask = LANES'(1) << passed_place[LANE_BITS-1:0];
    wire [LANES-1:0] state_mask = LANES'(1) << state_lane;

    // ---- a pass ----
    logic passing_reg;
    logic [1:0] phase_reg;                      // of the four clocks of a feature
    logic [BLOCK_BITS-1:0] block_reg;
    logic [LANE_BITS-1:0] lane_reg, lane_1_reg, lane_2_reg;
    logic [PASS-1:0] pass_valid_reg, pass_last_reg;
    logic one_1_reg, input_1_reg, pad_1_reg, blank_2_reg;
    wire one, is_input, pad;
    wire feature_end = phase_reg == 2'd3;
    wire last = block_reg == LAST_BLOCK && lane_reg == LAST_LANE;

    kc_rls_kind #(.LANES(LANES), .BLOCKS(BLOCKS), .FIRST_BLOCKS(FIRST_BLOCKS), .FIRST_REST(FIRST_REST), .INPUT_REST(INPUT_REST))
        kind_inst (.block(block_reg), .lane(lane_reg), .one(one), .is_input(is_input), .pad(pad));

    always_ff @(posedge clk) begin
        phase_reg <= phase_reg + 1'b1;
        if (pass) begin
            passing_reg <= 1'b1;
            phase_reg <= 2'd0;
            block_reg <= {BLOCK_BITS{1'b0}};
            lane_reg <= {LANE_BITS{1'b0}};
        end
        if (passing_reg && feature_end) begin
            lane_reg <= lane_reg == LAST_LANE ? {LANE_BITS{1'b0}} : lane_reg + 1'b1;
            if (lane_reg == LAST_LANE) block_reg <= block_reg + 1'b1;
            if (last) passing_reg <= 1'b0;
        end
        pass_valid_reg <= {pass_valid_reg[PASS-2:0], passing_reg && phase_reg == 0};
        pass_last_reg <= {pass_last_reg[PASS-2:0], passing_reg && phase_reg == 0 && last};
        lane_1_reg <= lane_reg;
        lane_2_reg <= lane_1_reg;
        one_1_reg <= one;
        input_1_reg <= is_input;
        pad_1_reg <= pad;
        blank_2_reg <= empty || pad_1_reg;
        if (rst) begin
            passing_reg <= 1'b0;
            phase_reg <= 2'd0;
            pass_valid_reg <= {PASS{1'b0}};
            pass_last_reg <= {PASS{1'b0}};
        end
    end

    kc_ram_banked #(.WIDTH(64), .ROWS(BLOCKS), .LANES(LANES), .READ_OLD(0)) beta_inst (
        .clk(clk), .write_mask(sweep_write ? {LANES{1'b1}} : pass_write ? pass_mask : state_mask & {LANES{state_write}}),
        .write_row(sweep_write ? swept_block : pass_write ? passed_place[LANE_BITS +: BLOCK_BITS] : state_block),
        .write_data(sweep_write ? swept : {LANES{pass_write ? passed_word : state_word}}),
        .read_row(passing_reg ? block_reg : sweep_read ? read_block : state_block), .read_data(beta));

    // Second clock: the words out of their memories.  Third: those of the feature.  Fourth to seventh: their pieces, the
    // lowest first.  Fifth to eighth: products of pieces.  Sixth to ninth: their sums, without the pieces of the results
    // that are complete.  Those of |beta| are one clock later.
    logic signed [60:0] beta_3_reg, beta_4_reg, beta_8_reg;
    logic signed [31:0] w_2_reg, w_3_reg;
    logic signed [15:0] phi_2_reg, phi_3_reg, phi_4_reg, w_high_4_reg;
    logic [31:0] fade_2_reg, fade_3_reg, fade_4_reg;
    logic [63:0] size_4_reg, e_4_reg;
    logic signed [16:0] w_4_reg;
    logic [31:0] size_low_5_reg, size_high_5_reg;
    logic signed [33:0] e_5_reg, w_5_reg, e_6_reg, w_6_reg;
    logic [47:0] size_6_reg, size_7_reg, e_low_reg, w_low_reg;
    logic [15:0] size_low_reg;
    logic signed [63:0] change_10_reg, change_11_reg, kept_11_reg, new_12_reg;
    logic [6:0] begins_reg;                     // bit i: i + 1 clocks after the first address of a feature
    wire load = begins_reg[2];
    wire begins_5 = begins_reg[4];
    wire begins_6 = begins_reg[5];
    wire middle_7 = begins_reg[6];              // two products of w are of one weight
    wire signed [60:0] size_3 = beta_3_reg < 0 ? -beta_3_reg : beta_3_reg;
    wire [63:0] beta_lane = beta_2_reg[lane_2_reg*64 +: 64];
    wire signed [63:0] e_9 = {e_6_reg[15:0], e_low_reg};
    wire signed [63:0] w_9 = {w_6_reg[31:0], w_low_reg[47:32], w_low_reg[15:0]};
    wire signed [63:0] old_10 = 64'(beta_8_reg);
    wire signed [63:0] faded_10 = 64'({size_7_reg, size_low_reg});

    kc_delay #(.WIDTH(BLOCK_BITS + LANE_BITS), .CLOCKS(PASS)) place_inst (.clk(clk), .d({block_reg, lane_reg}), .q(passed_place));

    always_ff @(posedge clk) begin
        begins_reg <= pass ? 7'd0 : {begins_reg[5:0], phase_reg == 0};
        beta_2_reg <= beta;
        state_lane_reg <= state_lane;
        beta_3_reg <= blank_2_reg ? 61'sd0 : beta_lane[60:0];
        w_2_reg <= empty || pad_1_reg ? 32'sd0 : w;
        w_3_reg <= w_2_reg;
        phi_2_reg <= phi;
        phi_3_reg <= phi_2_reg;
        fade_2_reg <= pad_1_reg ? 32'd0 : one_1_reg ? FADE_ONE : input_1_reg ? FADE_INPUT : FADE_COSINE;
        fade_3_reg <= fade_2_reg;
        size_4_reg <= {16'd0, size_4_reg[63:16]};
        e_4_reg <= {16'd0, e_4_reg[63:16]};
        // w's pieces: low, low, high, high; those of mu ridge: low, high, low, high.
        fade_4_reg <= {fade_4_reg[15:0], fade_4_reg[31:16]};
        if (begins_5) w_4_reg <= 17'(w_high_4_reg);
        if (load) begin
            beta_4_reg <= beta_3_reg;
            beta_8_reg <= beta_4_reg;
            size_4_reg <= {3'd0, size_3};
            e_4_reg <= 64'(error);
            phi_4_reg <= phi_3_reg;
            fade_4_reg <= fade_3_reg;
            w_4_reg <= $signed({1'b0, w_3_reg[15:0]});
            w_high_4_reg <= w_3_reg[31:16];
        end
        size_low_5_reg <= size_4_reg[15:0] * FADING[15:0];
        size_high_5_reg <= size_4_reg[15:0] * FADING[30:16];
        e_5_reg <= $signed({1'b0, e_4_reg[15:0]}) * phi_4_reg;
        w_5_reg <= w_4_reg * $signed({1'b0, fade_4_reg[15:0]});
        size_6_reg <= 48'(size_low_5_reg) + (48'(size_high_5_reg) << 16);
        size_7_reg <= (begins_6 ? 48'd0 : size_7_reg >> 16) + size_6_reg;
        size_low_reg <= size_7_reg[15:0];
        e_6_reg <= (begins_5 ? 34'sd0 : e_6_reg >>> 16) + e_5_reg;
        e_low_reg <= {e_6_reg[15:0], e_low_reg[47:16]};
        w_6_reg <= (begins_5 ? 34'sd0 : middle_7 ? w_6_reg : w_6_reg >>> 16) + w_5_reg;
        w_low_reg <= {w_6_reg[15:0], w_low_reg[47:16]};
        change_10_reg <= (e_9 >>> 15) - (w_9 >>> STEP_SHIFT);
        change_11_reg <= change_10_reg;
        kept_11_reg <= beta_8_reg[60] ? old_10 + faded_10 : old_10 - faded_10;
        new_12_reg <= kept_11_reg + change_11_reg;
    end

    assign pass_write = pass_valid_reg[PASS-1];
    assign passed_word = new_12_reg;
    assign passing = passing_reg;
    assign passed = pass_last_reg[PASS-1];
    assign pass_block = block_reg;
    assign pass_lane = lane_reg;

    // ---- a sweep: bit i of these is i + 1 clocks after the block's address ----
    logic [DEPTH-1:0] valid_reg, first_reg, last_reg, scale_reg;
    logic [4:0] change_reg;
    logic [(DEPTH+1)*BLOCK_BITS-1:0] blocks_reg;
    wire [LANES*(LANE_BITS+1)-1:0] tags;
    wire [63:0] key;
    wire [LANE_BITS:0] tag;
    logic [63:0] compared_reg, key_reg, largest_reg;
    logic [7:0] bytes_reg;                      // those of 2 key_reg that are not 0
    logic [2:0] byte_reg;
    wire [63:0] twice_key = {key[62:0], 1'b0};
    wire [7:0] bytes;
    wire [2:0] leading;
    logic [LANE_BITS:0] tag_reg;
    logic greater_reg, negative_reg;
    logic [1:0] found_reg;
    logic [BLOCK_BITS-1:0] largest_block_reg;
    logic [LANE_BITS-1:0] largest_lane_reg;
    // The largest so far is key_reg if greater_reg is set, otherwise compared_reg. A key is compared with both, by
    // subtraction, so that no more than one gate is behind a carry chain.
    wire [64:0] less_key = {1'b0, key_reg} - {1'b0, key};
    wire [64:0] less_compared = {1'b0, compared_reg} - {1'b0, key};
    wire greater = valid_reg[DEPTH-1] && (first_reg[DEPTH-1] || (greater_reg ? less_key[64] : less_compared[64]));
    genvar i;

    assign leading[2] = |bytes_reg[7:4];
    assign leading[1] = |bytes_reg[7:4] ? |bytes_reg[7:6] : |bytes_reg[3:2];
    assign leading[0] = bytes_reg[7] || (!bytes_reg[6] && (bytes_reg[5]
        || (!bytes_reg[4] && (bytes_reg[3] || (!bytes_reg[2] && bytes_reg[1])))));

    generate
        for (i = 0; i < 8; i = i + 1) begin : byte_of
            assign bytes[i] = |twice_key[8*i +: 8];
        end
        for (i = 0; i < LANES; i = i + 1) begin : lane_of
            // Third clock: the words out of their memories.  Fourth: the shift.  Fifth: the sum.  Sixth: |beta|.
            logic signed [63:0] beta_s4_reg;
            logic [63+STEP_SHIFT:0] addend_reg;
            logic [64+STEP_SHIFT:0] sum_reg;    // with the bits that are rounded, and below them a carry
            logic negative_6_reg;
            logic [63:0] size_reg;
            wire signed [31:0] r = column[i*32 +: 32];
            wire signed [63:0] multiplied = 64'(r) <<< power;
            wire signed [63+STEP_SHIFT:0] product = (64 + STEP_SHIFT)'(change_reg[2] ? multiplied : 64'sd0);
            wire signed [63:0] sum = sum_reg[STEP_SHIFT+1 +: 64];
            wire one_5, is_input_5, pad_5;

            // A lane that is left takes no part.
            kc_rls_kind #(.LANES(LANES), .BLOCKS(BLOCKS), .FIRST_BLOCKS(FIRST_BLOCKS), .FIRST_REST(FIRST_REST), .INPUT_REST(INPUT_REST))
                kind_inst (.block(swept_block), .lane(LANE_BITS'(i)), .one(one_5), .is_input(is_input_5), .pad(pad_5));

            always_ff @(posedge clk) begin
                beta_s4_reg <= beta_2_reg[i*64 +: 64];
                addend_reg <= negative ? product : ~product;
                // beta - floor(v) is floor(beta - v + 1 - 2^-STEP_SHIFT); the last ones make a carry.
                sum_reg <= {beta_s4_reg, {STEP_SHIFT+1{1'b1}}} + {addend_reg, !negative};
                size_reg <= pad_5 ? 64'd0 : sum < 0 ? -sum : sum;
                negative_6_reg <= sum < 0;
            end

            assign swept[i*64 +: 64] = sum;
            assign keys[i*64 +: 64] = size_reg;
            assign tags[i*(LANE_BITS+1) +: LANE_BITS+1] = {negative_6_reg, LANE_BITS'(i)};
        end
    endgenerate

    kc_argmax_tree #(.KEY_BITS(64), .TAG_BITS(LANE_BITS + 1), .LANES(LANES))
        tree_inst (.clk(clk), .keys(keys), .tags(tags), .key(key), .tag(tag));

    always_ff @(posedge clk) begin
        valid_reg <= {valid_reg[DEPTH-2:0], sweep};
        first_reg <= {first_reg[DEPTH-2:0], sweep_first};
        last_reg <= {last_reg[DEPTH-2:0], sweep && sweep_last};
        scale_reg <= {scale_reg[DEPTH-2:0], sweep_scale};
        change_reg <= {change_reg[3:0], sweep && !searching};
        blocks_reg <= ((DEPTH + 1)*BLOCK_BITS)'({blocks_reg, sweep_block});
        found_reg <= {found_reg[0], last_reg[DEPTH-1]};
        greater_reg <= greater;
        key_reg <= key;
        bytes_reg <= bytes;
        tag_reg <= tag;
        if (greater_reg) begin
            compared_reg <= key_reg;
            largest_reg <= {key_reg[62:0], 1'b0} << (6'd56 - {leading, 3'd0});
            byte_reg <= leading;
            {negative_reg, largest_lane_reg} <= tag_reg;
            largest_block_reg <= blocks_reg[(DEPTH+1)*BLOCK_BITS-1 -: BLOCK_BITS];
        end
        if (scale_reg[DEPTH-1]) compared_reg <= (greater_reg ? key_reg : compared_reg) >> scale;
        if (rst) begin
            valid_reg <= {DEPTH{1'b0}};
            last_reg <= {DEPTH{1'b0}};
            scale_reg <= {DEPTH{1'b0}};
            greater_reg <= 1'b0;
            change_reg <= 5'd0;
            found_reg <= 2'd0;
        end
    end

    assign sweep_read = valid_reg[0];           // one clock after R, which is moved between lanes
    assign read_block = blocks_reg[BLOCK_BITS-1:0];
    assign sweep_write = change_reg[4] && !halt;
    assign swept_block = blocks_reg[5*BLOCK_BITS-1 -: BLOCK_BITS];
    assign found = found_reg[1];
    assign largest = largest_reg;
    assign largest_byte = byte_reg;
    assign largest_negative = negative_reg;
    assign largest_block = largest_block_reg;
    assign largest_lane = largest_lane_reg;
    assign state_entry = beta_2_reg[state_lane_reg*64 +: 64];
endmodule

`default_nettype wire
