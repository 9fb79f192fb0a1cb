// kerncast: the correlation matrix R of kernel RLS: R <- R - floor(mu R) + floor(phi phi') + mu ridge, with mu = 1 -
// lambda; a column of it, LANES entries a clock; and single entries, for the state.
//
// Features lie in blocks of LANES. R is stored in tiles of LANES x LANES entries, those of the upper triangle row by
// row, the tiles on the diagonal whole. Entry (i, j) is in bank (i + j) mod LANES, so that a row and a column of a tile
// are read in one clock:
//
//   tile, LANES = 4     j 0 1 2 3        row i: address i in every bank
//            i = 0        0 1 2 3  bank  column j: address (bank - j) mod 4
//            i = 1        1 2 3 0
//            i = 2        2 3 0 1
//            i = 3        3 0 1 2
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_rls_matrix #(
    parameter int LANES = 1,                    // a power of two
    parameter int BLOCKS = 2,
    parameter int FIRST_BLOCKS = 2,             // of 1 and the cosines; then come those of the inputs
    parameter int FIRST_REST = 1,               // features in the last block of either, 1 to LANES
    parameter int INPUT_REST = 1,
    parameter int PRODUCT_SHIFT = 0,
    parameter logic [30:0] FADING = 0,          // mu as a fraction of 32 bits
    parameter logic [31:0] RIDGE_ONE = 0, RIDGE_COSINE = 0, RIDGE_INPUT = 0,
    parameter logic [31:0] FADE_ONE = 0, FADE_COSINE = 0, FADE_INPUT = 0,   // floor(mu ridge)
    parameter int BLOCK_BITS = BLOCKS > 1 ? $clog2(BLOCKS) : 1,
    parameter int LANE_BITS = LANES > 1 ? $clog2(LANES) : 1,
    parameter int TILES = BLOCKS*(BLOCKS + 1)/2,
    parameter int TILE_BITS = TILES > 1 ? $clog2(TILES) : 1
) (
    input  wire clk,
    input  wire rst,

    input  wire phi_valid,                      // `phi` is the feature of a place
    input  wire [BLOCK_BITS-1:0] phi_block,
    input  wire [LANE_BITS-1:0] phi_lane,
    input  wire [15:0] phi,

    input  wire update,                         // for one clock: all features are here
    input  wire empty,                          // R is the ridge
    output wire updated,                        // for one clock
    output wire diagonal_valid,                 // an entry of the diagonal, during an update
    output wire [BLOCK_BITS-1:0] diagonal_block,
    output wire [LANE_BITS-1:0] diagonal_lane,
    output wire [31:0] diagonal,
    output wire multiplying,                    // features, in the hardware multipliers of the lanes:
    output wire [LANES*16-1:0] factors_i,
    output wire [LANES*16-1:0] factors_j,
    input  wire [LANES*32-1:0] products,        // two clocks later

    input  wire column_start,                   // for one clock: the column of the place begins
    input  wire [BLOCK_BITS-1:0] column_block,
    input  wire [LANE_BITS-1:0] column_lane,
    input  wire column_next,                    // read the entries of the next block,
    output wire [LANES*32-1:0] column,          // which come three clocks later

    input  wire [TILE_BITS-1:0] state_tile,     // an entry; read latency two clocks
    input  wire [LANE_BITS-1:0] state_row,
    input  wire [LANE_BITS-1:0] state_column,
    output wire [31:0] state_entry,
    input  wire state_write,                    // the entry, or its mirror image, of the clock before
    input  wire [31:0] state_word
);
    localparam DEPTH = TILES*LANES;
    localparam ADDRESS_BITS = DEPTH > 1 ? $clog2(DEPTH) : 1;
    localparam PLACE_BITS = BLOCKS*LANES > 1 ? $clog2(BLOCKS*LANES) : 1;
    localparam LEVELS = $clog2(LANES);
    localparam LATENCY = 6;                     // clocks from the address of an update to its write
    localparam [LANE_BITS-1:0] LANE_MASK = LANE_BITS'(LANES - 1);
    localparam [BLOCK_BITS-1:0] LAST_BLOCK = BLOCK_BITS'(BLOCKS - 1);

    // The update: rows of a tile, tiles of a row of tiles, rows of tiles.
    logic running_reg;
    logic [BLOCK_BITS-1:0] i_block_reg, j_block_reg;
    logic [LANE_BITS-1:0] i_lane_reg;
    logic [TILE_BITS-1:0] tile_reg;
    wire tile_end = i_lane_reg == LANE_MASK;
    wire row_end = tile_end && j_block_reg == LAST_BLOCK;
    wire last = row_end && i_block_reg == LAST_BLOCK;

    // The column of place (c_block, c_lane).
    logic [BLOCK_BITS-1:0] c_block_reg, c_at_reg;
    logic [LANE_BITS-1:0] c_lane_reg;
    logic [TILE_BITS-1:0] c_tile_reg;
    wire above = c_at_reg < c_block_reg;        // the tile holds the column as a column

    always_ff @(posedge clk) begin
        if (update) begin
            running_reg <= 1'b1;
            i_block_reg <= {BLOCK_BITS{1'b0}};
            j_block_reg <= {BLOCK_BITS{1'b0}};
            i_lane_reg <= {LANE_BITS{1'b0}};
            tile_reg <= {TILE_BITS{1'b0}};
        end
        if (running_reg) begin
            i_lane_reg <= tile_end ? {LANE_BITS{1'b0}} : i_lane_reg + 1'b1;
            if (tile_end) tile_reg <= tile_reg + 1'b1;
            if (tile_end) j_block_reg <= row_end ? i_block_reg + 1'b1 : j_block_reg + 1'b1;
            if (row_end) i_block_reg <= i_block_reg + 1'b1;
            if (last) running_reg <= 1'b0;
        end
        if (column_start) begin
            c_block_reg <= column_block;
            c_lane_reg <= column_lane;
            c_at_reg <= {BLOCK_BITS{1'b0}};
            c_tile_reg <= TILE_BITS'(column_block);
        end
        if (column_next) begin
            c_at_reg <= c_at_reg + 1'b1;
            c_tile_reg <= c_tile_reg + (above ? TILE_BITS'(BLOCKS - 1) - TILE_BITS'(c_at_reg) : TILE_BITS'(1));
        end
        if (rst) running_reg <= 1'b0;
    end

    // The features: one of them, and a block.
    wire one, is_input, pad;
    wire [15:0] phi_i;
    wire [LANES*16-1:0] phi_j;

    kc_ram #(.WIDTH(16), .DEPTH(BLOCKS*LANES), .READ_OLD(0)) phi_i_inst (
        .clk(clk), .write_enable(phi_valid), .write_address((PLACE_BITS'(phi_block) << LEVELS) | PLACE_BITS'(phi_lane)),
        .write_data(phi), .read_address((PLACE_BITS'(i_block_reg) << LEVELS) | PLACE_BITS'(i_lane_reg)), .read_data(phi_i));
    kc_ram_banked #(.WIDTH(16), .ROWS(BLOCKS), .LANES(LANES), .READ_OLD(0))
        phi_j_inst (.clk(clk), .write_mask({LANES{phi_valid}} & (LANES'(1) << phi_lane)), .write_row(phi_block),
                    .write_data({LANES{phi}}), .read_row(j_block_reg), .read_data(phi_j));

    kc_rls_kind #(.LANES(LANES), .BLOCKS(BLOCKS), .FIRST_BLOCKS(FIRST_BLOCKS), .FIRST_REST(FIRST_REST), .INPUT_REST(INPUT_REST))
        kind_inst (.block(i_block_reg), .lane(i_lane_reg), .one(one), .is_input(is_input), .pad(pad));

    // What belongs to the row of a tile: _1 is one clock after its address.
    logic [LATENCY-1:0] valid_reg, last_reg;
    logic [LANE_BITS-1:0] lane_1_reg;
    logic blank_1_reg;                          // the words are not those of the memories, but the ridge
    logic [31:0] ridge_1_reg, fade_1_reg, fade_2_reg, fade_3_reg, fade_4_reg;
    wire [31:0] ridge = one ? RIDGE_ONE : is_input ? RIDGE_INPUT : RIDGE_COSINE;
    wire [31:0] fade = one ? FADE_ONE : is_input ? FADE_INPUT : FADE_COSINE;
    wire ridged = i_block_reg == j_block_reg && !pad;
    wire [LANE_BITS-1:0] twice_1 = LANE_MASK & (lane_1_reg << 1);   // bank of (i, i)

    always_ff @(posedge clk) begin
        valid_reg <= {valid_reg[LATENCY-2:0], running_reg};
        last_reg <= {last_reg[LATENCY-2:0], running_reg && last};
        lane_1_reg <= i_lane_reg;
        blank_1_reg <= running_reg && empty;
        ridge_1_reg <= ridged ? ridge : 32'd0;
        fade_1_reg <= ridged ? fade : 32'd0;
        fade_2_reg <= fade_1_reg;
        fade_3_reg <= fade_2_reg;
        fade_4_reg <= fade_3_reg;
        state_bank_reg <= LANE_MASK & (state_row + state_column);
        if (rst) valid_reg <= {LATENCY{1'b0}};
        if (rst) last_reg <= {LATENCY{1'b0}};
    end

    wire [ADDRESS_BITS-1:0] update_address = (ADDRESS_BITS'(tile_reg) << LEVELS) | ADDRESS_BITS'(i_lane_reg);
    wire [ADDRESS_BITS-1:0] row_address = (ADDRESS_BITS'(c_tile_reg) << LEVELS) | ADDRESS_BITS'(c_lane_reg);
    wire [ADDRESS_BITS-1:0] state_address = (ADDRESS_BITS'(state_tile) << LEVELS) | ADDRESS_BITS'(state_row);
    wire [ADDRESS_BITS-1:0] write_address;
    wire [BLOCK_BITS+LANE_BITS:0] diagonal_place;
    logic [LANE_BITS-1:0] state_bank_reg;       // the same for an entry and its mirror image
    wire [LANE_BITS-1:0] diagonal_bank = LANE_MASK & (diagonal_lane << 1);
    wire [LANES*32-1:0] words, new_row;         // words of the second clock
    wire write = valid_reg[LATENCY-1];
    logic [LANES*32-1:0] column_reg;
    genvar bank;

    kc_delay #(.WIDTH(ADDRESS_BITS), .CLOCKS(LATENCY)) address_inst (.clk(clk), .d(update_address), .q(write_address));
    kc_delay #(.WIDTH(BLOCK_BITS + LANE_BITS + 1), .CLOCKS(LATENCY)) diagonal_inst (
        .clk(clk), .d({ridged, i_block_reg, i_lane_reg}), .q(diagonal_place));

    generate
        for (bank = 0; bank < LANES; bank = bank + 1) begin : of_bank
            localparam [LANE_BITS-1:0] BANK = LANE_BITS'(bank);
            wire [LANE_BITS-1:0] c_row = LANE_MASK & (BANK - c_lane_reg);
            wire [LANE_BITS-1:0] j_lane_1 = LANE_MASK & (BANK - lane_1_reg);
            wire [LANE_BITS-1:0] lane_bank = LANE_MASK & (BANK + c_lane_reg);
            wire [ADDRESS_BITS-1:0] column_address = (ADDRESS_BITS'(c_tile_reg) << LEVELS) | ADDRESS_BITS'(c_row);
            wire [31:0] word;

            kc_ram #(.WIDTH(32), .DEPTH(DEPTH), .READ_OLD(0)) ram_inst (
                .clk(clk), .write_enable(write || (state_write && state_bank_reg == BANK)),
                .write_address(write ? write_address : state_address), .write_data(write ? new_row[bank*32 +: 32] : state_word),
                .read_address(running_reg ? update_address : !column_next ? state_address : above ? column_address : row_address),
                .read_data(word));

            // Second clock: the words, out of their memories.  Third: the products with mu, and that of the
            // features.  Fourth to sixth: the sums.
            logic signed [31:0] r_2_reg, r_3_reg, sum_4_reg;
            logic [31:0] sum_5_reg, new_reg;
            logic diagonal_2_reg, diagonal_3_reg, diagonal_4_reg;
            wire diagonal_1 = BANK == twice_1;
            wire signed [31:0] product = products[bank*32 +: 32];
            wire signed [63:0] faded_5;

            kc_mul_signed fade_inst (.clk(clk), .a(r_2_reg), .c(FADING), .q(faded_5));

            always_ff @(posedge clk) begin
                r_2_reg <= !blank_1_reg ? $signed(word) : diagonal_1 ? $signed(ridge_1_reg) : 32'sd0;
                diagonal_2_reg <= diagonal_1;
                diagonal_3_reg <= diagonal_2_reg;
                r_3_reg <= r_2_reg;
                diagonal_4_reg <= diagonal_3_reg;
                sum_4_reg <= r_3_reg + (product >>> PRODUCT_SHIFT);
                sum_5_reg <= sum_4_reg + (diagonal_4_reg ? fade_4_reg : 32'd0);
                new_reg <= sum_5_reg - faded_5[63:32];
                column_reg[bank*32 +: 32] <= words[lane_bank*32 +: 32];
            end

            assign words[bank*32 +: 32] = r_2_reg;
            assign factors_i[bank*16 +: 16] = phi_i;
            assign factors_j[bank*16 +: 16] = phi_j[j_lane_1*16 +: 16];
            assign new_row[bank*32 +: 32] = new_reg;
        end
    endgenerate

    assign updated = last_reg[LATENCY-1];
    assign diagonal_valid = write && diagonal_place[BLOCK_BITS+LANE_BITS];
    assign {diagonal_block, diagonal_lane} = diagonal_place[BLOCK_BITS+LANE_BITS-1:0];
    assign diagonal = new_row[diagonal_bank*32 +: 32];
    assign column = column_reg;
    assign state_entry = words[state_bank_reg*32 +: 32];
    assign multiplying = valid_reg[0];
endmodule

`default_nettype wire
