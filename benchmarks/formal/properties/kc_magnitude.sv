
    always @* assert (q == (v < 0 ? -v - 1'b1 : v));
