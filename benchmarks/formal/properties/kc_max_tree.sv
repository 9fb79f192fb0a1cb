
    // The largest of the words that came log2(LANES) clocks ago: none is larger, and it is one of them.
    localparam FORMAL_LEVELS = $clog2(LANES);
    logic [FORMAL_LEVELS*LANES*WIDTH-1:0] formal_before;
    logic [LANES*WIDTH-1:0] formal_words;
    logic formal_is_one;
    integer formal_i;

    always @(posedge clk) formal_before <= {formal_before[(FORMAL_LEVELS-1)*LANES*WIDTH-1:0], words};

    always @* begin
        formal_words = formal_before[FORMAL_LEVELS*LANES*WIDTH-1 -: LANES*WIDTH];
        formal_is_one = 0;
        for (formal_i = 0; formal_i < LANES; formal_i = formal_i + 1)
            if (formal_words[formal_i*WIDTH +: WIDTH] == max) formal_is_one = 1;
        if (formal_clock >= FORMAL_LEVELS) begin
            assert (formal_is_one);
            for (formal_i = 0; formal_i < LANES; formal_i = formal_i + 1)
                assert (formal_words[formal_i*WIDTH +: WIDTH] <= max);
        end
    end
