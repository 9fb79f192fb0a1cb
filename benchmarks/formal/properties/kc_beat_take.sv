
    // Beat AT is taken out and kept, the beat before it waits for it; all others pass as they are. A frame without beat
    // AT gets one beat more if STRICT, and passes otherwise.
    localparam FORMAL_HOLD = AT - 1;
    logic [3:0] formal_place = 0;           // input beats of the frame, at most AT + 1
    logic formal_held = 0, formal_short = 0, formal_twice = 0;   // a beat waits; it was the last; it was sent once
    logic [WIDTH-1:0] formal_word = 0, formal_beat = 0;
    logic formal_known = 0;                 // a beat AT was taken, or there was none
    logic formal_kept = 0, formal_waits = 0;
    wire formal_taken = m_axis_tvalid && m_axis_tready;
    wire formal_used = s_axis_tvalid && s_axis_tready;

    always @(posedge clk) begin
        formal_kept <= !rst && m_axis_tvalid && !m_axis_tready;
        formal_waits <= !rst && s_axis_tvalid && !s_axis_tready;
        if (formal_used) formal_place <= s_axis_tlast ? 0 : 32'(formal_place) > AT ? formal_place : formal_place + 1'b1;
        if (formal_used && 32'(formal_place) == FORMAL_HOLD) begin
            formal_held <= 1;
            formal_beat <= s_axis_tdata;
            formal_short <= s_axis_tlast;
            if (s_axis_tlast && STRICT == 0) formal_word <= 0;
            if (s_axis_tlast && STRICT == 0) formal_known <= 1;
        end
        if (formal_used && 32'(formal_place) == AT) formal_word <= s_axis_tdata;
        if (formal_used && 32'(formal_place) == AT) formal_known <= 1;
        if (formal_held && formal_taken) begin
            formal_held <= formal_short && STRICT != 0 && !formal_twice;
            formal_twice <= formal_short && STRICT != 0 && !formal_twice;
        end
        if (rst) begin
            formal_place <= 0;
            formal_held <= 0;
            formal_known <= 0;
            formal_twice <= 0;
        end
    end

    always @(posedge clk) begin
        if (formal_waits) assume (s_axis_tvalid && $stable(s_axis_tdata) && $stable(s_axis_tlast));
        if (formal_clock != 0) begin
            if (formal_kept) assert (m_axis_tvalid && $stable(m_axis_tdata) && $stable(m_axis_tlast));
            if (formal_held) begin
                assert (formal_used == (formal_taken && !formal_short));
                if (m_axis_tvalid) assert (m_axis_tdata == formal_beat);
                if (m_axis_tvalid)
                    assert (m_axis_tlast == (formal_short ? STRICT == 0 || formal_twice : s_axis_tlast));
                if (formal_short) assert (m_axis_tvalid);
            end else if (32'(formal_place) == FORMAL_HOLD) assert (!m_axis_tvalid && s_axis_tready);
            else begin
                assert (formal_used == formal_taken);
                if (m_axis_tvalid) assert (m_axis_tdata == s_axis_tdata && m_axis_tlast == s_axis_tlast);
            end
            if (formal_known) assert (word == formal_word);
            // Of states that cannot be reached:
            assert (state_reg <= BEHIND && 32'(place_reg) < AT);
            assert (formal_held == (state_reg == WAIT || state_reg == SHORT || state_reg == END));
            if (formal_held) assert (held_reg == formal_beat && formal_short == (state_reg != WAIT));
            if (formal_held) assert (32'(formal_place) == (formal_short ? 0 : AT));
            assert (formal_twice == (STRICT != 0 && state_reg == END));
            if (STRICT == 0) assert (state_reg != SHORT);
            if (state_reg == FRONT) assert (32'(place_reg) == 32'(formal_place));
            else assert (place_reg == 0);
            if (state_reg == BEHIND) assert (32'(formal_place) == AT + 1);
        end
    end
