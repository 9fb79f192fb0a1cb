
    // A word of a row of the slots, any one: the last that was put there, or came from the sample; and one of the
    // vector that is aside: what it was when its row was exchanged, from two clocks after that on.
    (* anyconst *) wire [V_ROW_BITS-1:0] formal_v_row;
    (* anyconst *) wire [ROW_BITS-1:0] formal_row;
    (* anyconst *) wire [LANE_BITS-1:0] formal_lane;
    logic [WIDTH-1:0] formal_word, formal_read, formal_gone, formal_aside;
    logic formal_known = 0, formal_due = 0, formal_kept = 0, formal_aside_due = 0, formal_fresh = 0;
    logic [V_ROW_BITS-1:0] formal_was;
    wire formal_put = put && put_row == formal_v_row
        && (put_lane == formal_lane || (put_last && put_lane < formal_lane));
    wire formal_in = exchange && inserting && exchange_v_row == formal_v_row;
    wire formal_out = exchange && exchange_row == formal_row;

    always @* begin
        assume (formal_v_row < SLOTS * ROWS && v_row < SLOTS * ROWS && put_row < SLOTS * ROWS);
        assume (formal_row < ROWS && row < ROWS && exchange_row < ROWS && !(put && exchange));
        if (exchange) assume (formal_clock != 0 && formal_was == exchange_v_row);
        if (formal_fresh && ROWS > 1) assume (row != formal_row);
    end

    always @(posedge clk) begin
        formal_was <= v_row;
        if (formal_put || formal_in) begin
            formal_known <= 1;
            formal_word <= formal_in ? x[formal_lane*WIDTH +: WIDTH] : put_lane == formal_lane ? put_word : 0;
        end
        formal_due <= formal_known && v_row == formal_v_row;
        formal_read <= formal_word;
        formal_fresh <= formal_out;
        if (formal_out) begin
            formal_kept <= 1;
            formal_gone <= v[formal_lane*WIDTH +: WIDTH];
        end
        formal_aside_due <= formal_kept && row == formal_row;
        formal_aside <= formal_gone;
    end

    always @* begin
        if (formal_due) assert (v[formal_lane*WIDTH +: WIDTH] == formal_read);
        if (formal_aside_due) assert (aside[formal_lane*WIDTH +: WIDTH] == formal_aside);
    end
