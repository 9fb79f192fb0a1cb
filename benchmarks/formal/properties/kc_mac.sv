
    // The sum as it was, or nothing, and the floor of the product of the clock before.
    localparam FORMAL_BITS = A_BITS + B_BITS;
    logic signed [A_BITS-1:0] formal_a;
    always @(posedge clk) formal_a <= $past(a);
    logic signed [B_BITS-1:0] formal_b;
    always @(posedge clk) formal_b <= $past(b);
    wire signed [FORMAL_BITS-1:0] formal_product = formal_a * formal_b;
    wire signed [FORMAL_BITS-1:0] formal_term = formal_product >>> SHIFT;
    logic signed [ACC_BITS-1:0] formal_before;

    always @(posedge clk) formal_before <= $past(first) ? {ACC_BITS{1'b0}} : acc;

    always @(posedge clk) if (formal_clock >= 2)
        assert (acc == ($past(valid, 2) ? formal_before + ACC_BITS'(formal_term) : $past(acc)));
