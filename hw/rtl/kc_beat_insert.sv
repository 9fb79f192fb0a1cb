// kerncast: inserts `word` as beat AT of each frame of a stream, such as the intercept in a model. The tlast of the beat
// before it moves to it. A frame that ends with that beat receives the word with ALWAYS, and passes without otherwise.
// `word` is read one clock after beat AT - 1 was accepted. tuser of the inserted beat is that of the beat before it.
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_beat_insert #(
    parameter int WIDTH = 16,
    parameter int USER_BITS = 3,
    parameter int AT = 3,                         // at least 1
    parameter bit ALWAYS = 1
) (
    input  wire clk,
    input  wire rst,
    input  wire [WIDTH-1:0] s_axis_tdata,
    input  wire [USER_BITS-1:0] s_axis_tuser,
    input  wire s_axis_tvalid,
    output wire s_axis_tready,
    input  wire s_axis_tlast,
    input  wire [WIDTH-1:0] word,
    output wire [WIDTH-1:0] m_axis_tdata,
    output wire [USER_BITS-1:0] m_axis_tuser,
    output wire m_axis_tvalid,
    input  wire m_axis_tready,
    output wire m_axis_tlast
);
    localparam PLACE_BITS = AT > 1 ? $clog2(AT) : 1;

    typedef enum logic [1:0] {FRONT, READ, INSERT, BEHIND} state_t;

    state_t state_reg;
    logic [PLACE_BITS-1:0] place_reg;
    logic [USER_BITS-1:0] user_reg;
    logic [WIDTH-1:0] word_reg;
    logic last_reg;
    wire passes = state_reg == FRONT || state_reg == BEHIND;
    wire taken = m_axis_tvalid && m_axis_tready;
    wire ahead = state_reg == FRONT && place_reg == PLACE_BITS'(AT - 1);

    always_ff @(posedge clk) begin
        if (ahead) user_reg <= s_axis_tuser;
        if (ahead) last_reg <= s_axis_tlast;
        if (state_reg == READ) word_reg <= word;
        case (state_reg)
            FRONT: if (taken) begin
                place_reg <= ahead || s_axis_tlast ? {PLACE_BITS{1'b0}} : place_reg + 1'b1;
                if (ahead && (ALWAYS || !s_axis_tlast)) state_reg <= READ;
            end
            READ: state_reg <= INSERT;
            INSERT: if (taken) state_reg <= last_reg ? FRONT : BEHIND;
            default: if (taken && s_axis_tlast) state_reg <= FRONT;
        endcase
        if (rst) begin
            state_reg <= FRONT;
            place_reg <= {PLACE_BITS{1'b0}};
        end
    end

    assign s_axis_tready = passes && m_axis_tready;
    assign m_axis_tdata = passes ? s_axis_tdata : word_reg;
    assign m_axis_tuser = passes ? s_axis_tuser : user_reg;
    assign m_axis_tvalid = passes ? s_axis_tvalid : state_reg == INSERT;
    assign m_axis_tlast = passes ? s_axis_tlast && !(ahead && ALWAYS) : last_reg;
endmodule

`default_nettype wire
