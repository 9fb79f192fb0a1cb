// kerncast: the queue at the end of a pipeline that cannot stall. A place is reserved when a word enters the pipeline,
// so that every word that arrives has one; `room` is high while a place is left. 2**DEPTH_BITS places.
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_queue #(
    parameter int WIDTH = 16,
    parameter int DEPTH_BITS = 4
) (
    input  wire clk,
    input  wire rst,
    input  wire reserve,                      // a word enters the pipeline; only with `room`
    input  wire cancel,                       // a reserved place is not needed
    input  wire write,                        // a word arrives
    input  wire [WIDTH-1:0] word,
    output wire room,
    output wire busy,                         // a place is reserved, or a word waits
    output wire [WIDTH-1:0] m_axis_tdata,
    output wire m_axis_tvalid,
    input  wire m_axis_tready
);
    localparam DEPTH = 1 << DEPTH_BITS;

    logic [DEPTH_BITS:0] used_reg;            // reserved places and waiting words
    logic [DEPTH_BITS:0] write_reg, read_reg; // one bit more than an address: equal only if no word waits
    logic [WIDTH-1:0] words [0:DEPTH-1];
    wire given = m_axis_tvalid && m_axis_tready;

    always_ff @(posedge clk) begin
        used_reg <= used_reg + (DEPTH_BITS+1)'(reserve) - (DEPTH_BITS+1)'(cancel) - (DEPTH_BITS+1)'(given);
        if (write) words[write_reg[DEPTH_BITS-1:0]] <= word;
        write_reg <= write_reg + (DEPTH_BITS+1)'(write);
        read_reg <= read_reg + (DEPTH_BITS+1)'(given);
        if (rst) begin
            used_reg <= {(DEPTH_BITS+1){1'b0}};
            write_reg <= {(DEPTH_BITS+1){1'b0}};
            read_reg <= {(DEPTH_BITS+1){1'b0}};
        end
    end

    assign room = !used_reg[DEPTH_BITS];
    assign busy = used_reg != 0;
    assign m_axis_tvalid = write_reg != read_reg;
    assign m_axis_tdata = words[read_reg[DEPTH_BITS-1:0]];
endmodule

`default_nettype wire
