
    // Tag, count, exponent; then COLUMNS words and a coefficient for each beat that comes: none is lost, none is
    // sent twice.  The sender of the solution keeps to the rules of the stream.
    logic [2:0] formal_head = 0;            // beats of the head that were sent
    logic [COLUMN_BITS-1:0] formal_column = 0;
    wire formal_taken = m_axis_tvalid && m_axis_tready;
    wire formal_used = s_axis_tvalid && s_axis_tready;
    logic formal_kept = 0;                  // a beat was offered, and not taken

    always @(posedge clk) formal_kept <= !rst && m_axis_tvalid && !m_axis_tready;
    logic formal_waits = 0;

    always @(posedge clk) formal_waits <= !rst && s_axis_tvalid && !s_axis_tready;
    wire formal_body = formal_head == 3;

    always @(posedge clk) begin
        if (formal_taken && !formal_body) formal_head <= formal_head + 1'b1;
        if (formal_taken && formal_body) formal_column <= 32'(formal_column) == COLUMNS ? 0 : formal_column + 1'b1;
        if (formal_taken && m_axis_tlast) formal_head <= 0;
        if (formal_taken && m_axis_tlast) formal_column <= 0;
        if (rst) formal_head <= 0;
        if (rst) formal_column <= 0;
    end

    always @(posedge clk) begin
        if (formal_waits) assume (s_axis_tvalid && $stable(s_axis_tdata) && $stable(s_axis_tlast) && $stable(s_axis_tuser));
        if (formal_clock != 0 && !$past(x_next) && !$past(x_first) && !$past(x_next, 2)) assume ($stable(x));
        if (formal_kept) assume ($stable(x));
        if (formal_clock != 0) begin
            assert (formal_head <= 3 && 32'(formal_column) <= COLUMNS);
            if (m_axis_tvalid) case (formal_head)
                0: assert (m_axis_tdata == TAG);
                1: assert (m_axis_tdata == (s_axis_tlast ? 0 : VECTORS));
                2: assert (m_axis_tdata == s_axis_tdata);
                default: assert (m_axis_tdata == (32'(formal_column) == COLUMNS ? s_axis_tdata : x));
            endcase
            // A beat is used up with the exponent and with a multiplier, and ends the frame where it was the last.
            assert (formal_used == (formal_taken && (formal_head == 2 || (formal_body && 32'(formal_column) == COLUMNS))));
            if (formal_taken) assert (m_axis_tlast == (formal_used && s_axis_tlast));
            if (formal_kept) assert (m_axis_tvalid && $stable(m_axis_tdata) && $stable(m_axis_tlast) && $stable(m_axis_tuser));
            // Of states that cannot be reached:
            assert (state_reg <= COEFFICIENT);
            if (!formal_body) assert (formal_column == 0);
            assert ((state_reg == HEAD_TAG) == (formal_head == 0) && (state_reg == HEAD_COUNT) == (formal_head == 1));
            assert ((state_reg == HEAD_EXPONENT) == (formal_head == 2));
            assert ((state_reg == COEFFICIENT) == (formal_body && 32'(formal_column) == COLUMNS));
            if (formal_body && 32'(formal_column) < COLUMNS) assert (32'(column_reg) == COLUMNS - 32'(formal_column));
            if (state_reg == COEFFICIENT || state_reg == HEAD_COUNT || state_reg == HEAD_EXPONENT)
                assert (32'(column_reg) == COLUMNS);
        end
    end
