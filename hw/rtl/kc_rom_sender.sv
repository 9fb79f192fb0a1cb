// kerncast: sends a table repeatedly, entry 0 first; tlast with the last entry. Two clocks per entry.
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_rom_sender #(
    parameter int WIDTH = 16,
    parameter int DEPTH = 2,
    parameter logic [DEPTH*WIDTH-1:0] TABLE = 0   // entry 0 in the lowest bits
) (
    input  wire clk,
    input  wire rst,
    output wire [WIDTH-1:0] m_axis_tdata,
    output wire m_axis_tvalid,
    input  wire m_axis_tready,
    output wire m_axis_tlast
);
    localparam INDEX_BITS = $clog2(DEPTH);

    logic [INDEX_BITS-1:0] index_reg;
    logic valid_reg;
    wire last = index_reg == INDEX_BITS'(DEPTH - 1);

    kc_rom #(.WIDTH(WIDTH), .DEPTH(DEPTH), .TABLE(TABLE))
        rom_inst (.clk(clk), .address(index_reg), .q(m_axis_tdata));

    always_ff @(posedge clk) begin
        valid_reg <= !valid_reg || !m_axis_tready;
        if (valid_reg && m_axis_tready) index_reg <= last ? {INDEX_BITS{1'b0}} : index_reg + 1'b1;
        if (rst) begin
            index_reg <= {INDEX_BITS{1'b0}};
            valid_reg <= 1'b0;
        end
    end

    assign m_axis_tvalid = valid_reg;
    assign m_axis_tlast = last;
endmodule

`default_nettype wire
