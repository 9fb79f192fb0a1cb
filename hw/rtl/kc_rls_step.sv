// kerncast: the coefficients w of kernel RLS, and the steps of dichotomous coordinate descent: the coefficient of the
// largest residual beta changes by sign(beta) 2^k, with the least 2^k that is at least |beta| / R_ii, and k at most 30.
//
// No step is taken if beta is 0, k is negative, R_ii is not positive (of an overwritten state only), or the coefficient
// would leave its range. From `choose`: 4 clocks to `power`, 6 to `decided`.
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
    input  wire [63:0] largest,                 // twice its magnitude, its leading byte on the left,
    input  wire [2:0] largest_byte,             // and the place of this byte
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

    // First clock: the bits of the residual.  Second: its word without leading zeros.  Third: k or k - 1, and the
    // comparison that decides which.  Fourth: k.  Fifth: the coefficient.  Sixth: whether it has left its range.
    logic [5:0] choose_reg;
    logic negative_reg, above_reg, none_reg, halt_reg, over_reg;
    logic signed [8:0] below_reg;
    logic [5:0] length_1_reg, length_2_reg;
    logic [62:0] size_2_reg;
    logic [36:0] entry_2_reg;
    logic signed [31:0] w_2_reg;
    logic [4:0] power_reg;
    logic signed [33:0] sum_reg;
    wire [7:0] top = largest[63:56];
    wire [2:0] top_length = {|top[7:4], |top[7:4] ? |top[7:6] : |top[3:2],
                             top[7] || (!top[6] && (top[5] || (!top[4] && (top[3] || (!top[2] && top[1])))))};
    wire [63:0] shifted = largest << (3'd7 - length_1_reg[2:0]);
    wire [36:0] entry;
    wire [PLACE_BITS-1:0] largest_place = (PLACE_BITS'(largest_block) << LEVELS) | PLACE_BITS'(largest_lane);
    logic [PLACE_BITS-1:0] place_reg;
    wire above = size_2_reg[62:32] > entry_2_reg[30:0]
        || (size_2_reg[62:32] == entry_2_reg[30:0] && size_2_reg[31:0] != 0);
    wire signed [8:0] bits_more = $signed({3'd0, length_2_reg}) - $signed({3'd0, entry_2_reg[36:31]});
    wire signed [8:0] k = above_reg ? below_reg + 9'sd1 : below_reg;
    wire none = length_2_reg == 0 || entry_2_reg[36:31] == 0;
    wire signed [33:0] step = 34'sd1 <<< power_reg;
    // -step is ~step + 1; the last ones make a carry.
    wire [34:0] sum = {34'(w_2_reg), 1'b1} + {negative_reg ? ~step : step, negative_reg};
    wire taken = choose_reg[5] && !halt;

    kc_ram #(.WIDTH(37), .DEPTH(BLOCKS*LANES), .READ_OLD(0)) diagonal_inst (
        .clk(clk), .write_enable(diagonal_valid_reg[2]),
        .write_address((PLACE_BITS'(place_3[LANE_BITS +: BLOCK_BITS]) << LEVELS) | PLACE_BITS'(place_3[LANE_BITS-1:0])),
        .write_data({bits_3_reg, diagonal_3_reg}), .read_address(largest_place), .read_data(entry));
    kc_ram #(.WIDTH(32), .DEPTH(BLOCKS*LANES), .READ_OLD(0)) w_inst (
        .clk(clk), .write_enable(taken || write), .write_address(taken ? place_reg : write_place),
        .write_data(taken ? sum_reg[31:0] : write_word), .read_address(reading ? read_place : largest_place), .read_data(w));

    always_ff @(posedge clk) begin
        choose_reg <= {choose_reg[4:0], choose};
        if (choose) negative_reg <= largest_negative;
        if (choose) place_reg <= largest_place;
        length_1_reg <= {largest_byte, top_length};
        length_2_reg <= length_1_reg;
        size_2_reg <= shifted[63:1];
        entry_2_reg <= entry;
        w_2_reg <= w;
        above_reg <= above;
        below_reg <= bits_more + 9'(STEP_SHIFT);
        none_reg <= none;
        if (choose_reg[2]) begin
            power_reg <= k > 9'sd30 ? 5'd30 : k[4:0];
            halt_reg <= none_reg || k < 0;
        end
        if (choose_reg[3]) sum_reg <= $signed(sum[34:1]);
        if (choose_reg[4]) over_reg <= sum_reg > RAIL || sum_reg < -RAIL;
        if (rst) begin
            choose_reg <= 6'd0;
            negative_reg <= 1'b0;           // a sweep that only searches adds a negative 0
        end
    end

    assign scale = scale_reg;
    assign negative = negative_reg;
    assign power = power_reg;
    assign decided = choose_reg[5];
    assign halt = halt_reg || over_reg;
    assign saturated = over_reg && !halt_reg;
endmodule

`default_nettype wire
