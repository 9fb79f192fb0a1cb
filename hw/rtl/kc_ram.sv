// kerncast: a memory with one write port and one read port; the word comes one clock after its address.
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_ram #(
    parameter WIDTH = 16,
    parameter DEPTH = 2,
    parameter ADDRESS_BITS = DEPTH > 1 ? $clog2(DEPTH) : 1
) (
    input  wire clk,
    input  wire write_enable,
    input  wire [ADDRESS_BITS-1:0] write_address,
    input  wire [WIDTH-1:0] write_data,
    input  wire [ADDRESS_BITS-1:0] read_address,
    output wire [WIDTH-1:0] read_data
);
    localparam WORDS = DEPTH > 1 ? DEPTH : 2;

    logic [WIDTH-1:0] words [0:WORDS-1];
    logic [WIDTH-1:0] read_data_reg;

    always_ff @(posedge clk) begin
        if (write_enable) words[write_address] <= write_data;
        read_data_reg <= words[read_address];
    end

    assign read_data = read_data_reg;
endmodule

`default_nettype wire
