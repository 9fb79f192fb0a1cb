// kerncast: inserts GIVEN coefficients before the last one of each vector into a model's frame, where kc_alpha_take takes
// them out: kc_state_reader before it sends one coefficient per vector. Frames with tuser pass unchanged.
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_alpha_give #(
    parameter int WORD = 16,
    parameter int COLUMNS = 1,
    parameter int GIVEN = 1,
    parameter int HEADER = 3                      // beats before the first vector
) (
    input  wire clk,
    input  wire rst,
    input  wire [GIVEN*WORD-1:0] alpha,           // of the vector whose last coefficient waits
    input  wire [WORD-1:0] s_axis_tdata,
    input  wire s_axis_tuser,
    input  wire s_axis_tvalid,
    output wire s_axis_tready,
    input  wire s_axis_tlast,
    output wire [WORD-1:0] m_axis_tdata,
    output wire m_axis_tuser,
    output wire m_axis_tvalid,
    input  wire m_axis_tready,
    output wire m_axis_tlast
);
    localparam PLACES = COLUMNS + 1 > HEADER ? COLUMNS + 1 : HEADER;
    localparam PLACE_BITS = $clog2(PLACES);
    localparam GIVEN_BITS = $clog2(GIVEN + 1);

    logic body_reg;                               // behind the header
    logic [PLACE_BITS-1:0] place_reg;             // beat of the header, or of the vector
    logic [GIVEN_BITS-1:0] given_reg;
    wire is_alpha = body_reg && place_reg == PLACE_BITS'(COLUMNS) && !s_axis_tuser;
    wire gives = is_alpha && given_reg != GIVEN_BITS'(GIVEN);
    wire taken = m_axis_tvalid && m_axis_tready;
    wire at_end = place_reg == (body_reg ? PLACE_BITS'(COLUMNS) : PLACE_BITS'(HEADER - 1));

    always_ff @(posedge clk) begin
        if (taken && gives) given_reg <= given_reg + 1'b1;
        if (taken && !gives) begin
            given_reg <= {GIVEN_BITS{1'b0}};
            place_reg <= at_end || s_axis_tlast ? {PLACE_BITS{1'b0}} : place_reg + 1'b1;
            body_reg <= !s_axis_tlast && !s_axis_tuser && (body_reg || at_end);
        end
        if (rst) begin
            body_reg <= 1'b0;
            place_reg <= {PLACE_BITS{1'b0}};
            given_reg <= {GIVEN_BITS{1'b0}};
        end
    end

    assign s_axis_tready = m_axis_tready && !gives;
    assign m_axis_tdata = gives ? alpha[given_reg*WORD +: WORD] : s_axis_tdata;
    assign m_axis_tuser = s_axis_tuser;
    assign m_axis_tvalid = s_axis_tvalid;
    assign m_axis_tlast = s_axis_tlast && !gives;
endmodule

`default_nettype wire
