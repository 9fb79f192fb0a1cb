
    // Of 2 v / 2**s the floor and, below it, whether that is less.
    localparam FORMAL_BITS = V_BITS + 66;
    wire signed [FORMAL_BITS-1:0] formal_v = FORMAL_BITS'(v) <<< 1;
    wire signed [FORMAL_BITS-1:0] formal_q = FORMAL_BITS'($signed(q[V_BITS+1:1])) <<< s;
    wire signed [FORMAL_BITS-1:0] formal_one = FORMAL_BITS'(1) <<< s;

    always @* begin
        assume (s <= 62);
        assert (formal_q <= formal_v && formal_v < formal_q + formal_one);
        assert (q[0] == (formal_q != formal_v));
    end
