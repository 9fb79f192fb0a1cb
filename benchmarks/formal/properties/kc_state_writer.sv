
    // A frame by the number of its beats: head, then groups.  Every beat that belongs is written once, at its
    // place; a frame that breaks the rules is reported once, and nothing of it is written from there on.
    logic [9:0] formal_beats = 0;           // taken of this frame; 1 for ever while it is dropped
    logic formal_ok = 1;                    // nothing was wrong with it so far
    logic formal_slots, formal_model = 0;   // it is of slots; a whole model came before, and no sample since
    logic [9:0] formal_count;
    wire formal_accept = s_axis_state_tvalid && s_axis_state_tready;
    wire formal_of_slots = formal_beats == 0 ? s_axis_state_tuser : formal_slots;
    wire [9:0] formal_head = formal_of_slots ? 2 : 3;
    wire [9:0] formal_group = formal_of_slots ? ORDER_AT + 1 : COLUMNS + 1;
    wire formal_end = formal_beats != 0 && formal_beats + 1'b1 ==
        formal_head + (formal_beats == 1 && !formal_of_slots ? 10'(SLOTS) : formal_count) * formal_group;
    logic [9:0] formal_of;                  // the group it stands in, and its place there
    logic [9:0] formal_at;
    integer formal_k;

    always @* begin
        formal_of = 0;
        formal_at = formal_beats - formal_head;
        for (formal_k = 1; formal_k < SLOTS; formal_k = formal_k + 1)
            if (formal_beats >= formal_head + formal_k * formal_group) begin
                formal_of = formal_k;
                formal_at = formal_beats - formal_head - formal_k * formal_group;
            end
    end

    wire formal_body = formal_ok && formal_beats >= formal_head;
    wire formal_wrong = formal_end != s_axis_state_tlast
        || (formal_beats == 0 && (data != TAG || (formal_of_slots && !formal_model)))
        || (formal_beats == 1 && (data > SLOTS || (formal_of_slots && data != formal_count)))
        || (formal_body && formal_of_slots && formal_at >= ORDER_AT - 1 && data >= formal_count);
    wire formal_good = formal_accept && formal_ok && !formal_wrong;

    logic formal_frame_error = 0, formal_clear_state = 0, formal_whole = 0;
    logic formal_v = 0, formal_alpha = 0, formal_slot = 0;
    logic [9:0] formal_place;
    logic [9:0] formal_column;
    localparam FORMAL_ROWS = (COLUMNS + LANES - 1) / LANES;
    logic [(ORDER_AT+1)*WORD-1:0] formal_words; // the newest on top

    always @(posedge clk) begin
        formal_frame_error <= formal_accept && formal_ok && formal_wrong;
        formal_clear_state <= formal_good && formal_beats == 0 && !formal_of_slots;
        formal_whole <= formal_good && formal_end && formal_of_slots;
        formal_v <= formal_good && formal_body && !formal_of_slots && formal_at != COLUMNS;
        formal_alpha <= formal_good && formal_body && !formal_of_slots && formal_at == COLUMNS;
        formal_slot <= formal_good && formal_body && formal_of_slots && formal_at == ORDER_AT;
        formal_place <= formal_of;
        formal_column <= formal_at;
        if (invalidate) formal_model <= 0;
        if (formal_accept) begin
            formal_words <= {data, formal_words[(ORDER_AT+1)*WORD-1:WORD]};
            formal_slots <= formal_of_slots;
            if (formal_beats == 1 && !formal_of_slots) formal_count <= data;
            formal_model <= formal_good && (formal_end ? !formal_of_slots : formal_of_slots && formal_model);
            formal_ok <= s_axis_state_tlast || (formal_ok && !formal_wrong);
            formal_beats <= s_axis_state_tlast ? 0 : formal_ok && !formal_wrong ? formal_beats + 1'b1 : 1;
        end
        if (rst) begin
            formal_beats <= 0;
            formal_ok <= 1;
            formal_model <= 0;
            {formal_frame_error, formal_clear_state, formal_whole, formal_v, formal_alpha, formal_slot} <= 0;
        end
    end

    always @* if (formal_clock == 0) assume (group_reg == formal_words);   // whatever they are

    always @(posedge clk) if (formal_clock != 0) begin
        assert (s_axis_state_tready == (formal_beats != 0 || enable));
        if (formal_beats != 0 || write_slot || write_alpha) assert (busy);
        assert (frame_error == formal_frame_error && clear_state == formal_clear_state && whole == formal_whole);
        assert (write_v == formal_v && write_alpha == formal_alpha && write_slot == formal_slot);
        if (write_v) assert (v_row == formal_place * FORMAL_ROWS + formal_column / LANES);
        if (write_v) assert (lane == formal_column % LANES && last_column == (formal_column + 1 == COLUMNS));
        if (write_alpha || write_slot) assert (place == formal_place);
        if (write_v || write_alpha) assert (word == formal_words[ORDER_AT*WORD +: WORD]);
        if (write_slot) assert (row == formal_words[DISTANCE_BITS-1:0]
            && nearest_d2 == formal_words[PARTS*WORD +: DISTANCE_BITS]
            && nearest_idx == formal_words[2*PARTS*WORD +: PLACE_BITS]
            && age_order == formal_words[ORDER_AT*WORD +: PLACE_BITS]);
        if (whole) assert (count == formal_count);
        // Of states that cannot be reached:
        assert (modelled_reg == formal_model && (formal_ok || formal_beats == 1));
        assert ((state_reg == HEAD && word_reg == 0) == (formal_beats == 0));
        assert ((state_reg == DROP) == !formal_ok);
        assert (group_reg == formal_words);
        if (formal_beats != 0) assert (slots_reg == formal_slots);
        if (formal_beats != 0 && formal_ok && !formal_slots) assert (!formal_model);
        if (formal_model || formal_whole || (formal_ok && formal_beats > (formal_slots ? 0 : 1)))
            assert (count_reg == formal_count && formal_count <= SLOTS);
        if (formal_ok && formal_beats < formal_head) assert (state_reg == HEAD && word_reg == formal_beats);
        if (formal_ok && formal_beats != 0 && formal_beats >= formal_head) begin
            assert (state_reg == BODY && formal_of < formal_count && formal_at < formal_group);
            assert (place_reg == formal_of && word_reg == formal_at);
            if (!formal_slots) assert (v_row_reg == V_ROW_BITS'(formal_of * FORMAL_ROWS
                + (formal_at == COLUMNS ? FORMAL_ROWS : formal_at / LANES)));
        end
    end
