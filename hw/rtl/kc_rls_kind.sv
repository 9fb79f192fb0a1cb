// kerncast: the kind of a feature of kernel RLS, by its place: 1, a cosine (neither), an input, or none: the blocks of
// the cosines and those of the inputs may end with lanes that are left.
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_rls_kind #(
    parameter int LANES = 1,
    parameter int BLOCKS = 2,
    parameter int FIRST_BLOCKS = 2,             // of 1 and the cosines; then come those of the inputs
    parameter int FIRST_REST = 1,               // features in the last block of either, 1 to LANES
    parameter int INPUT_REST = 1,
    parameter int BLOCK_BITS = BLOCKS > 1 ? $clog2(BLOCKS) : 1,
    parameter int LANE_BITS = LANES > 1 ? $clog2(LANES) : 1
) (
    input  wire [BLOCK_BITS-1:0] block,
    input  wire [LANE_BITS-1:0] lane,
    output wire one,
    output wire is_input,
    output wire pad
);
    wire [BLOCK_BITS:0] wide_block = {1'b0, block};
    wire [LANE_BITS:0] wide_lane = {1'b0, lane};

    assign one = block == 0 && lane == 0;
    assign is_input = wide_block >= (BLOCK_BITS + 1)'(FIRST_BLOCKS);
    assign pad = (wide_block == (BLOCK_BITS + 1)'(FIRST_BLOCKS - 1) && wide_lane >= (LANE_BITS + 1)'(FIRST_REST))
        || (FIRST_BLOCKS < BLOCKS && wide_block == (BLOCK_BITS + 1)'(BLOCKS - 1) && wide_lane >= (LANE_BITS + 1)'(INPUT_REST));
endmodule

`default_nettype wire
