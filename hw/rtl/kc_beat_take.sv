// kerncast: takes beat AT out of each frame of a stream, such as the intercept out of a model. The beat before it waits
// for it and receives its tlast. `word` is valid from then on, until the next frame.
//
// A frame that ends before beat AT has no such beat. With STRICT it is sent with one beat more, so that its tlast is at
// the wrong beat for the receiver too; otherwise it is sent as it is, and `word` is 0.
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_beat_take #(
    parameter int WIDTH = 16,
    parameter int AT = 3,                         // at least 1
    parameter bit STRICT = 1
) (
    input  wire clk,
    input  wire rst,
    input  wire [WIDTH-1:0] s_axis_tdata,
    input  wire s_axis_tvalid,
    output wire s_axis_tready,
    input  wire s_axis_tlast,
    output wire [WIDTH-1:0] m_axis_tdata,
    output wire m_axis_tvalid,
    input  wire m_axis_tready,
    output wire m_axis_tlast,
    output wire [WIDTH-1:0] word
);
    localparam PLACE_BITS = AT > 1 ? $clog2(AT) : 1;

    // FRONT: beats before AT; WAIT: for beat AT; SHORT and END: a frame without it; BEHIND: beats after it.
    typedef enum logic [2:0] {FRONT, WAIT, SHORT, END, BEHIND} state_t;

    state_t state_reg;
    logic [PLACE_BITS-1:0] place_reg;
    logic [WIDTH-1:0] held_reg, word_reg;
    wire holds = state_reg == FRONT && place_reg == PLACE_BITS'(AT - 1);
    wire sends_held = state_reg == WAIT || state_reg == SHORT || state_reg == END;
    wire taken = m_axis_tvalid && m_axis_tready;

    always_ff @(posedge clk) begin
        if (holds) held_reg <= s_axis_tdata;
        if (state_reg == WAIT && taken) word_reg <= s_axis_tdata;
        else if (!STRICT && holds && s_axis_tvalid && s_axis_tlast) word_reg <= {WIDTH{1'b0}};
        case (state_reg)
            FRONT: if (holds && s_axis_tvalid) begin
                place_reg <= {PLACE_BITS{1'b0}};
                state_reg <= !s_axis_tlast ? WAIT : STRICT ? SHORT : END;
            end else if (taken) place_reg <= s_axis_tlast ? {PLACE_BITS{1'b0}} : place_reg + 1'b1;
            WAIT: if (taken) state_reg <= s_axis_tlast ? FRONT : BEHIND;
            SHORT: if (taken) state_reg <= END;
            END: if (taken) state_reg <= FRONT;
            default: if (taken && s_axis_tlast) state_reg <= FRONT;
        endcase
        if (rst) begin
            state_reg <= FRONT;
            place_reg <= {PLACE_BITS{1'b0}};
        end
    end

    assign s_axis_tready = holds || (state_reg != SHORT && state_reg != END && m_axis_tready);
    assign m_axis_tdata = sends_held ? held_reg : s_axis_tdata;
    assign m_axis_tvalid = state_reg == SHORT || state_reg == END || (!holds && s_axis_tvalid);
    assign m_axis_tlast = state_reg == END || (state_reg != SHORT && s_axis_tlast);
    assign word = word_reg;
endmodule

`default_nettype wire
