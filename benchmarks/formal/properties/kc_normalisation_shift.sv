
    // 2**61 <= v * 2**e < 2**62.
    wire [127:0] formal_up = 128'(v) << e;

    always @* if (v != 0) assert (e <= 61 && (128'd1 << 61) <= formal_up && formal_up < (128'd1 << 62));
