
    // Any key that came since `clear` is no better than the one that is held.
    (* anyconst *) logic [KEY_BITS-1:0] formal_key;
    (* anyconst *) logic [RANK_BITS-1:0] formal_rank;
    logic formal_came = 0;
    logic formal_held = 0;                  // whether what is held came at all
    wire formal_here = valid && key == formal_key && rank == formal_rank;

    always @(posedge clk) formal_came <= formal_here || (formal_came && !clear);

    always @(posedge clk) if (formal_clock != 0 && formal_came) begin
        assert (found && least <= formal_key);
        if (least == formal_key) assert (HIGHEST != 0 ? least_rank >= formal_rank : least_rank <= formal_rank);
    end
