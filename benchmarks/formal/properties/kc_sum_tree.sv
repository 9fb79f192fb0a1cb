
    // The sum of the words that came log2(LANES) clocks ago.
    localparam FORMAL_LEVELS = $clog2(LANES);
    logic [WIDTH-1:0] formal_sum;
    logic [FORMAL_LEVELS*WIDTH-1:0] formal_sums;
    integer formal_i;

    always @* begin
        formal_sum = 0;
        for (formal_i = 0; formal_i < LANES; formal_i = formal_i + 1)
            formal_sum = formal_sum + words[formal_i*WIDTH +: WIDTH];
    end

    always @(posedge clk) formal_sums <= {formal_sums[(FORMAL_LEVELS-1)*WIDTH-1:0], formal_sum};

    always @* if (formal_clock >= FORMAL_LEVELS) assert (sum == formal_sums[FORMAL_LEVELS*WIDTH-1 -: WIDTH]);
