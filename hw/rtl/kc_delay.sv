// kerncast: a word, CLOCKS clocks later.  SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_delay #(
    parameter int WIDTH = 1,
    parameter int CLOCKS = 1                // at least 1
) (
    input  wire clk,
    input  wire [WIDTH-1:0] d,
    output wire [WIDTH-1:0] q
);
    logic [CLOCKS*WIDTH-1:0] words_reg;

    always_ff @(posedge clk) words_reg <= (CLOCKS*WIDTH)'({words_reg, d});

    assign q = words_reg[CLOCKS*WIDTH-1 -: WIDTH];
endmodule

`default_nettype wire
