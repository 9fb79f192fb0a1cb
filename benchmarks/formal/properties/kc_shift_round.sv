
    // The q nearest to v / 2**s: below it by a half at most, and at the half as the rounding says.
    localparam FORMAL_BITS = V_BITS + 66;
    wire signed [FORMAL_BITS-1:0] formal_v = FORMAL_BITS'(v) <<< 1;
    wire signed [FORMAL_BITS-1:0] formal_q = (FORMAL_BITS'(q) <<< 1) <<< s;
    wire signed [FORMAL_BITS-1:0] formal_half = FORMAL_BITS'(1) <<< s;

    always @* begin
        assume (s <= 62);
        if (ROUNDING == 0) assert (formal_q <= formal_v && formal_v < formal_q + 2*formal_half);
        if (ROUNDING == 1) assert (formal_q - formal_half <= formal_v && formal_v < formal_q + formal_half);
        if (ROUNDING == 2) begin
            assert (formal_q - formal_half <= formal_v && formal_v <= formal_q + formal_half);
            if (formal_v == formal_q - formal_half || formal_v == formal_q + formal_half) assert (!q[0]);
        end
    end
