// kerncast: per-slot data of a learner other than vectors and coefficients: the distance to the current sample, the
// nearest older vector and its distance, and the age order (0 is the oldest).
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

// A pass receives the distances of all slots in order:
//   filling    store them in `row`. `pass_nearest` is the nearest slot, of equals the oldest; `victim` the slot with
//              the smallest distance to an older vector, of equals the newest, never the oldest vector.
//   removing   `skip` is evicted; younger vectors move down by one in the age order. `pass_nearest` is from `row`,
//              without `skip`; `orphan` is the first slot whose nearest vector was `skip`.
//   searching  `pass_nearest` is the nearest vector older than `target`, without `skip`; `orphan` the next slot after
//              `target` whose nearest vector was `skip`.
// The results are valid from `done` on.
module kc_neighbours #(
    parameter int SLOTS = 2,
    parameter int DISTANCE_BITS = 32,
    parameter int PLACE_BITS = $clog2(SLOTS)
) (
    input  wire clk,
    input  wire rst,
    input  wire clear,                       // start of a pass
    input  wire ahead,                       // the next clock has a distance
    input  wire last_ahead,                  // the last distance
    input  wire [DISTANCE_BITS-1:0] d2,
    input  wire filling,                     // the kind of the pass, constant from `clear` to `done`; may be none
    input  wire removing,
    input  wire searching,
    input  wire keeping,                     // write `row`
    input  wire [PLACE_BITS-1:0] target,
    input  wire [PLACE_BITS-1:0] skip,
    input  wire store,                       // `pass_nearest` becomes the nearest vector of `target`
    input  wire store_age_order,                  // and `newest` its age order; `row` of a free slot becomes 0
    input  wire [PLACE_BITS-1:0] newest,
    output wire done,
    output wire found,                       // `pass_nearest` is valid
    output wire [PLACE_BITS-1:0] pass_nearest,
    output wire [DISTANCE_BITS-1:0] pass_nearest_d2,
    output wire [PLACE_BITS-1:0] victim,
    output wire orphaned,                    // `orphan` is valid
    output wire [PLACE_BITS-1:0] orphan,
    input  wire put,                         // restore a slot: its words
    input  wire [PLACE_BITS-1:0] put_place,
    input  wire [DISTANCE_BITS-1:0] put_row,
    input  wire [DISTANCE_BITS-1:0] put_nearest_d2,
    input  wire [PLACE_BITS-1:0] put_nearest_idx,
    input  wire [PLACE_BITS-1:0] put_age_order,
    input  wire reading,                     // read port: the words of a slot, one clock after `place`
    input  wire [PLACE_BITS-1:0] place,
    output wire [DISTANCE_BITS-1:0] row,
    output wire [DISTANCE_BITS-1:0] nearest_d2,
    output wire [PLACE_BITS-1:0] nearest_idx,
    output wire [PLACE_BITS-1:0] age_order
);
    // First clock: a distance is aligned with the words of its slot; second clock: all are registered.
    logic [PLACE_BITS-1:0] slot_reg, slot_1_reg, slot_2_reg;
    logic valid_1_reg, valid_2_reg, last_1_reg, last_2_reg, done_reg;
    logic [DISTANCE_BITS-1:0] d2_reg, row_reg, nearest_d2_reg;
    logic [PLACE_BITS-1:0] nearest_idx_reg, age_order_reg;

    logic [PLACE_BITS-1:0] order_limit_reg;          // age order of the vector that is evicted or searches
    logic orphaned_reg;
    logic [PLACE_BITS-1:0] orphan_reg, orphan_order_reg;

    wire unused_found;
    wire [DISTANCE_BITS-1:0] unused_min;
    wire [PLACE_BITS-1:0] unused_order;
    wire [PLACE_BITS-1:0] victim_order;
    wire [PLACE_BITS-1:0] read_place = reading ? place : slot_reg;
    wire stays = slot_2_reg != skip;
    wire is_candidate = filling || (removing && stays) || (searching && stays && age_order_reg < order_limit_reg);
    wire loses_nearest = stays && nearest_idx_reg == skip && (removing || (searching && slot_2_reg > target));
    wire [PLACE_BITS-1:0] new_order = removing && age_order_reg > order_limit_reg ? age_order_reg - 1'b1
        : age_order_reg;
    wire write_age_order = valid_2_reg && removing;

    kc_argmin #(.KEY_BITS(DISTANCE_BITS), .ORDER_BITS(PLACE_BITS), .PLACE_BITS(PLACE_BITS), .HIGHEST_ORDER(0))
        pass_nearest_inst (.clk(clk), .clear(clear), .valid(valid_2_reg && is_candidate),
                    .key(removing ? row_reg : d2_reg), .order(age_order_reg), .place(slot_2_reg),
                    .found(found), .min_key(pass_nearest_d2), .min_order(unused_order), .min_place(pass_nearest));
    kc_argmin #(.KEY_BITS(DISTANCE_BITS), .ORDER_BITS(PLACE_BITS), .PLACE_BITS(PLACE_BITS), .HIGHEST_ORDER(1))
        victim_inst (.clk(clk), .clear(clear && filling), .valid(valid_2_reg && filling && age_order_reg != 0),
                       .key(nearest_d2_reg), .order(age_order_reg), .place(slot_2_reg),
                       .found(unused_found), .min_key(unused_min), .min_order(victim_order),
                       .min_place(victim));

    kc_ram #(.WIDTH(DISTANCE_BITS), .DEPTH(SLOTS))
        row_inst (.clk(clk), .write_enable(put || ((valid_1_reg && keeping || store_age_order) && filling)),
                  .write_address(put ? put_place : store_age_order ? target : slot_1_reg),
                  .write_data(put ? put_row : store_age_order ? {DISTANCE_BITS{1'b0}} : d2),
                  .read_address(read_place), .read_data(row));
    kc_ram #(.WIDTH(DISTANCE_BITS), .DEPTH(SLOTS))
        nearest_d2_inst (.clk(clk), .write_enable(put || store), .write_address(put ? put_place : target),
                   .write_data(put ? put_nearest_d2 : found ? pass_nearest_d2 : {DISTANCE_BITS{1'b0}}),
                   .read_address(read_place), .read_data(nearest_d2));
    kc_ram #(.WIDTH(PLACE_BITS), .DEPTH(SLOTS))
        nearest_idx_inst (.clk(clk), .write_enable(put || store), .write_address(put ? put_place : target),
                   .write_data(put ? put_nearest_idx : found ? pass_nearest : target), .read_address(read_place),
                   .read_data(nearest_idx));
    kc_ram #(.WIDTH(PLACE_BITS), .DEPTH(SLOTS))
        age_order_inst (.clk(clk), .write_enable(put || write_age_order || store_age_order),
                   .write_address(put ? put_place : store_age_order ? target : slot_2_reg),
                   .write_data(put ? put_age_order : store_age_order ? newest : new_order),
                   .read_address(read_place), .read_data(age_order));

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
        nearest_d2_reg <= nearest_d2;
        nearest_idx_reg <= nearest_idx;
        age_order_reg <= age_order;
        if (valid_2_reg && loses_nearest && !orphaned_reg) begin
            orphaned_reg <= 1'b1;
            orphan_reg <= slot_2_reg;
            orphan_order_reg <= new_order;
        end
        if (clear) begin
            orphaned_reg <= 1'b0;
            order_limit_reg <= searching ? orphan_order_reg : victim_order;
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
