
    // Entry after entry, each once: the k-th beat is entry k modulo DEPTH, the last of them with tlast.
    logic [INDEX_BITS-1:0] formal_next = 0;
    wire formal_taken = m_axis_tvalid && m_axis_tready;
    logic formal_kept = 0;                  // a beat was offered, and not taken

    always @(posedge clk) formal_kept <= !rst && m_axis_tvalid && !m_axis_tready;

    always @(posedge clk) begin
        if (formal_taken) formal_next <= 32'(formal_next) == DEPTH - 1 ? 0 : formal_next + 1'b1;
        if (rst) formal_next <= 0;
    end

    always @(posedge clk) if (formal_clock != 0) begin
        assert (formal_next == index_reg && 32'(index_reg) < DEPTH);
        if (m_axis_tvalid) assert (m_axis_tdata == TABLE[formal_next*WIDTH +: WIDTH]);
        if (m_axis_tvalid) assert (m_axis_tlast == (32'(formal_next) == DEPTH - 1));
        if (formal_kept) assert (m_axis_tvalid && $stable(m_axis_tdata) && $stable(m_axis_tlast));
    end
