
    // (u - v)**2 of the words as numbers, three clocks later.
    logic [X_BITS-1:0] formal_u;
    always @(posedge clk) formal_u <= $past(u, 2);
    logic [X_BITS-1:0] formal_v;
    always @(posedge clk) formal_v <= $past(v, 2);
    wire signed [X_BITS:0] formal_signed = $signed(formal_u) - $signed(formal_v);
    wire signed [X_BITS:0] formal_unsigned = formal_u - formal_v;
    wire signed [X_BITS:0] formal_diff = X_SIGNED != 0 ? formal_signed : formal_unsigned;
    wire signed [2*X_BITS+1:0] formal_square = formal_diff * formal_diff;
    logic [ACC_BITS-1:0] formal_before;

    always @(posedge clk) formal_before <= $past(first, 2) ? {ACC_BITS{1'b0}} : acc;

    always @(posedge clk) if (formal_clock >= 3)
        assert (acc == ($past(valid, 3) ? formal_before + ACC_BITS'(formal_square) : $past(acc)));
