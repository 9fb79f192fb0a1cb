// kerncast: lane of a column in a vector stored in rows of LANES words, and the end of its row.
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_ram_lane_of #(
    parameter int COLUMNS = 1,
    parameter int LANES = 1,                    // a power of two
    parameter int COLUMN_BITS = 1,
    parameter int LANE_BITS = LANES > 1 ? $clog2(LANES) : 1
) (
    input  wire [COLUMN_BITS-1:0] column,
    output wire [LANE_BITS-1:0] lane,
    output wire last,                       // last column of the vector
    output wire row_end                     // the next column, if any, is in another row
);
    localparam [LANE_BITS-1:0] LAST_LANE = LANE_BITS'(LANES - 1);

    assign lane = LANE_BITS'(column) & LAST_LANE;
    assign last = column == COLUMN_BITS'(COLUMNS - 1);
    assign row_end = last || lane == LAST_LANE;
endmodule

`default_nettype wire
