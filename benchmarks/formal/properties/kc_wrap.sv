
    // The r of [-2**(BITS-1), 2**(BITS-1)) that is v modulo 2**BITS.
    wire signed [V_BITS:0] formal_less = (V_BITS + 1)'(v) - (V_BITS + 1)'(q);

    always @* begin
        assert (q >= -(V_BITS'(1) <<< (BITS - 1)) || BITS == V_BITS);
        assert (q < (V_BITS'(1) <<< (BITS - 1)) || BITS == V_BITS);
        assert (formal_less[BITS-1:0] == 0);
    end
