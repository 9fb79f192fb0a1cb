
    // q 2 den <= 2 num + den < (q + 1) 2 den, NUM_BITS + 4 clocks after the last start, and not before.
    localparam FORMAL_BITS = 2*NUM_BITS + DEN_BITS + 4;
    logic [NUM_BITS-1:0] formal_num;
    logic [DEN_BITS-1:0] formal_den;
    logic [7:0] formal_since = 255;         // clocks since the start; 255: none runs
    wire [FORMAL_BITS-1:0] formal_half = 2*FORMAL_BITS'(formal_num) + FORMAL_BITS'(formal_den);
    wire [FORMAL_BITS-1:0] formal_least = 2*FORMAL_BITS'(q)*FORMAL_BITS'(formal_den);

    always @(posedge clk) begin
        if (start) begin
            formal_num <= num;
            formal_den <= den;
        end
        formal_since <= rst ? 8'd255 : start ? 8'd1 : formal_since == 255 || formal_since == NUM_BITS + 4 ? 8'd255
            : formal_since + 1'b1;
    end

    always @(posedge clk) begin
        if (start) assume (den != 0);
        if (formal_clock != 0) begin
            assert (done == (formal_since == NUM_BITS + 4));
            if (done) assert (formal_least <= formal_half && formal_half < formal_least + 2*FORMAL_BITS'(formal_den));
        end
    end
