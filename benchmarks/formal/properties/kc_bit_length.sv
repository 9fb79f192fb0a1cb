
    // 2**(length-1) <= v < 2**length; 0 for 0.
    wire [64:0] formal_power = 65'd1 << length;

    always @* begin
        assert (65'(v) < formal_power);
        if (v != 0) assert (formal_power <= 2*65'(v));
        else assert (length == 0);
    end
