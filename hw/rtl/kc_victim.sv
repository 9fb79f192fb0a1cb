// kerncast: per-slot data of a learner that evicts the oldest vector, or the one with the smallest loss, other than vectors
// and coefficients: the distance to the current sample, and the age order (0 is the oldest).
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

// A pass receives the distances of all slots in order, and later visits them in the same order:
//   filling    store the distances in `row`. `pass_nearest` is the nearest slot, of equals the oldest; `victim` the slot
//              with the smallest loss, of equals the newest.
//   removing   `victim` is evicted; younger vectors move down by one in the age order.
// The results of filling are valid from `done` on.
module kc_victim #(
    parameter int SLOTS = 2,
    parameter int DISTANCE_BITS = 32,
    parameter bit OLDEST = 0,                    // 1: the loss is the age order, and `loss` is not read
    parameter int LOSS_BITS = 16,
    parameter int LOSS_CLOCKS = 2,               // from `visiting` to `loss`, at least 1
    parameter int PLACE_BITS = $clog2(SLOTS)
) (
    input  wire clk,
    input  wire rst,
    input  wire clear,                           // start of a pass
    input  wire distance,                        // d2 is valid
    input  wire last_distance,                   // it is the last of its pass
    input  wire [DISTANCE_BITS-1:0] d2,
    input  wire filling,                         // the kind of the pass, constant while slots are visited; may be none
    input  wire removing,
    input  wire keeping,                         // write `row`, and search
    input  wire visiting,
    input  wire last_visit,
    input  wire [PLACE_BITS-1:0] visited,
    input  wire [LOSS_BITS-1:0] loss,
    input  wire [PLACE_BITS-1:0] target,
    input  wire store_age_order,                 // `newest` is the age order of `target`; `row` of a free slot becomes 0
    input  wire [PLACE_BITS-1:0] newest,
    output wire done,
    output wire found,                           // `pass_nearest` is valid
    output wire [PLACE_BITS-1:0] pass_nearest,
    output wire [DISTANCE_BITS-1:0] pass_nearest_d2,
    output wire [PLACE_BITS-1:0] victim,
    input  wire put,                             // restore a slot: its words
    input  wire [PLACE_BITS-1:0] put_place,
    input  wire [DISTANCE_BITS-1:0] put_row,
    input  wire [PLACE_BITS-1:0] put_age_order,
    input  wire reading,                         // read port: the words of a slot, one clock after `place`
    input  wire [PLACE_BITS-1:0] place,
    output wire [DISTANCE_BITS-1:0] row,
    output wire [PLACE_BITS-1:0] age_order
);
    localparam KEY_BITS = OLDEST != 0 ? PLACE_BITS : LOSS_BITS;

    logic [PLACE_BITS-1:0] slot_reg;             // of the next distance
    // Bit i, and entry i: the slot that was visited i + 1 clocks ago.
    logic [LOSS_CLOCKS-1:0] visiting_reg, last_reg;
    logic [LOSS_CLOCKS*PLACE_BITS-1:0] visited_reg;
    logic done_reg, move_reg;
    logic [PLACE_BITS-1:0] move_slot_reg, move_order_reg;

    wire [(LOSS_CLOCKS+1)*PLACE_BITS-1:0] slots = {visited_reg, visited};
    wire [PLACE_BITS-1:0] slot = slots[LOSS_CLOCKS*PLACE_BITS +: PLACE_BITS];
    wire [PLACE_BITS-1:0] read_place = reading ? place : slots[(LOSS_CLOCKS-1)*PLACE_BITS +: PLACE_BITS];
    wire valid = visiting_reg[LOSS_CLOCKS-1];
    wire is_candidate = valid && filling && keeping;
    wire write_row = distance && keeping && filling;
    wire clear_row = store_age_order && filling;
    wire [KEY_BITS-1:0] key;
    wire unused_found;
    wire [PLACE_BITS-1:0] unused_order, victim_order;
    wire [KEY_BITS-1:0] unused_min;

    generate
        if (OLDEST != 0) begin : g_age
            assign key = age_order;
        end else begin : g_loss
            assign key = loss;
        end
    endgenerate

    kc_argmin #(.KEY_BITS(DISTANCE_BITS), .ORDER_BITS(PLACE_BITS), .PLACE_BITS(PLACE_BITS), .HIGHEST_ORDER(0))
        pass_nearest_inst (.clk(clk), .clear(clear && filling), .valid(is_candidate), .key(row), .order(age_order),
                           .place(slot), .found(found), .min_key(pass_nearest_d2), .min_order(unused_order),
                           .min_place(pass_nearest));
    kc_argmin #(.KEY_BITS(KEY_BITS), .ORDER_BITS(PLACE_BITS), .PLACE_BITS(PLACE_BITS), .HIGHEST_ORDER(1))
        victim_inst (.clk(clk), .clear(clear && filling), .valid(is_candidate), .key(key), .order(age_order),
                     .place(slot), .found(unused_found), .min_key(unused_min), .min_order(victim_order),
                     .min_place(victim));

    kc_ram #(.WIDTH(DISTANCE_BITS), .DEPTH(SLOTS))
        row_inst (.clk(clk), .write_enable(put || write_row || clear_row),
                  .write_address(put ? put_place : clear_row ? target : slot_reg),
                  .write_data(put ? put_row : clear_row ? {DISTANCE_BITS{1'b0}} : d2),
                  .read_address(read_place), .read_data(row));
    kc_ram #(.WIDTH(PLACE_BITS), .DEPTH(SLOTS))
        age_order_inst (.clk(clk), .write_enable(put || move_reg || store_age_order),
                        .write_address(put ? put_place : store_age_order ? target : move_slot_reg),
                        .write_data(put ? put_age_order : store_age_order ? newest : move_order_reg),
                        .read_address(read_place), .read_data(age_order));

    always_ff @(posedge clk) begin
        if (distance) slot_reg <= last_distance ? {PLACE_BITS{1'b0}} : slot_reg + 1'b1;
        visiting_reg <= LOSS_CLOCKS'({visiting_reg, visiting});
        last_reg <= LOSS_CLOCKS'({last_reg, visiting && last_visit});
        visited_reg <= slots[LOSS_CLOCKS*PLACE_BITS-1:0];
        done_reg <= last_reg[LOSS_CLOCKS-1];
        move_reg <= valid && removing;
        move_slot_reg <= slot;
        move_order_reg <= age_order > victim_order ? age_order - 1'b1 : age_order;
        if (rst) begin
            slot_reg <= {PLACE_BITS{1'b0}};
            visiting_reg <= {LOSS_CLOCKS{1'b0}};
            last_reg <= {LOSS_CLOCKS{1'b0}};
            done_reg <= 1'b0;
            move_reg <= 1'b0;
        end
    end

    assign done = done_reg;
endmodule

`default_nettype wire
