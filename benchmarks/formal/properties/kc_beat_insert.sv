
    // Every beat passes as it is, and behind beat AT - 1 one beat with `word` comes, which takes its tlast; none if that
    // is the last of the frame, unless ALWAYS.
    logic [3:0] formal_place = 0;           // output beats of the frame, at most AT + 1
    logic formal_due = 0, formal_last = 0;  // the word is due; it is the last of the frame
    logic formal_read = 0;                  // it was read
    logic [WIDTH-1:0] formal_word = 0;
    logic [USER_BITS-1:0] formal_user = 0;
    logic formal_kept = 0, formal_waits = 0;
    wire formal_taken = m_axis_tvalid && m_axis_tready;
    wire formal_used = s_axis_tvalid && s_axis_tready;
    wire formal_ends = 32'(formal_place) == AT - 1 && !formal_due;

    always @(posedge clk) begin
        formal_kept <= !rst && m_axis_tvalid && !m_axis_tready;
        formal_waits <= !rst && s_axis_tvalid && !s_axis_tready;
        if (formal_taken) formal_place <= m_axis_tlast ? 0 : 32'(formal_place) > AT ? formal_place : formal_place + 1'b1;
        if (formal_taken) formal_due <= formal_ends && (ALWAYS != 0 || !s_axis_tlast);
        if (formal_taken && formal_ends) formal_last <= s_axis_tlast;
        if (formal_taken && formal_ends) formal_user <= s_axis_tuser;
        formal_read <= formal_due && !formal_taken;
        if (!formal_read) formal_word <= word;
        if (rst) formal_read <= 0;
        if (rst) formal_place <= 0;
        if (rst) formal_due <= 0;
    end

    always @(posedge clk) begin
        if (formal_waits) assume (s_axis_tvalid && $stable(s_axis_tdata) && $stable(s_axis_tlast) && $stable(s_axis_tuser));
        if (formal_clock != 0) begin
            if (formal_kept)
                assert (m_axis_tvalid && $stable(m_axis_tdata) && $stable(m_axis_tlast) && $stable(m_axis_tuser));
            if (formal_due) begin
                assert (m_axis_tvalid == formal_read && !s_axis_tready);
                if (m_axis_tvalid) assert (m_axis_tdata == formal_word && m_axis_tuser == formal_user);
                if (m_axis_tvalid) assert (m_axis_tlast == formal_last);
            end else begin
                assert (formal_used == formal_taken && m_axis_tvalid == s_axis_tvalid);
                if (m_axis_tvalid) assert (m_axis_tdata == s_axis_tdata && m_axis_tuser == s_axis_tuser);
                if (m_axis_tvalid) assert (m_axis_tlast == (s_axis_tlast && !(formal_ends && ALWAYS != 0)));
            end
            // Of states that cannot be reached:
            assert (state_reg <= BEHIND && 32'(place_reg) < AT);
            assert (formal_due == (state_reg == READ || state_reg == INSERT) && formal_read == (state_reg == INSERT));
            if (formal_read) assert (word_reg == formal_word);
            if (formal_due) assert (32'(formal_place) == AT && last_reg == formal_last && user_reg == formal_user);
            if (state_reg == FRONT) assert (32'(place_reg) == 32'(formal_place));
            else assert (place_reg == 0);
            if (state_reg == BEHIND) assert (32'(formal_place) == AT + 1);
        end
    end
