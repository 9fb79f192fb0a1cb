
    // The core: its beat is stable until it is accepted, unless it is reset.
    logic formal_since = 0;
    always @(posedge clk) formal_since <= !rst;

    always @(posedge clk) if (formal_clock != 0)
        if (formal_since && !$past(core_rst))
            assume ((core_m_tvalid & $past(core_m_tvalid & ~core_m_tready)) == $past(core_m_tvalid & ~core_m_tready)
                    && (($past(core_m_tvalid & ~core_m_tready) & (m_tlast ^ $past(m_tlast))) == 0));

    // Whether a frame has begun and not ended, at each port.
    logic [INPUTS-1:0] formal_in = 0, formal_core_in = 0;
    logic [OUTPUTS-1:0] formal_out = 0;
    always @(posedge clk) begin
        formal_in <= ((formal_in & ~(s_tvalid & s_tready)) | (s_tvalid & s_tready & ~s_tlast))
            & ~({INPUTS{discard}} & (drop_reg | ({INPUTS{done}} & formal_in)));
        formal_core_in <= core_rst ? 0 : (formal_core_in & ~(core_s_tvalid & core_s_tready))
            | (core_s_tvalid & core_s_tready & ~s_tlast);
        formal_out <= (formal_out & ~(m_tvalid & m_tready)) | (m_tvalid & m_tready & ~m_tlast);
        if (rst) begin
            formal_in <= 0;
            formal_out <= 0;
        end
    end

    always @(posedge clk) if (formal_clock != 0 && !rst) begin
        // What is offered is stable until it is accepted, soft resets included.
        if (formal_since) begin
            assert ((m_tvalid & $past(m_tvalid & ~m_tready)) == $past(m_tvalid & ~m_tready));
            assert (($past(m_tvalid & ~m_tready) & m_tvalid & (m_tlast ^ $past(m_tlast))) == 0);
        end
        // The core is reset between its output frames alone.
        if (done) assert (formal_out == 0 && m_tvalid == 0);
        // The core sees whole frames: a beat that it accepts begins one, or continues the one it has begun.
        assert ((core_s_tvalid & core_s_tready & formal_in & ~formal_core_in) == 0);
        // No beat is accepted twice, and none is accepted by the port that is neither the core's nor dropped.
        assert ((core_s_tvalid & ~s_tvalid) == 0);
        assert ((s_tvalid & s_tready & core_s_tvalid & ~core_s_tready) == 0);
        assert ((core_s_tvalid & core_s_tready & ~s_tready) == 0);
        if (!run || pending) assert (s_tready == 0);
        // What the proof needs to know of the registers.
        assert (in_frame_reg == formal_in);
        assert (out_frame_reg == formal_out);
        assert ((drop_reg & ~formal_in) == 0);
        assert (done || ((formal_in & ~drop_reg) == formal_core_in));
        if (done) assert ((formal_in & ~drop_reg) == formal_core_in);
    end
