
    // Whether base + a b / 2**SHIFT, the product rounded, reaches a bound; and the q of [LO, HI] nearest to it.
    localparam FORMAL_BITS = A_BITS + B_BITS + 68;
    logic signed [A_BITS-1:0] formal_a;
    always @(posedge clk) formal_a <= $past(a, 2);
    logic signed [B_BITS-1:0] formal_b;
    always @(posedge clk) formal_b <= $past(b, 2);
    logic signed [BASE_BITS-1:0] formal_base;
    always @(posedge clk) formal_base <= $past(base, 2);
    wire signed [A_BITS+B_BITS-1:0] formal_product = formal_a * formal_b;
    wire signed [FORMAL_BITS-1:0] formal_twice = FORMAL_BITS'(formal_product) <<< 1;
    wire signed [FORMAL_BITS-1:0] formal_word = FORMAL_BITS'($signed(q));

    function reaches(input signed [FORMAL_BITS-1:0] bound);
        logic signed [FORMAL_BITS-1:0] whole, least;
        begin
            whole = bound - formal_base;
            least = (ROUNDING == 0 ? 2*whole : 2*whole - 1) <<< SHIFT;
            reaches = ROUNDING == 2 && whole[0] ? formal_twice > least : formal_twice >= least;
        end
    endfunction

    always @(posedge clk) if (formal_clock >= 3) begin
        assert (LO <= formal_word && formal_word <= HI);
        if (formal_word > LO) assert (reaches(formal_word));
        if (formal_word < HI) assert (!reaches(formal_word + 1));
        assert (outside == (!reaches(LO) || reaches(HI + 1)));
    end
