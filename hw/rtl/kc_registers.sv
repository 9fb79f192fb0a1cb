// kerncast: AXI4-Lite register file of a core, 32-bit words. The table of the registers is hw/rtl/registers.toml; the
// README of a generated folder lists them.
//
// While `run` is low, or a reset is in progress, no beat is accepted. A write of ones to `command` acts for one clock.
// Errors and the causes of `irq` stay until a one is written. A refused access answers SLVERR, changes nothing and
// sets the error `access`: an address without a register, or a write to a register that is read only.
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_registers #(
    parameter int CORE = 0,                // what software reads to identify the core
    parameter int ABI = 0,
    parameter int SIZE = 0,
    parameter int INPUTS = 1,
    parameter int OUTPUTS = 1,
    parameter int WORD = 16,
    parameter int LANES = 1,
    parameter logic [255:0] PLAN_HASH = 0,
    parameter int ERRORS = 1,              // at most 30
    parameter int COMMANDS = 1             // at most 7
) (
    input  wire clk,
    input  wire rst,

    input  wire [7:0] s_axil_awaddr,
    input  wire s_axil_awvalid,
    output wire s_axil_awready,
    input  wire [31:0] s_axil_wdata,
    input  wire [3:0] s_axil_wstrb,
    input  wire s_axil_wvalid,
    output wire s_axil_wready,
    output wire [1:0] s_axil_bresp,
    output wire s_axil_bvalid,
    input  wire s_axil_bready,
    input  wire [7:0] s_axil_araddr,
    input  wire s_axil_arvalid,
    output wire s_axil_arready,
    output wire [31:0] s_axil_rdata,
    output wire [1:0] s_axil_rresp,
    output wire s_axil_rvalid,
    input  wire s_axil_rready,

    output wire irq,
    output wire run,
    output wire reset_request,             // for one clock
    input  wire reset_pending,
    input  wire reset_done,                // for one clock: the core is in reset
    input  wire dropping,                  // the rest of an interrupted input frame is being dropped
    input  wire dropped,                   // for one clock: it has come
    output wire discard,                   // for one clock: it will not come
    output wire [COMMANDS-1:0] command,    // each for one clock
    input  wire busy,
    input  wire [ERRORS-1:0] error,        // each for one clock
    input  wire frame_in,                  // the last beat of a frame was accepted
    input  wire frame_out,
    input  wire state_out,                 // a frame of the learner's state
    input  wire [2:0] frame_status         // with frame_out
);
    // Offsets of the table, and the version of the map.
    localparam [7:0] MAP = 8'd4;
    localparam [7:0] AT_MAGIC = 8'h00, AT_CORE = 8'h04, AT_SIZE = 8'h08, AT_SHAPE = 8'h0c, AT_BUILD = 8'h10;
    localparam [7:0] AT_PLAN_HASH = 8'h20, AT_CONTROL = 8'h40, AT_COMMAND = 8'h44, AT_STATUS = 8'h48;
    localparam [7:0] AT_ERRORS = 8'h4c, AT_IRQ_ENABLE = 8'h50, AT_IRQ_STATUS = 8'h54, AT_CLOCKS = 8'h58;
    localparam [7:0] AT_CLOCKS_HIGH = 8'h5c, AT_FRAMES_IN = 8'h60, AT_FRAMES_OUT = 8'h64;
    localparam [1:0] OKAY = 2'b00, SLVERR = 2'b10;

    logic run_reg, reset_reg, wready_reg, bvalid_reg, rvalid_reg, irq_reg;
    logic [1:0] bresp_reg, rresp_reg;
    logic [31:0] rdata_reg, upper_reg, in_reg, out_reg;
    logic [63:0] clocks_reg;
    logic [ERRORS-1:0] error_reg;
    logic access_reg, dropped_reg, discard_reg;
    logic [COMMANDS-1:0] command_reg;
    logic [2:0] status_reg;
    logic [3:0] enable_reg, cause_reg;
    logic [31:0] value;
    logic readable;

    // AXI forbids combinational paths from inputs to outputs: ready follows one clock after both valids,
    // which stay high until then.
    wire write = s_axil_awvalid && s_axil_wvalid && wready_reg;
    wire read = s_axil_arvalid && !rvalid_reg;
    wire [7:0] write_to = {s_axil_awaddr[7:2], 2'b00};
    wire [7:0] read_from = {s_axil_araddr[7:2], 2'b00};
    wire [31:0] lanes = {{8{s_axil_wstrb[3]}}, {8{s_axil_wstrb[2]}}, {8{s_axil_wstrb[1]}}, {8{s_axil_wstrb[0]}}};
    wire [31:0] ones = write ? s_axil_wdata & lanes : 32'd0;
    wire [31:0] commands = write_to == AT_COMMAND ? ones : 32'd0;
    wire clearing = write_to == AT_ERRORS;
    wire [ERRORS-1:0] clear = clearing ? ones[ERRORS-1:0] : {ERRORS{1'b0}};
    wire [3:0] acknowledge = write_to == AT_IRQ_STATUS ? ones[3:0] : 4'd0;
    wire refused = (write && !writable) || (read && !readable);
    wire [3:0] cause = {state_out, reset_done, refused || dropped || |error, frame_out};
    wire [31:0] hash_word = PLAN_HASH[{~read_from[4:2], 5'd0} +: 32];
    wire [31:0] clocks = clocks_reg[31:0];
    wire read_hash = read_from[7:5] == AT_PLAN_HASH[7:5];
    wire writable = write_to == AT_CONTROL || write_to == AT_COMMAND || clearing || write_to == AT_IRQ_ENABLE
        || write_to == AT_IRQ_STATUS;

    always_comb begin
        readable = 1'b1;
        case (read_from)
            AT_MAGIC: value = 32'h4b435354;
            AT_CORE: value = {16'(ABI), MAP, 8'(CORE)};
            AT_SIZE: value = 32'(SIZE);
            AT_SHAPE: value = {16'(OUTPUTS), 16'(INPUTS)};
            AT_BUILD: value = {16'd0, 8'(LANES), 8'(WORD)};
            AT_CONTROL: value = {31'd0, run_reg};
            AT_COMMAND: value = 32'd0;
            AT_STATUS: value = {21'd0, status_reg, 5'd0, dropping, reset_pending || reset_reg, busy};
            AT_ERRORS: value = {access_reg, dropped_reg, 30'(error_reg)};
            AT_IRQ_ENABLE: value = 32'(enable_reg);
            AT_IRQ_STATUS: value = 32'(cause_reg);
            AT_CLOCKS: value = clocks;
            AT_CLOCKS_HIGH: value = upper_reg;
            AT_FRAMES_IN: value = in_reg;
            AT_FRAMES_OUT: value = out_reg;
            default: begin
                readable = read_hash;
                value = read_hash ? hash_word : 32'd0;
            end
        endcase
    end

    always_ff @(posedge clk) begin
        wready_reg <= s_axil_awvalid && s_axil_wvalid && !wready_reg && !bvalid_reg;
        bvalid_reg <= write || (bvalid_reg && !s_axil_bready);
        rvalid_reg <= read || (rvalid_reg && !s_axil_rready);
        if (write) bresp_reg <= writable ? OKAY : SLVERR;
        if (read) rresp_reg <= readable ? OKAY : SLVERR;
        if (read) rdata_reg <= value;
        if (read && read_from == AT_CLOCKS) upper_reg <= clocks_reg[63:32];
        if (write && write_to == AT_CONTROL && s_axil_wstrb[0]) run_reg <= s_axil_wdata[0];
        if (write && write_to == AT_IRQ_ENABLE && s_axil_wstrb[0]) enable_reg <= s_axil_wdata[3:0];
        reset_reg <= commands[0];
        command_reg <= commands[1 +: COMMANDS];
        discard_reg <= commands[8];
        error_reg <= (error_reg & ~clear) | error;
        access_reg <= refused || (access_reg && !(clearing && ones[31]));
        dropped_reg <= dropped || (dropped_reg && !(clearing && ones[30]));
        cause_reg <= reset_done ? 4'b0100 : (cause_reg & ~acknowledge) | cause;
        irq_reg <= (cause_reg & enable_reg) != 0;
        if (busy) clocks_reg <= clocks_reg + 1'b1;
        if (frame_in) in_reg <= in_reg + 1'b1;
        if (frame_out) out_reg <= out_reg + 1'b1;
        if (frame_out) status_reg <= frame_status;
        if (rst || reset_done) begin
            clocks_reg <= 64'd0;
            in_reg <= 32'd0;
            out_reg <= 32'd0;
            status_reg <= 3'd0;
            error_reg <= {ERRORS{1'b0}};
            access_reg <= 1'b0;
            dropped_reg <= 1'b0;
            command_reg <= {COMMANDS{1'b0}};
        end
        if (rst) begin
            run_reg <= 1'b0;
            reset_reg <= 1'b0;
            discard_reg <= 1'b0;
            enable_reg <= 4'd0;
            cause_reg <= 4'd0;
            irq_reg <= 1'b0;
            wready_reg <= 1'b0;
            bvalid_reg <= 1'b0;
            rvalid_reg <= 1'b0;
        end
    end

    assign s_axil_awready = wready_reg;
    assign s_axil_wready = wready_reg;
    assign s_axil_bresp = bresp_reg;
    assign s_axil_bvalid = bvalid_reg;
    assign s_axil_arready = !rvalid_reg;
    assign s_axil_rdata = rdata_reg;
    assign s_axil_rresp = rresp_reg;
    assign s_axil_rvalid = rvalid_reg;
    assign irq = irq_reg;
    assign run = run_reg;
    assign reset_request = reset_reg;
    assign command = command_reg;
    assign discard = discard_reg;
endmodule

`default_nettype wire
