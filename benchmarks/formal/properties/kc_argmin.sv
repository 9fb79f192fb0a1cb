
    // Any key that came since `clear` is no better than the one that is held.
    (* anyconst *) logic [KEY_BITS-1:0] formal_key;
    (* anyconst *) logic [ORDER_BITS-1:0] formal_order;
    logic formal_came = 0;
    logic formal_held = 0;                  // whether what is held came at all
    wire formal_here = valid && key == formal_key && order == formal_order;

    always @(posedge clk) formal_came <= formal_here || (formal_came && !clear);

    always @(posedge clk) if (formal_clock != 0 && formal_came) begin
        assert (found && min_key <= formal_key);
        if (min_key == formal_key) assert (HIGHEST_ORDER != 0 ? min_order >= formal_order : min_order <= formal_order);
    end
