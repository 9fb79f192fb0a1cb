// kerncast: write mask and row data for one word of a vector stored in rows of LANES words.
//
// The last word of a vector also clears the lanes behind it, because a row may be longer than the rest of a vector.
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_ram_word_mask #(
    parameter int WIDTH = 16,
    parameter int LANES = 1,                    // a power of two
    parameter int LANE_BITS = LANES > 1 ? $clog2(LANES) : 1
) (
    input  wire [WIDTH-1:0] word,
    input  wire [LANE_BITS-1:0] lane,
    input  wire last,                       // last word of its vector
    output wire [LANES-1:0] mask,
    output wire [LANES*WIDTH-1:0] row
);
    wire [LANES-1:0] here = LANES'(1) << lane;
    genvar i;

    assign mask = last ? ~(here - 1'b1) : here;

    generate
        for (i = 0; i < LANES; i = i + 1) begin : of_lane
            assign row[i*WIDTH +: WIDTH] = here[i] ? word : {WIDTH{1'b0}};
        end
    endgenerate
endmodule

`default_nettype wire
