
    // Whether v / 2**s, rounded, reaches a bound; and the q of [LO, HI] that this makes the nearest.
    localparam FORMAL_BITS = V_BITS + 68;
    logic signed [V_BITS-1:0] formal_v;
    always @(posedge clk) formal_v <= $past(v, CLOCKS - 1);
    logic signed [S_BITS-1:0] formal_s;
    always @(posedge clk) formal_s <= $past(s, CLOCKS - 1);
    wire signed [FORMAL_BITS-1:0] formal_twice = FORMAL_BITS'(formal_v) <<< 1;
    wire [S_BITS-1:0] formal_up = -formal_s;
    wire signed [FORMAL_BITS-1:0] formal_product = formal_twice <<< formal_up;
    wire signed [FORMAL_BITS-1:0] formal_word = LO < 0 ? FORMAL_BITS'($signed(q)) : FORMAL_BITS'(q);

    function reaches(input signed [FORMAL_BITS-1:0] bound);
        logic signed [FORMAL_BITS-1:0] least;
        begin
            least = (ROUNDING == 0 ? 2*bound : 2*bound - 1) <<< $unsigned(formal_s);
            if (formal_s < 0) reaches = formal_product >= 2*bound;
            else if (ROUNDING == 2 && bound[0]) reaches = formal_twice > least;
            else reaches = formal_twice >= least;
        end
    endfunction

    always @(posedge clk) if (formal_clock >= CLOCKS) begin
        assume (-62 <= formal_s && formal_s <= 62);
        if (formal_s < 0) assume (formal_product == FORMAL_BITS'($signed(formal_product[V_BITS:0])));
        assert (LO <= formal_word && formal_word <= HI);
        if (formal_word > LO) assert (reaches(formal_word));
        if (formal_word < HI) assert (!reaches(formal_word + 1));
        assert (outside == (!reaches(LO) || reaches(HI + 1)));
    end
