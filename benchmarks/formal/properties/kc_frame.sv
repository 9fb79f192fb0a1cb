
    // The beats since a frame began, WORDS at most: each of them is written once and at its place; the frame is
    // held from its tlast on, with a frame error if and only if tlast came elsewhere than with the last word; the
    // pulse lasts one clock.
    logic [INDEX_BITS:0] formal_beat = 0;
    logic formal_held = 0, formal_frame_error_held = 0;
    wire formal_accept = s_axis_tvalid && s_axis_tready;
    wire formal_whole = formal_beat == WORDS - 1;
    logic formal_frame_error = 0;

    always @(posedge clk) begin
        formal_frame_error <= formal_accept && formal_beat < WORDS && formal_whole != s_axis_tlast;
        if (formal_accept) begin
            formal_beat <= s_axis_tlast ? 0 : formal_beat < WORDS ? formal_beat + 1'b1 : formal_beat;
            if (s_axis_tlast) begin
                formal_held <= 1;
                formal_frame_error_held <= !formal_whole;
            end
        end
        if (full && free) formal_held <= 0;
        if (rst) begin
            formal_beat <= 0;
            formal_held <= 0;
            formal_frame_error <= 0;
        end
    end

    always @(posedge clk) if (formal_clock != 0) begin
        assert (formal_beat <= WORDS);
        assert (write == (formal_accept && formal_beat < WORDS));
        if (write) assert (index == formal_beat[INDEX_BITS-1:0] && word == s_axis_tdata);
        assert (full == formal_held && s_axis_tready == !formal_held);
        assert (frame_error_held == (formal_held && formal_frame_error_held));
        assert (frame_error == formal_frame_error);
        // Of states that cannot be reached:
        assert (state_reg == (formal_held ? HOLD : formal_beat == WORDS ? DROP : RECEIVE));
        if (state_reg == RECEIVE) assert (index_reg == formal_beat[INDEX_BITS-1:0]);
        else assert (index_reg == 0);
        if (state_reg == DROP) assert (frame_error_held_reg);
        if (formal_held) assert (formal_beat == 0 && frame_error_held_reg == formal_frame_error_held);
    end
