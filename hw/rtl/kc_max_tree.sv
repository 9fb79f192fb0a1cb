// kerncast: pipelined tree of maxima: the largest of LANES unsigned words, one set per clock, latency log2(LANES)
// clocks (0 for one lane).
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_max_tree #(
    parameter int WIDTH = 17,
    parameter int LANES = 1                 // a power of two
) (
    input  wire clk,
    input  wire [LANES*WIDTH-1:0] words,
    output wire [WIDTH-1:0] max
);
    // The words, then those of each level, half as many as before.
    wire [(2*LANES-1)*WIDTH-1:0] nodes;
    genvar i;

    assign nodes[LANES*WIDTH-1:0] = words;
    assign max = nodes[(2*LANES-1)*WIDTH-1 -: WIDTH];

    generate
        for (i = 0; i < LANES - 1; i = i + 1) begin : node
            logic [WIDTH-1:0] max_reg;
            wire [WIDTH-1:0] u = nodes[2*i*WIDTH +: WIDTH];
            wire [WIDTH-1:0] v = nodes[(2*i+1)*WIDTH +: WIDTH];

            always_ff @(posedge clk) max_reg <= u > v ? u : v;

            assign nodes[(LANES+i)*WIDTH +: WIDTH] = max_reg;
        end
    endgenerate
endmodule

`default_nettype wire
