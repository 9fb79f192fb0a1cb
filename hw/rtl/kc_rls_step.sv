// kerncast: the coefficients w of kernel RLS, and the steps of dichotomous coordinate descent: the coefficient of the
// largest residual beta changes by sign(beta) 2^k, with the least 2^k that is at least |beta| / R_ii, and k at most 30.
//
// No step is taken if beta is 0, k is negative, R_ii is not positive (of an overwritten state only), or the coefficient
// would leave its range. From `choose`: 3 clocks to `power`, 4 to `decided`.
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_rls_step #(
    parameter int LANES = 1,                    // a power of two
    parameter int BLOCKS = 2,
    parameter int FIRST_BLOCKS = 2,             // of 1 and the cosines; then come those of the inputs
    parameter int STEP_SHIFT = 0,
    parameter int BLOCK_BITS = BLOCKS > 1 ? $clog2(BLOCKS) : 1,
    parameter int LANE_BITS = LANES > 1 ? $clog2(LANES) : 1,
    parameter int PLACE_BITS = BLOCKS*LANES > 1 ? $clog2(BLOCKS*LANES) : 1
) (
    input  wire clk,
    input  wire rst,

    input  wire update,                         // for one clock: the diagonal of R comes
    input  wire diagonal_valid,
    input  wire [BLOCK_BITS-1:0] diagonal_block,
    input  wire [LANE_BITS-1:0] diagonal_lane,
    input  wire [31:0] diagonal,
    output wire [3:0] scale,                    // half the bits that the inputs' largest R_ii has less

    input  wire choose,                         // for one clock: the largest residual is known
    input  wire [63:0] largest,
    input  wire largest_negative,
    input  wire [BLOCK_BITS-1:0] largest_block,
    input  wire [LANE_BITS-1:0] largest_lane,
    output wire negative,
    output wire [4:0] power,
    output wire decided,                        // for one clock
    output wire halt,                           // no step
    output wire saturated,                      // because of the range

    input  wire reading,                        // read the coefficient of another place: latency one clock
    input  wire [PLACE_BITS-1:0] read_place,
    output wire [31:0] w,
    input  wire write,
    input  wire [PLACE_BITS-1:0] write_place,
    input  wire [31:0] write_word
);
    localparam LEVELS = $clog2(LANES);
    localparam signed [33:0] RAIL = 34'sd2147483647;

    // The diagonal: its bits, and its words without leading zeros.
    logic [2:0] diagonal_valid_reg;
    logic [31:0] diagonal_1_reg;
    logic [30:0] diagonal_2_reg, diagonal_3_reg;
    logic [5:0] bits_2_reg, bits_3_reg, first_bits_reg, input_bits_reg;
    logic [3:0] scale_reg;
    wire [5:0] bits_1;
    wire [BLOCK_BITS+LANE_BITS-1:0] place_3;
    logic [BLOCK_BITS-1:0] block_1_reg, block_2_reg;
    wire input_2 = {1'b0, block_2_reg} >= (BLOCK_BITS + 1)'(FIRST_BLOCKS);
    wire [6:0] difference = {1'b0, first_bits_reg} - {1'b0, input_bits_reg};

    kc_bit_length #(.V_BITS(63)) diagonal_bits_inst (.v({32'd0, diagonal_1_reg[30:0]}), .length(bits_1));
    kc_delay #(.WIDTH(BLOCK_BITS + LANE_BITS), .CLOCKS(3))
        place_inst (.clk(clk), .d({diagonal_block, diagonal_lane}), .q(place_3));

    always_ff @(posedge clk) begin
        diagonal_valid_reg <= {diagonal_valid_reg[1:0], diagonal_valid};
        diagonal_1_reg <= diagonal;
        block_1_reg <= diagonal_block;
        block_2_reg <= block_1_reg;
        bits_2_reg <= diagonal_1_reg[31] ? 6'd0 : bits_1;
        diagonal_2_reg <= diagonal_1_reg[30:0];
        bits_3_reg <= bits_2_reg;
        diagonal_3_reg <= diagonal_2_reg << (6'd31 - bits_2_reg);
        if (update) begin
            first_bits_reg <= 6'd0;
            input_bits_reg <= 6'd0;
        end else if (diagonal_valid_reg[1]) begin
            if (!input_2 && bits_2_reg > first_bits_reg) first_bits_reg <= bits_2_reg;
            if (input_2 && bits_2_reg > input_bits_reg) input_bits_reg <= bits_2_reg;
        end
        scale_reg <= difference[6] ? 4'd0 : difference[4:1];
        if (rst) diagonal_valid_reg <= 3'd0;
    end

    // First clock: the bits of the residual.  Second: its word without leading zeros.  Third: k.  Fourth: the
    // coefficient.
    logic [3:0] choose_reg;
    logic negative_reg, halt_reg, over_reg;
    logic [5:0] length_1_reg, length_2_reg;
    logic [62:0] size_2_reg;
    logic [36:0] entry_2_reg;
    logic signed [31:0] w_2_reg;
    logic [4:0] power_reg;
    logic [31:0] sum_reg;
    wire [5:0] length;
    wire [36:0] entry;
    wire [PLACE_BITS-1:0] largest_place = (PLACE_BITS'(largest_block) << LEVELS) | PLACE_BITS'(largest_lane);
    logic [PLACE_BITS-1:0] place_reg;
    wire above = size_2_reg[62:32] > entry_2_reg[30:0]
        || (size_2_reg[62:32] == entry_2_reg[30:0] && size_2_reg[31:0] != 0);
    // Both possible k, in parallel with the comparison that selects one, which keeps the path short.
    wire signed [8:0] bits_more = $signed({3'd0, length_2_reg}) - $signed({3'd0, entry_2_reg[36:31]});
    wire signed [8:0] k_below = bits_more + 9'(STEP_SHIFT);
    wire signed [8:0] k_above = bits_more + 9'(STEP_SHIFT + 1);
    wire [4:0] power_below = k_below > 9'sd30 ? 5'd30 : k_below[4:0];
    wire [4:0] power_above = k_above > 9'sd30 ? 5'd30 : k_above[4:0];
    wire none = length_2_reg == 0 || entry_2_reg[36:31] == 0;
    wire signed [33:0] step = 34'sd1 <<< power_reg;
    wire signed [33:0] sum = negative_reg ? 34'(w_2_reg) - step : 34'(w_2_reg) + step;
    wire taken = choose_reg[3] && !halt;

    kc_bit_length #(.V_BITS(63)) length_inst (.v(largest[62:0]), .length(length));
    kc_ram #(.WIDTH(37), .DEPTH(BLOCKS*LANES), .READ_OLD(0)) diagonal_inst (
        .clk(clk), .write_enable(diagonal_valid_reg[2]),
        .write_address((PLACE_BITS'(place_3[LANE_BITS +: BLOCK_BITS]) << LEVELS) | PLACE_BITS'(place_3[LANE_BITS-1:0])),
        .write_data({bits_3_reg, diagonal_3_reg}), .read_address(largest_place), .read_data(entry));
    kc_ram #(.WIDTH(32), .DEPTH(BLOCKS*LANES), .READ_OLD(0)) w_inst (
        .clk(clk), .write_enable(taken || write), .write_address(taken ? place_reg : write_place),
        .write_data(taken ? sum_reg : write_word), .read_address(reading ? read_place : largest_place), .read_data(w));

    always_ff @(posedge clk) begin
        choose_reg <= {choose_reg[2:0], choose};
        if (choose) negative_reg <= largest_negative;
        if (choose) place_reg <= largest_place;
        length_1_reg <= length;
        length_2_reg <= length_1_reg;
        size_2_reg <= largest[62:0] << (6'd63 - length_1_reg);
        entry_2_reg <= entry;
        w_2_reg <= w;
        if (choose_reg[1]) begin
            power_reg <= above ? power_above : power_below;
            halt_reg <= none || (above ? k_above < 0 : k_below < 0);
        end
        if (choose_reg[2]) begin
            sum_reg <= sum[31:0];
            over_reg <= sum > RAIL || sum < -RAIL;
        end
        if (rst) begin
            choose_reg <= 4'd0;
            negative_reg <= 1'b0;           // a sweep that only searches adds a negative 0
        end
    end

    assign scale = scale_reg;
    assign negative = negative_reg;
    assign power = power_reg;
    assign decided = choose_reg[3];
    assign halt = halt_reg || over_reg;
    assign saturated = over_reg && !halt_reg;
endmodule

`default_nettype wire
