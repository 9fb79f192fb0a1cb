// A FIFO of beats from an AXI4-Stream, which the processor empties.
`default_nettype none

module stream_fifo #(
    parameter int DEPTH = 256               // a power of two, at least a whole frame
) (
    input  wire clk,
    input  wire rst,
    input  wire [31:0] s_tdata,
    input  wire [2:0] s_tuser,
    input  wire s_tlast,
    input  wire s_tvalid,
    output wire s_tready,
    output wire [31:0] oldest_data,
    output wire [2:0] oldest_user,
    output wire oldest_last,
    output wire oldest_valid,
    input  wire pop
);
    localparam int BITS = $clog2(DEPTH);

    logic [35:0] beats [DEPTH];
    logic [BITS:0] write_reg, read_reg;     // one bit more than the address: full is not empty

    assign oldest_valid = write_reg != read_reg;
    assign s_tready = write_reg != (read_reg ^ (BITS + 1)'(DEPTH));
    assign {oldest_last, oldest_user, oldest_data} = beats[read_reg[BITS-1:0]];

    always_ff @(posedge clk) begin
        if (s_tvalid && s_tready) beats[write_reg[BITS-1:0]] <= {s_tlast, s_tuser, s_tdata};
        if (rst) begin
            write_reg <= 0;
            read_reg <= 0;
        end else begin
            write_reg <= write_reg + (BITS + 1)'(s_tvalid && s_tready);
            read_reg <= read_reg + (BITS + 1)'(pop && oldest_valid);
        end
    end
endmodule

`default_nettype wire
