
    // The low bits of floor(a c / 2**SHIFT), of the whole product.
    logic [A_BITS-1:0] formal_a;
    always @(posedge clk) formal_a <= $past(a, CLOCKS - 1);
    logic [C_BITS-1:0] formal_c;
    always @(posedge clk) formal_c <= $past(c, CLOCKS - 1);
    wire [A_BITS+C_BITS-1:0] formal_product = (A_BITS + C_BITS)'(formal_a) * (A_BITS + C_BITS)'(formal_c);
    wire [A_BITS+C_BITS+63:0] formal_q = (A_BITS + C_BITS + 64)'(formal_product) >> SHIFT;

    always @(posedge clk) if (formal_clock >= CLOCKS) begin
        assume (formal_q < 64'd1 << 63);
        assert (q == formal_q[Q_BITS-1:0]);
    end
