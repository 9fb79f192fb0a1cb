// kerncast: a table read with the clock; the value comes one clock after its address.
//
// FPGA tools make a memory of it, filled by `initial`. Tools that ignore `initial`, as for an ASIC, need the macro
// KC_ROM_LOGIC: the table is then a constant, and the ROM is logic.
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_rom #(
    parameter int WIDTH = 16,
    parameter int DEPTH = 2,
    parameter int ADDRESS_BITS = DEPTH > 1 ? $clog2(DEPTH) : 1,
    parameter logic [DEPTH*WIDTH-1:0] TABLE = 0   // entry 0 in the lowest bits
) (
    input  wire clk,
    input  wire [ADDRESS_BITS-1:0] address,
    output wire [WIDTH-1:0] q
);
    logic [WIDTH-1:0] q_reg;

`ifdef KC_ROM_LOGIC
    wire [(1 << ADDRESS_BITS)*WIDTH-1:0] words = ((1 << ADDRESS_BITS)*WIDTH)'(TABLE);

    always_ff @(posedge clk) q_reg <= words[address*WIDTH +: WIDTH];
`else
    localparam WORDS = DEPTH > 1 ? DEPTH : 2;

    logic [WIDTH-1:0] words [0:WORDS-1];
    integer i;

    initial begin
        for (i = 0; i < WORDS; i = i + 1)
            words[i] = i < DEPTH ? TABLE[i*WIDTH +: WIDTH] : {WIDTH{1'b0}};
    end

    always_ff @(posedge clk) q_reg <= words[address];
`endif

    assign q = q_reg;
endmodule

`default_nettype wire
