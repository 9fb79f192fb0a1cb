
    // AXI4-Lite: an answer for each write and each read, none without; it is stable until it is accepted.
    logic [3:0] formal_writes = 0, formal_write_answers = 0, formal_reads = 0, formal_read_answers = 0;
    logic formal_since = 0;
    always @(posedge clk) formal_since <= !rst;

    always @(posedge clk) begin
        formal_writes <= formal_writes + 4'(s_axil_awvalid && s_axil_awready);
        formal_write_answers <= formal_write_answers + 4'(s_axil_bvalid && s_axil_bready);
        formal_reads <= formal_reads + 4'(s_axil_arvalid && s_axil_arready);
        formal_read_answers <= formal_read_answers + 4'(s_axil_rvalid && s_axil_rready);
        if (rst) begin
            formal_writes <= 0;
            formal_write_answers <= 0;
            formal_reads <= 0;
            formal_read_answers <= 0;
        end
    end

    // The other side's part: what is offered is stable until it is accepted.
    always @(posedge clk) if (formal_since) begin
        if ($past(s_axil_awvalid && !s_axil_awready)) assume (s_axil_awvalid && $stable(s_axil_awaddr));
        if ($past(s_axil_wvalid && !s_axil_wready))
            assume (s_axil_wvalid && $stable(s_axil_wdata) && $stable(s_axil_wstrb));
    end

    always @(posedge clk) if (formal_clock != 0) begin
        assert ((s_axil_awvalid && s_axil_awready) == (s_axil_wvalid && s_axil_wready));
        assert (formal_writes == 4'(formal_write_answers + s_axil_bvalid));
        assert (formal_reads == 4'(formal_read_answers + s_axil_rvalid));
        if (formal_since && $past(s_axil_bvalid) && !$past(s_axil_bready)) assert (s_axil_bvalid && $stable(s_axil_bresp));
        if (formal_since && $past(s_axil_rvalid) && !$past(s_axil_rready)) begin
            assert (s_axil_rvalid && $stable(s_axil_rdata) && $stable(s_axil_rresp));
        end
        // An error stays until a one is written.
        if (formal_since && $past(error_reg[0]) && !$past(rst || reset_done) && !error_reg[0])
            assert ($past(s_axil_awready && s_axil_awvalid && s_axil_awaddr[7:2] == 6'h13 && s_axil_wdata[0] && s_axil_wstrb[0]));
        // A refused access sets the error `access`, which stays until a one is written.
        if (formal_since && $past(refused) && !$past(rst || reset_done)) assert (access_reg && cause_reg[1]);
        if (formal_since && s_axil_bvalid && $past(write)) assert ((s_axil_bresp != 0) == $past(!writable));
        if (formal_since && $past(access_reg) && !$past(rst || reset_done) && !access_reg)
            assert ($past(s_axil_awready && s_axil_awvalid && s_axil_awaddr[7:2] == 6'h13 && s_axil_wdata[31] && s_axil_wstrb[3]));
        // The interrupt follows its causes a clock later; a cause stays until a one is written.
        if (formal_since) assert (irq == $past((cause_reg & enable_reg) != 0));
        if (formal_since && $past(cause_reg[0]) && !$past(reset_done) && !cause_reg[0])
            assert ($past(s_axil_awready && s_axil_awvalid && s_axil_awaddr[7:2] == 6'h15 && s_axil_wdata[0] && s_axil_wstrb[0]));
        // A reset clears every cause but its own.
        if (formal_since && $past(reset_done) && !$past(rst)) assert (cause_reg == 4'b0100);
        // A command and a reset are given for one clock, after a one alone.
        if (command[0]) assert ($past(s_axil_awready && s_axil_awaddr[7:2] == 6'h11 && s_axil_wdata[1]));
        if (reset_request) assert ($past(s_axil_awready && s_axil_awaddr[7:2] == 6'h11 && s_axil_wdata[0]));
    end
