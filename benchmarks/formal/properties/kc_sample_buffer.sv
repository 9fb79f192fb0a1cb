
    // A sample by the number of its beats.  It is held once, when every column of it has been written, in order,
    // until `done`; one that breaks the rules is reported once, and is not held.
    logic [9:0] formal_beats = 0;           // taken of this sample; 1 for ever while it is dropped
    logic formal_ok = 1;                    // nothing was wrong with it so far
    logic formal_target, formal_frame_error = 0;
    logic [1:0] formal_due = 0;             // whole samples that came, and are not done
    logic [TDATA_BITS-1:0] formal_word;     // the last one taken of it
    logic [3:0] formal_waiting = 0;         // words of a column, any one, taken and not written
    (* anyconst *) wire [BEAT_BITS-1:0] formal_column;
    wire formal_accept = s_axis_x_tvalid && s_axis_x_tready;
    wire formal_with = TARGET != 0 && (formal_beats == 0 ? s_axis_x_tuser : formal_target);
    wire formal_end = formal_beats + 1'b1 == COLUMNS + formal_with;
    wire formal_good = formal_accept && formal_ok && formal_end == s_axis_x_tlast;
    wire formal_in = formal_good && formal_beats == formal_column;
    wire formal_out = write && write_beat == formal_column;
    logic [3:0] formal_on_its_way;
    integer formal_i;

    always @* begin
        assume (formal_column < COLUMNS && (full || !done));   // what is not held is not done
        formal_on_its_way = 0;
        for (formal_i = 0; formal_i < LATENCY; formal_i = formal_i + 1)
            formal_on_its_way = formal_on_its_way
                + (valid_reg[formal_i] && write_beat_reg[formal_i*BEAT_BITS +: BEAT_BITS] == formal_column);
    end

    always @(posedge clk) begin
        formal_frame_error <= formal_accept && formal_ok && formal_end != s_axis_x_tlast;
        formal_waiting <= formal_waiting + formal_in - formal_out;
        formal_due <= formal_due + (formal_good && formal_end) - (done && full);
        if (formal_accept) begin
            formal_word <= s_axis_x_tdata;
            formal_target <= formal_with;
            formal_ok <= s_axis_x_tlast || (formal_ok && !formal_end);
            formal_beats <= s_axis_x_tlast ? 0 : formal_ok && !formal_end ? formal_beats + 1'b1 : 1;
        end
        if (rst) begin
            formal_beats <= 0;
            formal_ok <= 1;
            formal_frame_error <= 0;
            formal_due <= 0;
            formal_waiting <= 0;
        end
    end

    always @(posedge clk) if (formal_clock != 0) begin
        assert (s_axis_x_tready == (state_reg != SETTLE && formal_due < SLOTS && (formal_beats != 0 || enable)));
        assert (frame_error == formal_frame_error && busy == (formal_due != 0 || formal_beats != 0));
        if (full) assert (formal_due != 0);
        if (full && SLOTS == 1) assert (formal_waiting == 0);
        if (full && SLOTS == 1) assert (learning == formal_target && (!formal_target || target == formal_word));
        if (write) assert (held_reg < SLOTS);
        if (SLOTS == 2) assert (write_slot_reg == (read_slot_reg ^ held_reg[0]));
        if (formal_out) assert (formal_waiting != 0);
        if (write) assert (write_beat < COLUMNS);
        // Of states that cannot be reached:
        assert (formal_waiting == formal_on_its_way);
        assert (held_reg <= SLOTS && formal_due == held_reg + (state_reg == SETTLE));
        assert (formal_due <= SLOTS && (state_reg == HOLD) == (held_reg == SLOTS));
        if (state_reg == SETTLE || state_reg == HOLD) assert (formal_beats == 0 && formal_ok && !formal_frame_error);
        else assert (state_reg == (formal_ok ? RECEIVE : DROP));
        if (!formal_ok) assert (formal_beats == 1 && beat_reg == 0);
        if (formal_ok) assert (beat_reg == formal_beats && formal_beats < COLUMNS + TARGET);
        if (formal_beats != 0 || (formal_due != 0 && SLOTS == 1)) assert (learning_reg == formal_target && target_reg == formal_word
                                                     || !formal_ok);
        if (formal_beats != 0 && formal_ok) assert (formal_target ? TARGET != 0 : formal_beats < COLUMNS);
        if (state_reg == HOLD) assert (valid_reg == 0);
    end
