
    // Any lane: its word, or 0 behind the last one of a vector, or left as it is.
    (* anyconst *) wire [LANE_BITS-1:0] formal_lane;

    always @* begin
        assert (mask[formal_lane] == (formal_lane == lane || (last && formal_lane > lane)));
        if (mask[formal_lane]) assert (row[formal_lane*WIDTH +: WIDTH] == (formal_lane == lane ? word : 0));
    end
