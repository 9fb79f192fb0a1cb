
    // Half up: 2 q 2**s is within 2**s of 2 v; the largest magnitude since `first`.
    localparam FORMAL_BITS = WIDTH + 66;
    logic signed [WIDTH-1:0] formal_v;
    always @(posedge clk) formal_v <= word;
    logic [S_BITS-1:0] formal_s;
    always @(posedge clk) formal_s <= s;
    wire signed [FORMAL_BITS-1:0] formal_twice = FORMAL_BITS'(formal_v) <<< 1;
    wire signed [FORMAL_BITS-1:0] formal_q = (FORMAL_BITS'(q) <<< 1) <<< formal_s;
    wire signed [FORMAL_BITS-1:0] formal_half = FORMAL_BITS'(1) <<< formal_s;
    wire [WIDTH-1:0] formal_size = q < 0 ? -q - 1'b1 : q;

    always @(posedge clk) if (formal_clock >= 1) begin
        assume (formal_s <= 62);
        if ($past(valid)) begin
            assert (formal_q - formal_half <= formal_twice && formal_twice < formal_q + formal_half);
            if ($past(first)) assert (used == formal_size);
            else assert (used == (formal_size > $past(used) ? formal_size : $past(used)));
        end else assert (q == $past(q) && used == $past(used));
    end
