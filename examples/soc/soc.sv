// A system on a chip that trains: PicoRV32, 64 kB of RAM, a console, and three RTL cores of kerncast behind their
// Verilog wrappers: trainer and predictor of grid.toml, and the learner of online.toml.
//
//   0000_0000  RAM, filled from FIRMWARE
//   1000_0000  console: a byte is written; 1000_0004: a write halts, its value is the exit code
//   2000_0c00  streams of core c, see stream_bridge.sv
//   3000_0c00  registers of core c over AXI4-Lite, see kc_core_regs.h
//
// c is 0 trainer, 1 predictor, 2 learner; core c raises interrupt 4 + c.  An address without a device reads 0.
`default_nettype none

module soc #(
    parameter FIRMWARE = "firmware.mem"
) (
    input  wire clk,
    input  wire resetn,
    output wire [7:0] console,
    output wire console_valid,
    output wire halted,
    output wire [7:0] exit_code,
    output wire [2:0] irq
);
    localparam int CORES = 3, RAM_WORDS = 16384;

    // ---- the processor and its bus ----
    wire trap, mem_valid, mem_ready, axi_ready;
    wire [31:0] mem_addr, mem_wdata, mem_rdata, axi_data;
    wire [3:0] mem_wstrb;

    picorv32 #(
        .COMPRESSED_ISA(1), .ENABLE_IRQ(1), .ENABLE_IRQ_TIMER(0), .LATCHED_IRQ(32'd0),
        .PROGADDR_RESET(32'h0000_0000), .PROGADDR_IRQ(32'h0000_0010)
    ) cpu_inst (
        .clk(clk), .resetn(resetn), .trap(trap), .mem_valid(mem_valid), .mem_instr(), .mem_ready(mem_ready),
        .mem_addr(mem_addr), .mem_wdata(mem_wdata), .mem_wstrb(mem_wstrb), .mem_rdata(mem_rdata),
        .mem_la_read(), .mem_la_write(), .mem_la_addr(), .mem_la_wdata(), .mem_la_wstrb(), .pcpi_valid(),
        .pcpi_insn(), .pcpi_rs1(), .pcpi_rs2(), .pcpi_wr(1'b0), .pcpi_rd(32'd0), .pcpi_wait(1'b0),
        .pcpi_ready(1'b0), .irq({25'd0, irq, 4'd0}), .eoi(), .trace_valid(), .trace_data()
    );

    wire [3:0] device = mem_addr[31:28];
    wire [1:0] core = mem_addr[9:8];
    wire to_registers = device == 4'h3 && core != 2'd3;
    logic local_ready_reg;
    wire local_access = mem_valid && !to_registers && !local_ready_reg;   // for one clock
    wire local_write = local_access && mem_wstrb != 0;

    // ---- RAM, console and streams answer a clock later ----
    logic [31:0] ram [RAM_WORDS];
    logic [31:0] ram_reg, stream_reg;
    logic [7:0] exit_reg;
    logic halted_reg;
    wire [31:0] stream_data [CORES];
    wire [CORES-1:0] stream_select, stream_read, stream_write;

    initial $readmemh(FIRMWARE, ram);

    always_ff @(posedge clk) begin
        local_ready_reg <= local_access && resetn;
        ram_reg <= device == 4'h0 ? ram[mem_addr[15:2]] : 32'd0;
        stream_reg <= stream_select != 0 ? stream_data[core] : 32'd0;
        for (int i = 0; i < 4; i = i + 1)
            if (local_write && device == 4'h0 && mem_wstrb[i]) ram[mem_addr[15:2]][8*i +: 8] <= mem_wdata[8*i +: 8];
        if (local_write && device == 4'h1 && mem_addr[2]) {halted_reg, exit_reg} <= {1'b1, mem_wdata[7:0]};
        if (trap) {halted_reg, exit_reg} <= {1'b1, 8'd255};
        if (!resetn) halted_reg <= 1'b0;
    end

    assign console = mem_wdata[7:0];
    assign console_valid = local_write && device == 4'h1 && !mem_addr[2];
    assign halted = halted_reg;
    assign exit_code = exit_reg;
    assign mem_ready = to_registers ? axi_ready : local_ready_reg;
    assign mem_rdata = to_registers ? axi_data : ram_reg | stream_reg;

    for (genvar c = 0; c < CORES; c = c + 1) begin : g_streams
        assign stream_select[c] = device == 4'h2 && core == 2'(c);
        assign stream_read[c] = local_access && !local_write && stream_select[c];
        assign stream_write[c] = local_write && stream_select[c];
    end

    // ---- one AXI4-Lite master, three slaves ----
    wire awvalid, wvalid, bready, arvalid, rready;
    wire [31:0] awaddr, wdata, araddr;
    wire [2:0] awprot, arprot;
    wire [3:0] wstrb;
    wire [CORES-1:0] chosen, awready, wready, bvalid, arready, rvalid;
    wire [31:0] rdata [CORES];
    wire [1:0] bresp [CORES], rresp [CORES];    // the errors of a core record a refused access

    picorv32_axi_adapter axi_inst (
        .clk(clk), .resetn(resetn), .mem_axi_awvalid(awvalid), .mem_axi_awready(|(awready & chosen)),
        .mem_axi_awaddr(awaddr), .mem_axi_awprot(awprot), .mem_axi_wvalid(wvalid),
        .mem_axi_wready(|(wready & chosen)), .mem_axi_wdata(wdata), .mem_axi_wstrb(wstrb),
        .mem_axi_bvalid(|(bvalid & chosen)), .mem_axi_bready(bready), .mem_axi_arvalid(arvalid),
        .mem_axi_arready(|(arready & chosen)), .mem_axi_araddr(araddr), .mem_axi_arprot(arprot),
        .mem_axi_rvalid(|(rvalid & chosen)), .mem_axi_rready(rready), .mem_axi_rdata(rdata[core]),
        .mem_valid(mem_valid && to_registers), .mem_instr(1'b0), .mem_ready(axi_ready), .mem_addr(mem_addr),
        .mem_wdata(mem_wdata), .mem_wstrb(mem_wstrb), .mem_rdata(axi_data)
    );

    for (genvar c = 0; c < CORES; c = c + 1) begin : g_chosen
        assign chosen[c] = core == 2'(c);
    end

    // ---- core 0: the trainer ----
    wire [31:0] y_data;
    wire [15:0] trained_data;
    wire [2:0] trained_user;
    wire y_last, y_valid, y_ready, trained_last, trained_valid, trained_ready;

    stream_bridge trainer_streams_inst (
        .clk(clk), .rst(!resetn), .read(stream_read[0]), .write(stream_write[0]), .address(mem_addr[4:2]),
        .wdata(mem_wdata), .rdata(stream_data[0]),
        .m_tdata(y_data), .m_tuser(), .m_tlast(y_last), .m_tvalid(y_valid), .m_tready(y_ready),
        .s_tdata({16'd0, trained_data}), .s_tuser(trained_user), .s_tlast(trained_last),
        .s_tvalid(trained_valid), .s_tready(trained_ready)
    );
    grid_trainer_wrap #(.LANES(2)) trainer_inst (
        .aclk(clk), .aresetn(resetn), .irq(irq[0]),
        .s_axil_awaddr(awaddr[7:0]), .s_axil_awprot(awprot), .s_axil_awvalid(awvalid && chosen[0]),
        .s_axil_awready(awready[0]), .s_axil_wdata(wdata), .s_axil_wstrb(wstrb),
        .s_axil_wvalid(wvalid && chosen[0]), .s_axil_wready(wready[0]), .s_axil_bresp(bresp[0]),
        .s_axil_bvalid(bvalid[0]), .s_axil_bready(bready && chosen[0]), .s_axil_araddr(araddr[7:0]),
        .s_axil_arprot(arprot), .s_axil_arvalid(arvalid && chosen[0]), .s_axil_arready(arready[0]),
        .s_axil_rdata(rdata[0]), .s_axil_rresp(rresp[0]), .s_axil_rvalid(rvalid[0]),
        .s_axil_rready(rready && chosen[0]),
        .s_axis_y_tdata(y_data[15:0]), .s_axis_y_tvalid(y_valid), .s_axis_y_tready(y_ready),
        .s_axis_y_tlast(y_last),
        .m_axis_model_tdata(trained_data), .m_axis_model_tkeep(), .m_axis_model_tuser(trained_user),
        .m_axis_model_tvalid(trained_valid), .m_axis_model_tready(trained_ready),
        .m_axis_model_tlast(trained_last)
    );

    // ---- core 1: the predictor ----
    wire [31:0] asked_data;
    wire [15:0] f_data;
    wire [2:0] f_user;
    wire [1:0] asked_valid, asked_ready;
    wire asked_last, f_last, f_valid, f_ready;

    stream_bridge #(.INPUTS(2)) predictor_streams_inst (
        .clk(clk), .rst(!resetn), .read(stream_read[1]), .write(stream_write[1]), .address(mem_addr[4:2]),
        .wdata(mem_wdata), .rdata(stream_data[1]),
        .m_tdata(asked_data), .m_tuser(), .m_tlast(asked_last), .m_tvalid(asked_valid), .m_tready(asked_ready),
        .s_tdata({16'd0, f_data}), .s_tuser(f_user), .s_tlast(f_last), .s_tvalid(f_valid), .s_tready(f_ready)
    );
    grid_predictor_wrap predictor_inst (
        .aclk(clk), .aresetn(resetn), .irq(irq[1]),
        .s_axil_awaddr(awaddr[7:0]), .s_axil_awprot(awprot), .s_axil_awvalid(awvalid && chosen[1]),
        .s_axil_awready(awready[1]), .s_axil_wdata(wdata), .s_axil_wstrb(wstrb),
        .s_axil_wvalid(wvalid && chosen[1]), .s_axil_wready(wready[1]), .s_axil_bresp(bresp[1]),
        .s_axil_bvalid(bvalid[1]), .s_axil_bready(bready && chosen[1]), .s_axil_araddr(araddr[7:0]),
        .s_axil_arprot(arprot), .s_axil_arvalid(arvalid && chosen[1]), .s_axil_arready(arready[1]),
        .s_axil_rdata(rdata[1]), .s_axil_rresp(rresp[1]), .s_axil_rvalid(rvalid[1]),
        .s_axil_rready(rready && chosen[1]),
        .s_axis_x_tdata(asked_data[7:0]), .s_axis_x_tvalid(asked_valid[0]), .s_axis_x_tready(asked_ready[0]),
        .s_axis_x_tlast(asked_last),
        .s_axis_model_tdata(asked_data[15:0]), .s_axis_model_tvalid(asked_valid[1]),
        .s_axis_model_tready(asked_ready[1]), .s_axis_model_tlast(asked_last),
        .m_axis_f_tdata(f_data), .m_axis_f_tkeep(), .m_axis_f_tuser(f_user), .m_axis_f_tvalid(f_valid),
        .m_axis_f_tready(f_ready), .m_axis_f_tlast(f_last)
    );

    // ---- core 2: the learner ----
    wire [31:0] sample_data;
    wire [15:0] error_data, state_data;
    wire [2:0] error_user;
    wire [1:0] sample_valid, sample_ready, learned_last, learned_valid, learned_ready;
    wire sample_user, sample_last, state_user;

    stream_bridge #(.INPUTS(2), .OUTPUTS(2)) learner_streams_inst (
        .clk(clk), .rst(!resetn), .read(stream_read[2]), .write(stream_write[2]), .address(mem_addr[4:2]),
        .wdata(mem_wdata), .rdata(stream_data[2]),
        .m_tdata(sample_data), .m_tuser(sample_user), .m_tlast(sample_last), .m_tvalid(sample_valid),
        .m_tready(sample_ready),
        .s_tdata({16'd0, state_data, 16'd0, error_data}), .s_tuser({2'd0, state_user, error_user}),
        .s_tlast(learned_last), .s_tvalid(learned_valid), .s_tready(learned_ready)
    );
    online_learner_wrap learner_inst (
        .aclk(clk), .aresetn(resetn), .irq(irq[2]),
        .s_axil_awaddr(awaddr[7:0]), .s_axil_awprot(awprot), .s_axil_awvalid(awvalid && chosen[2]),
        .s_axil_awready(awready[2]), .s_axil_wdata(wdata), .s_axil_wstrb(wstrb),
        .s_axil_wvalid(wvalid && chosen[2]), .s_axil_wready(wready[2]), .s_axil_bresp(bresp[2]),
        .s_axil_bvalid(bvalid[2]), .s_axil_bready(bready && chosen[2]), .s_axil_araddr(araddr[7:0]),
        .s_axil_arprot(arprot), .s_axil_arvalid(arvalid && chosen[2]), .s_axil_arready(arready[2]),
        .s_axil_rdata(rdata[2]), .s_axil_rresp(rresp[2]), .s_axil_rvalid(rvalid[2]),
        .s_axil_rready(rready && chosen[2]),
        .s_axis_x_tdata(sample_data[15:0]), .s_axis_x_tuser(sample_user), .s_axis_x_tvalid(sample_valid[0]),
        .s_axis_x_tready(sample_ready[0]), .s_axis_x_tlast(sample_last),
        .s_axis_state_tdata(sample_data[15:0]), .s_axis_state_tuser(sample_user),
        .s_axis_state_tvalid(sample_valid[1]), .s_axis_state_tready(sample_ready[1]),
        .s_axis_state_tlast(sample_last),
        .m_axis_f_tdata(error_data), .m_axis_f_tkeep(), .m_axis_f_tuser(error_user),
        .m_axis_f_tvalid(learned_valid[0]), .m_axis_f_tready(learned_ready[0]), .m_axis_f_tlast(learned_last[0]),
        .m_axis_state_tdata(state_data), .m_axis_state_tkeep(), .m_axis_state_tuser(state_user),
        .m_axis_state_tvalid(learned_valid[1]), .m_axis_state_tready(learned_ready[1]),
        .m_axis_state_tlast(learned_last[1])
    );
endmodule

`default_nettype wire
