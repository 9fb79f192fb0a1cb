
    // A frame by the number of its beats: tag, count, exponent, then groups of COLUMNS words and a multiplier.
    // Every beat that belongs is written once, at its place; vectors are held from the last beat of a good frame
    // to the first one of the next, and a frame that breaks the rules is reported once.
    logic [9:0] formal_beats = 0;           // taken of this frame; 1 for ever while it is dropped
    logic formal_ok = 1;                    // nothing was wrong with it so far
    logic formal_frame_error = 0;
    logic [9:0] formal_count = 0;           // of this frame
    logic [9:0] formal_held = 0;
    logic [9:0] formal_of;                  // the group it stands in, and its place there
    logic [9:0] formal_at;
    wire [WORD-1:0] formal_grid = formal_of * GRID_STEP;
    wire [9:0] formal_all = 3 + formal_count * (COLUMNS + 1);
    wire formal_accept = s_axis_model_tvalid && s_axis_model_tready;
    wire formal_end = formal_beats > 1 && formal_beats + 1'b1 == formal_all;
    wire formal_wrong = formal_end != s_axis_model_tlast
        || (formal_beats == 0 && s_axis_model_tdata != TAG)
        || (formal_beats == 1 && s_axis_model_tdata > VECTORS)
        || (formal_beats == 2 && (word < EXPONENT_MIN || word > EXPONENT_MAX))
        || (GRID_STEP != 0 && formal_beats == 1 && s_axis_model_tdata != 0 && s_axis_model_tdata != VECTORS)
        || (GRID_STEP != 0 && formal_beats > 2 && formal_at != COLUMNS && s_axis_model_tdata != formal_grid);
    integer formal_k;
    localparam FORMAL_ROWS = (COLUMNS + LANES - 1) / LANES;
    // The row of the next word of a vector. With vector lanes a vector is a word.
    wire [9:0] formal_row = VECTOR_LANES > 1 ? (formal_of + (formal_at == COLUMNS)) / VECTOR_LANES
        : formal_of * FORMAL_ROWS + (formal_at == COLUMNS ? FORMAL_ROWS : formal_at / LANES);

    always @* begin
        formal_of = 0;
        formal_at = formal_beats - 3;
        for (formal_k = 1; formal_k < VECTORS; formal_k = formal_k + 1)
            if (formal_beats >= 3 + formal_k * (COLUMNS + 1)) begin
                formal_of = formal_k;
                formal_at = formal_beats - 3 - formal_k * (COLUMNS + 1);
            end
    end

    wire formal_body = formal_accept && formal_ok && formal_beats >= 3;

    always @(posedge clk) begin
        formal_frame_error <= formal_accept && formal_ok && formal_wrong;
        if (formal_accept) begin
            if (formal_beats == 0) formal_held <= 0;
            if (formal_beats == 1) formal_count <= s_axis_model_tdata;
            if (formal_end && formal_ok && !formal_wrong) formal_held <= formal_count;
            formal_ok <= s_axis_model_tlast || (formal_ok && !formal_wrong);
            formal_beats <= s_axis_model_tlast ? 0 : formal_ok && !formal_wrong ? formal_beats + 1'b1 : 1;
        end
        if (rst) begin
            formal_beats <= 0;
            formal_ok <= 1;
            formal_frame_error <= 0;
            formal_held <= 0;
        end
    end

    always @(posedge clk) if (formal_clock != 0) begin
        assert (s_axis_model_tready == (formal_beats != 0 || enable) && busy == (formal_beats != 0));
        assert (frame_error == formal_frame_error && count == formal_held && count <= VECTORS);
        assert (write_v == (formal_body && formal_at != COLUMNS));
        assert (write_alpha == (formal_body && formal_at == COLUMNS));
        if (write_v) assert (v_write_reg == formal_row);
        if (write_v) assert (v_lane == (VECTOR_LANES > 1 ? formal_of % VECTOR_LANES : formal_at % LANES));
        if (write_v) assert (is_last == (formal_at + 1 == COLUMNS));
        if (write_alpha) assert (alpha_row == formal_of / VECTOR_LANES && vector_lane == formal_of % VECTOR_LANES);
        // Of states that cannot be reached:
        assert (formal_ok || formal_beats == 1);
        if (formal_beats != 0) assert (formal_held == 0);
        if (!formal_ok) assert (state_reg == DROP);
        else if (formal_beats < 3)
            assert (state_reg == (formal_beats == 0 ? HEAD_TAG : formal_beats == 1 ? HEAD_COUNT : HEAD_EXPONENT));
        else begin
            assert (state_reg == BODY && formal_beats < formal_all && vector_reg == formal_of);
            assert (column_reg == formal_at && v_write_reg == formal_row);
            if (GRID_STEP != 0) assert (grid_reg == formal_grid);
            assert (exponent_reg >= EXPONENT_MIN && exponent_reg <= EXPONENT_MAX);
        end
        if (formal_ok && formal_beats > 1) assert (total_reg == formal_count && formal_count <= VECTORS);
    end
