
    // One word of one row, any one: the last that was written to it, or 0 where a vector ended before it.
    (* anyconst *) wire [ROW_BITS-1:0] formal_row;
    (* anyconst *) wire [LANE_BITS-1:0] formal_lane;
    logic [WIDTH-1:0] formal_word, formal_read;
    logic formal_known = 0, formal_due = 0;

    always @* assume (formal_row < ROWS && write_row < ROWS && read_row < ROWS);

    always @(posedge clk) begin
        if (write_enable && write_row == formal_row && (write_lane == formal_lane
                || (write_last && write_lane < formal_lane))) begin
            formal_known <= 1;
            formal_word <= write_lane == formal_lane ? write_data : 0;
        end
        formal_due <= formal_known && read_row == formal_row;
        formal_read <= formal_word;
    end

    always @* if (formal_due) assert (read_data[formal_lane*WIDTH +: WIDTH] == formal_read);
