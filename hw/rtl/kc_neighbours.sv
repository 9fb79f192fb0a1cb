// kerncast: what a learner keeps of its slots beside vectors and multipliers: the distance to the sample at
// hand, the nearest older vector and its distance, and the order of age, rank 0 the oldest.
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

// In a pass the distances of all slots come in order.  What it does with them:
//   filling    `row` takes them.  `close` is the nearest slot, of equals the oldest; `cheapest` the one whose
//              nearest older vector is closest, of equals the newest, never the oldest of all.
//   removing   `skip` leaves, and who is younger moves down by a rank.  `close` is of `row`, without it;
//              `orphan` the first slot that loses its neighbour.
//   searching  `close` is the nearest of those older than `target`, without `skip`; `orphan` the next slot
//              after `target` whose neighbour was `skip`.
// What came out stands from `done` on.
module kc_neighbours #(
    parameter SLOTS = 2,
    parameter DISTANCE_BITS = 32,
    parameter PLACE_BITS = $clog2(SLOTS)
) (
    input  wire clk,
    input  wire rst,
    input  wire clear,                       // a pass begins
    input  wire ahead,                       // the next clock brings a distance
    input  wire last_ahead,                  // the last one
    input  wire [DISTANCE_BITS-1:0] d2,
    input  wire filling,                     // the kind of the pass, steady from `clear` to `done`; maybe none
    input  wire removing,
    input  wire searching,
    input  wire keeping,                     // whether `row` is written
    input  wire [PLACE_BITS-1:0] target,
    input  wire [PLACE_BITS-1:0] skip,
    input  wire store,                       // `close` becomes the neighbour of `target`
    input  wire store_rank,                  // and `newest` its rank; a slot that was free has 0 in `row`
    input  wire [PLACE_BITS-1:0] newest,
    output wire done,
    output wire found,                       // there is a `close`
    output wire [PLACE_BITS-1:0] close,
    output wire [DISTANCE_BITS-1:0] close_d2,
    output wire [PLACE_BITS-1:0] cheapest,
    output wire orphaned,                    // there is an `orphan`
    output wire [PLACE_BITS-1:0] orphan,
    input  wire put,                         // a slot is restored: its words
    input  wire [PLACE_BITS-1:0] put_place,
    input  wire [DISTANCE_BITS-1:0] put_row,
    input  wire [DISTANCE_BITS-1:0] put_near_d2,
    input  wire [PLACE_BITS-1:0] put_near,
    input  wire [PLACE_BITS-1:0] put_rank,
    input  wire reading,                     // read port: the words of a slot, a clock after its place
    input  wire [PLACE_BITS-1:0] place,
    output wire [DISTANCE_BITS-1:0] row,
    output wire [DISTANCE_BITS-1:0] near_d2,
    output wire [PLACE_BITS-1:0] near,
    output wire [PLACE_BITS-1:0] rank
);
    // A distance meets the words of its slot in the first clock; in the second all of them are held.
    logic [PLACE_BITS-1:0] slot_reg, slot_1_reg, slot_2_reg;
    logic valid_1_reg, valid_2_reg, last_1_reg, last_2_reg, done_reg;
    logic [DISTANCE_BITS-1:0] d2_reg, row_reg, near_d2_reg;
    logic [PLACE_BITS-1:0] near_reg, rank_reg;

    logic [PLACE_BITS-1:0] age_reg;          // rank of who leaves, or searches
    logic orphaned_reg;
    logic [PLACE_BITS-1:0] orphan_reg, orphan_rank_reg;

    wire unused_found;
    wire [DISTANCE_BITS-1:0] unused_least;
    wire [PLACE_BITS-1:0] unused_rank;
    wire [PLACE_BITS-1:0] cheapest_rank;
    wire [PLACE_BITS-1:0] read_place = reading ? place : slot_reg;
    wire stays = slot_2_reg != skip;
    wire counts = filling || (removing && stays) || (searching && stays && rank_reg < age_reg);
    wire loses = stays && near_reg == skip && (removing || (searching && slot_2_reg > target));
    wire [PLACE_BITS-1:0] aged = removing && rank_reg > age_reg ? rank_reg - 1'b1 : rank_reg;
    wire write_rank = valid_2_reg && removing;

    kc_least #(.KEY_BITS(DISTANCE_BITS), .RANK_BITS(PLACE_BITS), .PLACE_BITS(PLACE_BITS), .HIGHEST(0))
        close_inst (.clk(clk), .clear(clear), .valid(valid_2_reg && counts),
                    .key(removing ? row_reg : d2_reg), .rank(rank_reg), .place(slot_2_reg),
                    .found(found), .least(close_d2), .least_rank(unused_rank), .least_place(close));
    kc_least #(.KEY_BITS(DISTANCE_BITS), .RANK_BITS(PLACE_BITS), .PLACE_BITS(PLACE_BITS), .HIGHEST(1))
        cheapest_inst (.clk(clk), .clear(clear && filling), .valid(valid_2_reg && filling && rank_reg != 0),
                       .key(near_d2_reg), .rank(rank_reg), .place(slot_2_reg),
                       .found(unused_found), .least(unused_least), .least_rank(cheapest_rank),
                       .least_place(cheapest));

    kc_ram #(.WIDTH(DISTANCE_BITS), .DEPTH(SLOTS))
        row_inst (.clk(clk), .write_enable(put || ((valid_1_reg && keeping || store_rank) && filling)),
                  .write_address(put ? put_place : store_rank ? target : slot_1_reg),
                  .write_data(put ? put_row : store_rank ? {DISTANCE_BITS{1'b0}} : d2),
                  .read_address(read_place), .read_data(row));
    kc_ram #(.WIDTH(DISTANCE_BITS), .DEPTH(SLOTS))
        near_d2_inst (.clk(clk), .write_enable(put || store), .write_address(put ? put_place : target),
                   .write_data(put ? put_near_d2 : found ? close_d2 : {DISTANCE_BITS{1'b0}}),
                   .read_address(read_place), .read_data(near_d2));
    kc_ram #(.WIDTH(PLACE_BITS), .DEPTH(SLOTS))
        near_inst (.clk(clk), .write_enable(put || store), .write_address(put ? put_place : target),
                   .write_data(put ? put_near : found ? close : target), .read_address(read_place), .read_data(near));
    kc_ram #(.WIDTH(PLACE_BITS), .DEPTH(SLOTS))
        rank_inst (.clk(clk), .write_enable(put || write_rank || store_rank),
                   .write_address(put ? put_place : store_rank ? target : slot_2_reg),
                   .write_data(put ? put_rank : store_rank ? newest : aged), .read_address(read_place), .read_data(rank));

    always_ff @(posedge clk) begin
        if (ahead) slot_reg <= last_ahead ? {PLACE_BITS{1'b0}} : slot_reg + 1'b1;
        slot_1_reg <= slot_reg;
        slot_2_reg <= slot_1_reg;
        valid_1_reg <= ahead;
        valid_2_reg <= valid_1_reg;
        last_1_reg <= ahead && last_ahead;
        last_2_reg <= last_1_reg;
        done_reg <= last_2_reg;
        d2_reg <= d2;
        row_reg <= row;
        near_d2_reg <= near_d2;
        near_reg <= near;
        rank_reg <= rank;
        if (valid_2_reg && loses && !orphaned_reg) begin
            orphaned_reg <= 1'b1;
            orphan_reg <= slot_2_reg;
            orphan_rank_reg <= aged;
        end
        if (clear) begin
            orphaned_reg <= 1'b0;
            age_reg <= searching ? orphan_rank_reg : cheapest_rank;
        end
        if (rst) begin
            slot_reg <= {PLACE_BITS{1'b0}};
            valid_1_reg <= 1'b0;
            valid_2_reg <= 1'b0;
            last_1_reg <= 1'b0;
            last_2_reg <= 1'b0;
            done_reg <= 1'b0;
            orphaned_reg <= 1'b0;
        end
    end

    assign done = done_reg;
    assign orphaned = orphaned_reg;
    assign orphan = orphan_reg;
endmodule

`default_nettype wire
