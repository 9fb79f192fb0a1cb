
    // A beat for the exponent, then one for each word, in order, the last with tlast; of a failed solution the
    // exponent 0 alone.  What the module is told stands from start to done, and x is the word asked for.
    (* anyconst *) logic [WORDS*W-1:0] formal_words;
    logic [INDEX_BITS:0] formal_beat = 0;
    logic formal_run = 0;
    logic [INDEX_BITS-1:0] formal_asked, formal_asked_2, formal_index;
    logic formal_failed, formal_saturated;
    logic signed [W-1:0] formal_exponent;
    wire formal_taken = m_axis_tvalid && m_axis_tready;
    logic formal_kept = 0;                  // a beat was offered, and not taken

    always @(posedge clk) formal_kept <= !rst && m_axis_tvalid && !m_axis_tready;
    wire [INDEX_BITS-1:0] formal_place = INDEX_BITS'(formal_beat - 1'b1);
    wire signed [W-1:0] formal_x = formal_words[formal_place*W +: W];
    wire signed [63:0] formal_product = 64'(formal_x) * 64'({1'b0, SCALE});
    wire signed [63:0] formal_value = (formal_product + (64'sd1 <<< 30)) >>> 31;
    wire signed [63:0] formal_word = SCALED == 0 ? 64'(formal_x) : formal_value < LO ? LO : formal_value > HI ? HI : formal_value;

    always @(posedge clk) begin
        formal_asked <= x_index;
        formal_asked_2 <= formal_asked;
        formal_index <= SCALED != 0 ? formal_asked_2 : formal_asked;
        if (!formal_run && start) begin
            formal_run <= 1;
            formal_beat <= 0;
            formal_failed <= failed;
            formal_saturated <= saturated;
            formal_exponent <= exponent;
        end
        if (formal_taken) formal_beat <= formal_beat + 1'b1;
        if (done) formal_run <= 0;
        if (rst) formal_run <= 0;
    end

    always @(posedge clk) begin
        assume (x == formal_words[formal_index*W +: W]);
        if (formal_run) assume (failed == formal_failed && saturated == formal_saturated && exponent == formal_exponent);
        if (formal_clock != 0) begin
            assert (formal_run == (state_reg != IDLE));
            assert (done == (formal_taken && m_axis_tlast));
            if (formal_run) begin
                assert (formal_beat <= WORDS);
                assert ((state_reg == HEAD) == (formal_beat == 0));
                assert (index_reg == (formal_beat == 0 ? 0 : formal_place));
                assert (clock_reg <= CLOCKS + (state_reg == SEND));
                if (failed) assert (formal_beat == 0);
            end else assert (index_reg == 0);
            if (m_axis_tvalid) begin
                assert (formal_run);
                assert (m_axis_tlast == (failed || formal_beat == WORDS));
                assert (m_axis_tuser == (failed ? 7 : saturated ? 1 : 0));
                if (formal_beat == 0) assert (m_axis_tdata == (failed ? 0 : exponent));
                else assert (m_axis_tdata == formal_word[W-1:0]);
            end
            if (formal_kept) assert (m_axis_tvalid && $stable(m_axis_tdata) && $stable(m_axis_tlast));
        end
    end
