// kerncast: AXI4-Lite register file of a core, 32-bit words:
//   00 abi          08 status: bit 0 busy, bits 10:8 of the last frame   10 clocks busy, 14 their upper word
//   04 control      0c errors: they stay, a one written clears           18 frames in     1c frames out
//   20 to 3c        the plan's hash, its leading word first
//
// control bit 0 starts the core: while it is 0, or the core in reset, no beat is taken.  Bit 1 resets core and
// counters, and reads as 0; so do the bits from 2 on, commands, which are given for one clock.  Reading 10
// holds the upper word for 14.  SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_registers #(
    parameter [31:0] ABI = 0,
    parameter [255:0] PLAN_HASH = 0,
    parameter ERRORS = 1,                  // at most 32
    parameter COMMANDS = 1                 // at most 6
) (
    input  wire clk,
    input  wire rst,

    input  wire [5:0] s_axil_awaddr,
    input  wire s_axil_awvalid,
    output wire s_axil_awready,
    input  wire [31:0] s_axil_wdata,
    input  wire [3:0] s_axil_wstrb,
    input  wire s_axil_wvalid,
    output wire s_axil_wready,
    output wire [1:0] s_axil_bresp,
    output wire s_axil_bvalid,
    input  wire s_axil_bready,
    input  wire [5:0] s_axil_araddr,
    input  wire s_axil_arvalid,
    output wire s_axil_arready,
    output wire [31:0] s_axil_rdata,
    output wire [1:0] s_axil_rresp,
    output wire s_axil_rvalid,
    input  wire s_axil_rready,

    output wire run,
    output wire core_rst,                  // rst, or a reset that was written
    output wire [COMMANDS-1:0] command,
    input  wire busy,
    input  wire [ERRORS-1:0] error,        // each for one clock
    input  wire frame_in,                  // the last beat of a frame was taken
    input  wire frame_out,
    input  wire [2:0] frame_status         // with frame_out
);
    localparam [3:0] CONTROL = 4'h1, ERROR = 4'h3;

    logic run_reg, reset_reg, wready_reg, bvalid_reg, rvalid_reg;
    logic [31:0] rdata_reg, upper_reg, in_reg, out_reg;
    logic [63:0] clocks_reg;
    logic [ERRORS-1:0] error_reg;
    logic [COMMANDS-1:0] command_reg;
    logic [2:0] status_reg;
    logic [31:0] value;

    // AXI allows no path from an input to an output within a clock: ready comes one after both valids,
    // which stand until then.
    wire write = s_axil_awvalid && s_axil_wvalid && wready_reg;
    wire read = s_axil_arvalid && !rvalid_reg;
    wire [3:0] write_word = s_axil_awaddr[5:2];
    wire [3:0] read_word = s_axil_araddr[5:2];
    wire [31:0] lanes = {{8{s_axil_wstrb[3]}}, {8{s_axil_wstrb[2]}}, {8{s_axil_wstrb[1]}}, {8{s_axil_wstrb[0]}}};
    wire [31:0] ones = s_axil_wdata & lanes;
    wire [31:0] hash_word = PLAN_HASH[{~read_word[2:0], 5'd0} +: 32];
    wire [31:0] clocks = clocks_reg[31:0];
    wire write_control = write && write_word == CONTROL && s_axil_wstrb[0];
    wire [ERRORS-1:0] clear = write && write_word == ERROR ? ones[ERRORS-1:0] : {ERRORS{1'b0}};

    always_comb begin
        case (read_word)
            4'h0: value = ABI;
            CONTROL: value = {31'd0, run_reg};
            4'h2: value = {21'd0, status_reg, 7'd0, busy};
            ERROR: value = 32'(error_reg);
            4'h4: value = clocks;
            4'h5: value = upper_reg;
            4'h6: value = in_reg;
            4'h7: value = out_reg;
            default: value = hash_word;
        endcase
    end

    always_ff @(posedge clk) begin
        wready_reg <= s_axil_awvalid && s_axil_wvalid && !wready_reg && !bvalid_reg;
        bvalid_reg <= write || (bvalid_reg && !s_axil_bready);
        rvalid_reg <= read || (rvalid_reg && !s_axil_rready);
        if (read) rdata_reg <= value;
        if (read && read_word == 4'h4) upper_reg <= clocks_reg[63:32];
        if (write_control) run_reg <= s_axil_wdata[0];
        reset_reg <= write_control && s_axil_wdata[1];
        command_reg <= write_control ? s_axil_wdata[2 +: COMMANDS] : {COMMANDS{1'b0}};
        error_reg <= (error_reg & ~clear) | error;
        if (busy) clocks_reg <= clocks_reg + 1'b1;
        if (frame_in) in_reg <= in_reg + 1'b1;
        if (frame_out) out_reg <= out_reg + 1'b1;
        if (frame_out) status_reg <= frame_status;
        if (core_rst) begin
            clocks_reg <= 64'd0;
            in_reg <= 32'd0;
            out_reg <= 32'd0;
            status_reg <= 3'd0;
            error_reg <= {ERRORS{1'b0}};
            command_reg <= {COMMANDS{1'b0}};
        end
        if (rst) begin
            run_reg <= 1'b0;
            reset_reg <= 1'b0;
            wready_reg <= 1'b0;
            bvalid_reg <= 1'b0;
            rvalid_reg <= 1'b0;
        end
    end

    assign s_axil_awready = wready_reg;
    assign s_axil_wready = wready_reg;
    assign s_axil_bresp = 2'b00;
    assign s_axil_bvalid = bvalid_reg;
    assign s_axil_arready = !rvalid_reg;
    assign s_axil_rdata = rdata_reg;
    assign s_axil_rresp = 2'b00;
    assign s_axil_rvalid = rvalid_reg;
    assign run = run_reg && !core_rst;     // a core in reset takes nothing: a beat that waits is not lost
    assign command = command_reg;
    assign core_rst = rst || reset_reg;
endmodule

`default_nettype wire
