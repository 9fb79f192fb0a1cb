// kerncast: a memory with one write port and one read port; the word comes one clock after its address.
// A word that is read and written in one clock is read as before, or with READ_OLD = 0 is undefined: an FPGA then needs
// no logic in addition to its block RAM.
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_ram #(
    parameter int WIDTH = 16,
    parameter int DEPTH = 2,
    parameter bit READ_OLD = 1,
    parameter int ADDRESS_BITS = DEPTH > 1 ? $clog2(DEPTH) : 1
) (
    input  wire clk,
    input  wire write_enable,
    input  wire [ADDRESS_BITS-1:0] write_address,
    input  wire [WIDTH-1:0] write_data,
    input  wire [ADDRESS_BITS-1:0] read_address,
    output wire [WIDTH-1:0] read_data
);
    localparam WORDS = DEPTH > 1 ? DEPTH : 2;
    // In look-up tables a large memory limits the clock; a small one would waste a block RAM.
    // verilator lint_off UNUSEDPARAM
    localparam STYLE = WIDTH * DEPTH >= 1024 ? "block" : "auto";
    // verilator lint_on UNUSEDPARAM

    (* ram_style = STYLE *)
    logic [WIDTH-1:0] words [0:WORDS-1];
    logic [WIDTH-1:0] read_data_reg;
    wire same = READ_OLD == 0 && write_enable && write_address == read_address;

    always_ff @(posedge clk) begin
        if (write_enable) words[write_address] <= write_data;
        read_data_reg <= same ? {WIDTH{1'bx}} : words[read_address];
    end

    assign read_data = read_data_reg;
endmodule

`default_nettype wire
