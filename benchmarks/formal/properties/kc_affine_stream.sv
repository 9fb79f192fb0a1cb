
    // Beats in and beats out: the one that waits is there exactly while none is taken, and it is the oldest.
    logic [3:0] formal_in = 0, formal_out = 0;
    logic [RAW_BITS-1:0] formal_raw;
    logic formal_last;
    logic [ENTRY_BITS-1:0] formal_entry = 0;     // of the beat that comes next
    logic [ENTRY_BITS-1:0] formal_used;          // of the beat that is held
    wire formal_taken = m_axis_tvalid && m_axis_tready;
    logic formal_kept = 0;                  // a beat was offered, and not taken

    always @(posedge clk) formal_kept <= !rst && m_axis_tvalid && !m_axis_tready;

    always @(posedge clk) begin
        if (s_axis_tvalid && s_axis_tready) begin
            formal_in <= formal_in + 1'b1;
            formal_raw <= s_axis_tdata[RAW_BITS-1:0];
            formal_last <= s_axis_tlast;
            formal_used <= formal_entry;
            formal_entry <= s_axis_tlast || 32'(formal_entry) == ENTRIES - 1 ? 0 : formal_entry + 1'b1;
        end
        if (formal_taken) formal_out <= formal_out + 1'b1;
        if (rst) begin
            formal_in <= 0;
            formal_out <= 0;
            formal_entry <= 0;
        end
    end

    wire signed [OFFSET_BITS-1:0] formal_offset = OFFSETS[formal_used*OFFSET_BITS +: OFFSET_BITS];
    wire signed [GAIN_BITS-1:0] formal_gain = GAINS[formal_used*GAIN_BITS +: GAIN_BITS];

    // narrow((raw - offset) * gain, SHIFT), half up, in words that hold everything.
    wire signed [63:0] formal_wide = RAW_SIGNED != 0 ? 64'($signed(formal_raw)) : 64'(formal_raw);
    wire signed [63:0] formal_product = (formal_wide - 64'(formal_offset)) * 64'(formal_gain);
    wire signed [63:0] formal_value = SHIFT == 0 ? formal_product : (formal_product + (64'sd1 <<< (SHIFT - 1))) >>> SHIFT;
    wire signed [63:0] formal_word = formal_value < LO ? LO : formal_value > HI ? HI : formal_value;

    always @(posedge clk) if (formal_clock != 0) begin
        assert (formal_in == formal_out + 4'(!s_axis_tready));
        if (m_axis_tvalid) assert (!s_axis_tready && m_axis_tlast == formal_last);
        if (m_axis_tvalid) assert (m_axis_tdata == formal_word[OUT_BITS-1:0]);
        if (formal_kept) assert (m_axis_tvalid && $stable(m_axis_tdata) && $stable(m_axis_tlast));
        assert (clock_reg <= CLOCKS && 32'(formal_entry) < ENTRIES);
        assert (entry_reg == (s_axis_tready ? formal_entry : formal_used));
        if (!s_axis_tready) assert (raw_reg == formal_raw && last_reg == formal_last);
        if (!s_axis_tready) assert (formal_entry == (formal_last || 32'(formal_used) == ENTRIES - 1 ? 0 : formal_used + 1'b1));
    end
