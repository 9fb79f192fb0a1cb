
    // A beat that is offered is stable until it is accepted, whatever the memories' words are as long as the addresses
    // do not move: what is read belongs to them.
    logic formal_kept = 0;                  // a beat was offered, and not taken

    always @(posedge clk) formal_kept <= !rst && m_axis_state_tvalid && !m_axis_state_tready;

    always @(posedge clk) begin
        if (formal_kept && $stable(place) && $stable(v_row))
            assume ($stable(v) && $stable(alpha) && $stable(row) && $stable(nearest_d2) && $stable(nearest_idx) && $stable(age_order));
        if (busy) assume ($stable(count) || formal_clock == 0);
        if (formal_kept) assert (m_axis_state_tvalid && $stable(m_axis_state_tdata) && $stable(m_axis_state_tlast)
                                 && $stable(m_axis_state_tuser) && $stable(place) && $stable(v_row));
        if (formal_clock != 0) assert (m_axis_state_tvalid == (state_reg == OFFER) && busy == (state_reg != IDLE));
    end
