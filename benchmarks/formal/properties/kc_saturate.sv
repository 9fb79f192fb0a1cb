
    // The word of [LO, HI] nearest to v: between v and any other word of [LO, HI].
    wire signed [64:0] formal_q = 65'($signed(q));
    wire signed [64:0] formal_v = 65'(v);
    (* anyconst *) logic signed [63:0] formal_other;
    wire signed [64:0] formal_far = 65'(formal_other) - formal_v;
    wire signed [64:0] formal_near = formal_q - formal_v;

    always @* begin
        assert (LO <= formal_q && formal_q <= HI);
        if (LO <= formal_other && formal_other <= HI)
            assert ((formal_near < 0 ? -formal_near : formal_near) <= (formal_far < 0 ? -formal_far : formal_far));
        assert (outside == (formal_q != formal_v));
    end
