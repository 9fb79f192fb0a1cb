
    // floor(v / 2**s), or the product, where it fits.
    localparam FORMAL_BITS = V_BITS + 66;
    wire [S_BITS-1:0] formal_up = -s;
    wire signed [FORMAL_BITS-1:0] formal_v = FORMAL_BITS'(v);
    wire signed [FORMAL_BITS-1:0] formal_product = formal_v <<< formal_up;
    wire signed [FORMAL_BITS-1:0] formal_q = FORMAL_BITS'(q) <<< $unsigned(s);
    wire signed [FORMAL_BITS-1:0] formal_one = FORMAL_BITS'(1) <<< $unsigned(s);

    always @* begin
        assume (-62 <= s && s <= 62);
        if (s < 0) begin
            assume (formal_product == FORMAL_BITS'($signed(formal_product[V_BITS-1:0])));
            assert (FORMAL_BITS'(q) == formal_product);
        end else assert (formal_q <= formal_v && formal_v < formal_q + formal_one);
    end
