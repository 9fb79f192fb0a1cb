// kerncast: pipelined tree: the largest of LANES unsigned keys, with its tag, one set per clock, latency
// log2(LANES) clocks (0 for one lane). Of equal keys the one in the lowest lane wins. Keys are compared by
// subtraction: yosys makes look-up tables of `>`, which are slower than a carry chain.
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_argmax_tree #(
    parameter int KEY_BITS = 64,
    parameter int TAG_BITS = 1,
    parameter int LANES = 1                 // a power of two
) (
    input  wire clk,
    input  wire [LANES*KEY_BITS-1:0] keys,
    input  wire [LANES*TAG_BITS-1:0] tags,
    output wire [KEY_BITS-1:0] key,
    output wire [TAG_BITS-1:0] tag
);
    // The inputs, then those of each level, half as many as before.
    wire [(2*LANES-1)*KEY_BITS-1:0] key_nodes;
    wire [(2*LANES-1)*TAG_BITS-1:0] tag_nodes;
    genvar i;

    assign key_nodes[LANES*KEY_BITS-1:0] = keys;
    assign tag_nodes[LANES*TAG_BITS-1:0] = tags;
    assign key = key_nodes[(2*LANES-1)*KEY_BITS-1 -: KEY_BITS];
    assign tag = tag_nodes[(2*LANES-1)*TAG_BITS-1 -: TAG_BITS];

    generate
        for (i = 0; i < LANES - 1; i = i + 1) begin : node
            logic [KEY_BITS-1:0] key_reg;
            logic [TAG_BITS-1:0] tag_reg;
            wire [KEY_BITS-1:0] u = key_nodes[2*i*KEY_BITS +: KEY_BITS];
            wire [KEY_BITS-1:0] v = key_nodes[(2*i+1)*KEY_BITS +: KEY_BITS];
            wire [KEY_BITS:0] difference = {1'b0, u} - {1'b0, v};
            wire second = difference[KEY_BITS];

            always_ff @(posedge clk) begin
                key_reg <= second ? v : u;
                tag_reg <= second ? tag_nodes[(2*i+1)*TAG_BITS +: TAG_BITS] : tag_nodes[2*i*TAG_BITS +: TAG_BITS];
            end

            assign key_nodes[(LANES+i)*KEY_BITS +: KEY_BITS] = key_reg;
            assign tag_nodes[(LANES+i)*TAG_BITS +: TAG_BITS] = tag_reg;
        end
    endgenerate
endmodule

`default_nettype wire
