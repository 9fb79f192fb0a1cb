// Bridge from the bus of a processor to the AXI4-Streams of one core. Registers, by word:
//
//   0        r  bit 0: the last beat was not accepted yet
//   0        w  offer a beat with this data
//   1        w  the next beats: bit 0 tlast, bit 1 tuser, bits 15:8 number of the input stream
//   2 + 2 k  r  oldest beat of output stream k: bit 0 there is one, bit 1 tlast, bits 4:2 tuser
//   3 + 2 k  r  data of this beat, which is removed
`default_nettype none

module stream_bridge #(
    parameter int INPUTS = 1,               // at most 8, of the core
    parameter int OUTPUTS = 1,              // at most 3
    parameter int DEPTH = 256
) (
    input  wire clk,
    input  wire rst,

    input  wire read,                       // each for one clock
    input  wire write,
    input  wire [2:0] address,
    input  wire [31:0] wdata,
    output wire [31:0] rdata,

    output wire [31:0] m_tdata,             // shared by the input streams of the core
    output wire m_tuser,
    output wire m_tlast,
    output wire [INPUTS-1:0] m_tvalid,
    input  wire [INPUTS-1:0] m_tready,

    input  wire [32*OUTPUTS-1:0] s_tdata,
    input  wire [3*OUTPUTS-1:0] s_tuser,
    input  wire [OUTPUTS-1:0] s_tlast,
    input  wire [OUTPUTS-1:0] s_tvalid,
    output wire [OUTPUTS-1:0] s_tready
);
    logic [31:0] data_reg;
    logic [1:0] flags_reg;
    logic [7:0] stream_reg;
    logic [INPUTS-1:0] valid_reg;
    wire [32*OUTPUTS-1:0] oldest_data;
    wire [3*OUTPUTS-1:0] oldest_user;
    wire [OUTPUTS-1:0] oldest_last, oldest_valid;
    logic [31:0] value;

    always_ff @(posedge clk) begin
        valid_reg <= valid_reg & ~m_tready;
        if (write && address == 0) begin
            data_reg <= wdata;
            valid_reg <= INPUTS'(1) << stream_reg;
        end
        if (write && address == 1) {stream_reg, flags_reg} <= {wdata[15:8], wdata[1:0]};
        if (rst) valid_reg <= 0;
    end

    assign m_tdata = data_reg;
    assign {m_tuser, m_tlast} = flags_reg;
    assign m_tvalid = valid_reg;

    for (genvar k = 0; k < OUTPUTS; k = k + 1) begin : g_output
        stream_fifo #(.DEPTH(DEPTH)) fifo_inst (
            .clk(clk), .rst(rst), .s_tdata(s_tdata[32*k +: 32]), .s_tuser(s_tuser[3*k +: 3]),
            .s_tlast(s_tlast[k]), .s_tvalid(s_tvalid[k]), .s_tready(s_tready[k]),
            .oldest_data(oldest_data[32*k +: 32]), .oldest_user(oldest_user[3*k +: 3]),
            .oldest_last(oldest_last[k]), .oldest_valid(oldest_valid[k]),
            .pop(read && address == 3'(3 + 2 * k))
        );
    end

    always_comb begin
        value = 32'(valid_reg != 0);
        for (int k = 0; k < OUTPUTS; k = k + 1) begin
            if (address == 3'(2 + 2 * k)) value = {27'd0, oldest_user[3*k +: 3], oldest_last[k], oldest_valid[k]};
            if (address == 3'(3 + 2 * k)) value = oldest_data[32*k +: 32];
        end
    end
    assign rdata = value;
endmodule

`default_nettype wire
