// kerncast: the least of the keys that come, where it was, and its rank; of equals the one of lowest rank, or
// of highest.  One clock.  SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_least #(
    parameter KEY_BITS = 32,
    parameter RANK_BITS = 8,
    parameter PLACE_BITS = 8,
    parameter HIGHEST = 0      // whether of equals the one of highest rank counts
) (
    input  wire clk,
    input  wire clear,         // forget what came; a key of this clock counts afterwards
    input  wire valid,         // a key is here
    input  wire [KEY_BITS-1:0] key,
    input  wire [RANK_BITS-1:0] rank,
    input  wire [PLACE_BITS-1:0] place,
    output wire found,         // a key came
    output wire [KEY_BITS-1:0] least,
    output wire [RANK_BITS-1:0] least_rank,
    output wire [PLACE_BITS-1:0] least_place
);
    logic found_reg;
    logic [KEY_BITS-1:0] least_reg;
    logic [RANK_BITS-1:0] rank_reg;
    logic [PLACE_BITS-1:0] place_reg;
    wire ahead = HIGHEST != 0 ? rank > rank_reg : rank < rank_reg;
    wire better = !found_reg || clear || key < least_reg || (key == least_reg && ahead);

    always_ff @(posedge clk) begin
        found_reg <= valid || (found_reg && !clear);
        if (valid && better) begin
            least_reg <= key;
            rank_reg <= rank;
            place_reg <= place;
        end
    end

    assign found = found_reg;
    assign least = least_reg;
    assign least_rank = rank_reg;
    assign least_place = place_reg;
endmodule

`default_nettype wire
