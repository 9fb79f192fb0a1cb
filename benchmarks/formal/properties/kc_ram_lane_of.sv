
    // The columns of a vector stand row by row.
    always @* if (column < COLUMNS) begin
        assert (lane == column % LANES && last == (column + 1 == COLUMNS));
        assert (row_end == (column / LANES != (column + 1) / LANES || last));
    end
