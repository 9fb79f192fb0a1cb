// kerncast: running minimum of the keys of a pass, with place and order of the minimum. Of equal keys the one with
// the lowest order wins, or the highest if HIGHEST_ORDER is 1. One clock.
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_argmin #(
    parameter int KEY_BITS = 32,
    parameter int ORDER_BITS = 8,
    parameter int PLACE_BITS = 8,
    parameter bit HIGHEST_ORDER = 0      // 1: of equal keys the highest order wins
) (
    input  wire clk,
    input  wire clear,         // start a new pass; a key in this clock belongs to it
    input  wire valid,         // `key` is valid
    input  wire [KEY_BITS-1:0] key,
    input  wire [ORDER_BITS-1:0] order,
    input  wire [PLACE_BITS-1:0] place,
    output wire found,         // the pass had a key
    output wire [KEY_BITS-1:0] min_key,
    output wire [ORDER_BITS-1:0] min_order,
    output wire [PLACE_BITS-1:0] min_place
);
    logic found_reg;
    logic [KEY_BITS-1:0] min_key_reg;
    logic [ORDER_BITS-1:0] order_reg;
    logic [PLACE_BITS-1:0] place_reg;
    wire goes_first = HIGHEST_ORDER != 0 ? order > order_reg : order < order_reg;
    wire better = !found_reg || clear || key < min_key_reg || (key == min_key_reg && goes_first);

    always_ff @(posedge clk) begin
        found_reg <= valid || (found_reg && !clear);
        if (valid && better) begin
            min_key_reg <= key;
            order_reg <= order;
            place_reg <= place;
        end
    end

    assign found = found_reg;
    assign min_key = min_key_reg;
    assign min_order = order_reg;
    assign min_place = place_reg;
endmodule

`default_nettype wire
