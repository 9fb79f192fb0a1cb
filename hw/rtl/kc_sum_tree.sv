// kerncast: pipelined adder tree: the sum of LANES words, one per clock, latency log2(LANES) clocks (0 for one lane).
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_sum_tree #(
    parameter int WIDTH = 32,                   // of a word and of the sum, which is that of its low bits
    parameter int LANES = 1                     // a power of two
) (
    input  wire clk,
    input  wire [LANES*WIDTH-1:0] words,
    output wire [WIDTH-1:0] sum
);
    // The words, then those of each level, half as many as before.
    wire [(2*LANES-1)*WIDTH-1:0] nodes;
    genvar i;

    assign nodes[LANES*WIDTH-1:0] = words;
    assign sum = nodes[(2*LANES-1)*WIDTH-1 -: WIDTH];

    generate
        for (i = 0; i < LANES - 1; i = i + 1) begin : node
            logic [WIDTH-1:0] sum_reg;

            always_ff @(posedge clk) sum_reg <= nodes[2*i*WIDTH +: WIDTH] + nodes[(2*i+1)*WIDTH +: WIDTH];

            assign nodes[(LANES+i)*WIDTH +: WIDTH] = sum_reg;
        end
    endgenerate
endmodule

`default_nettype wire
