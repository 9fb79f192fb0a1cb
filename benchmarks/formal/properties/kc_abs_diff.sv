
    // |u - v| of the words as numbers, two clocks later.
    logic [X_BITS-1:0] formal_u;
    always @(posedge clk) formal_u <= $past(u);
    logic [X_BITS-1:0] formal_v;
    always @(posedge clk) formal_v <= $past(v);
    wire formal_more = X_SIGNED != 0 ? $signed(formal_u) > $signed(formal_v) : formal_u > formal_v;
    wire [X_BITS-1:0] formal_size = formal_more ? formal_u - formal_v : formal_v - formal_u;
    logic [ACC_BITS-1:0] formal_before;

    always @(posedge clk) formal_before <= $past(first) ? {ACC_BITS{1'b0}} : acc;

    always @(posedge clk) if (formal_clock >= 2)
        assert (acc == ($past(valid, 2) ? formal_before + ACC_BITS'(formal_size) : $past(acc)));
