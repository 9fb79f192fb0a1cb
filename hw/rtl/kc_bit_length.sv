// kerncast primitive: bits of v without leading zeros; 0 for 0.  SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_bit_length #(
    parameter int V_BITS = 63   // at most 63
) (
    input  wire [V_BITS-1:0] v,
    output wire [5:0] length
);
    // With a 1 appended on the right, the length is the position of the leading 1: found in all bytes in parallel;
    // then the highest byte that has one is selected.
    wire [63:0] marked = {63'(v), 1'b1};
    wire [7:0] any;
    wire [8*3-1:0] places;
    wire [2:0] byte_of;
    genvar i;

    generate
        for (i = 0; i < 8; i = i + 1) begin : bytes
            wire [7:0] b = marked[8*i +: 8];

            assign any[i] = |b;
            assign places[3*i + 2] = |b[7:4];
            assign places[3*i + 1] = |b[7:4] ? |b[7:6] : |b[3:2];
            assign places[3*i] = b[7] || (!b[6] && (b[5] || (!b[4] && (b[3] || (!b[2] && b[1])))));
        end
    endgenerate

    assign byte_of[2] = |any[7:4];
    assign byte_of[1] = byte_of[2] ? |any[7:6] : |any[3:2];
    assign byte_of[0] = any[7] || (!any[6] && (any[5] || (!any[4] && (any[3] || (!any[2] && any[1])))));
    assign length = {byte_of, places[3*byte_of +: 3]};
endmodule

`default_nettype wire
