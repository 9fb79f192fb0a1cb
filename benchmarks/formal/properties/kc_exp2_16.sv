
    // L - floor((L - R) z / 2**REST) of the entries L, R beside t, divided by 2**(w + 6), half up.
    localparam FORMAL_BITS = 64;
    logic [23:0] formal_t;
    always @(posedge clk) formal_t <= $past(t, 5);
    logic [21:0] formal_left;
    always @(posedge clk) formal_left <= $past(left, 4);
    logic [21:0] formal_right;
    always @(posedge clk) formal_right <= $past(right, 4);
    wire [36:0] formal_fall = 37'(formal_left - formal_right) * 37'(formal_t[REST-1:0]);
    wire signed [FORMAL_BITS-1:0] formal_value = FORMAL_BITS'(formal_left) - FORMAL_BITS'(formal_fall >> REST);
    wire [5:0] formal_shift = 6'(formal_t[23:20]) + 6'd6;
    wire signed [FORMAL_BITS-1:0] formal_word = FORMAL_BITS'(k) <<< 1 <<< formal_shift;
    wire signed [FORMAL_BITS-1:0] formal_half = FORMAL_BITS'(1) <<< formal_shift;

    always @(posedge clk) begin
        assume (left <= 22'd1 << 21);
        assume (left >= right && left - right < 22'd1 << (21 - BITS));
        assert (index == t[19:REST] && beside == index + 1'b1);
        if (formal_clock >= 6)
            assert (formal_word - formal_half <= 2*formal_value && 2*formal_value < formal_word + formal_half);
    end
