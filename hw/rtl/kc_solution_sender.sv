// kerncast: sends a solution: its exponent, then each word as requantise(x * SCALE, 31), alpha of the unscaled system;
// tlast with the last word. If the solver failed, only an exponent 0 is sent. Eight clocks per word. With SCALED = 0
// the words are sent as they are, in three clocks each.
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_solution_sender #(
    parameter int W = 16,
    parameter int WORDS = 2,
    parameter bit SCALED = 1,
    parameter logic [30:0] SCALE = 0,
    parameter int ROUNDING = 1,
    parameter logic signed [63:0] LO = -32768,
    parameter logic signed [63:0] HI = 32767,
    parameter int INDEX_BITS = $clog2(WORDS)
) (
    input  wire clk,
    input  wire rst,
    input  wire start,                        // failed, saturated and exponent are stable until `done`
    output wire done,                         // for one clock: the last beat was accepted
    input  wire failed,
    input  wire saturated,
    input  wire signed [W-1:0] exponent,
    output wire [INDEX_BITS-1:0] x_index,
    input  wire signed [W-1:0] x,             // three clocks after x_index, two with SCALED = 0
    output wire [W-1:0] m_axis_tdata,
    output wire [2:0] m_axis_tuser,           // 0 ok, 1 saturated, 7 (-1) not positive definite
    output wire m_axis_tvalid,
    input  wire m_axis_tready,
    output wire m_axis_tlast
);
    localparam signed [6:0] SHIFT = 31;
    localparam [2:0] CLOCKS = SCALED != 0 ? 3'd6 : 3'd1;   // from an index to its word, minus one
    localparam PIECE = 16;

    typedef enum logic [1:0] {IDLE, HEAD, FETCH, SEND} state_t;

    state_t state_reg;
    logic [INDEX_BITS-1:0] index_reg;
    logic [2:0] clock_reg;
    logic signed [W+PIECE:0] low_reg, high_reg;
    logic signed [W+31:0] product_reg;
    wire [W-1:0] scaled;
    wire [W-1:0] alpha = SCALED != 0 ? scaled : x;
    wire unused_outside;
    wire last = index_reg == INDEX_BITS'(WORDS - 1);
    wire taken = m_axis_tvalid && m_axis_tready;
    wire signed [PIECE:0] scale_low = {1'b0, SCALE[PIECE-1:0]};
    wire signed [PIECE:0] scale_high = {2'b00, SCALE[30:PIECE]};
    wire signed [W+31:0] high = (W + 32)'(high_reg) <<< PIECE;

    kc_requantise #(.V_BITS(W + 32), .S_BITS(7), .ROUNDING(ROUNDING), .OUT_BITS(W), .LO(LO), .HI(HI))
        requantise_inst (.clk(clk), .v(product_reg), .s(SHIFT), .q(scaled), .outside(unused_outside));

    always_ff @(posedge clk) begin
        low_reg <= x * scale_low;
        high_reg <= x * scale_high;
        product_reg <= high + (W + 32)'(low_reg);
        clock_reg <= state_reg == FETCH ? clock_reg + 1'b1 : 3'd0;
        case (state_reg)
            IDLE: if (start) state_reg <= HEAD;
            HEAD: if (taken) state_reg <= failed ? IDLE : FETCH;
            FETCH: if (clock_reg == CLOCKS) state_reg <= SEND;
            default: if (taken) begin
                index_reg <= last ? {INDEX_BITS{1'b0}} : index_reg + 1'b1;
                state_reg <= last ? IDLE : FETCH;
            end
        endcase
        if (rst) begin
            state_reg <= IDLE;
            index_reg <= {INDEX_BITS{1'b0}};
        end
    end

    assign x_index = index_reg;
    assign done = taken && m_axis_tlast;
    assign m_axis_tdata = state_reg == SEND ? alpha : failed ? {W{1'b0}} : exponent;
    assign m_axis_tuser = failed ? 3'd7 : saturated ? 3'd1 : 3'd0;
    assign m_axis_tvalid = state_reg == HEAD || state_reg == SEND;
    assign m_axis_tlast = state_reg == HEAD ? failed : last;
endmodule

`default_nettype wire
