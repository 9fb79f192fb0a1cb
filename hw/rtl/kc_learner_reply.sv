// kerncast: the reply of a learner with one output: the prediction, and after a target the error; one beat or two.
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_learner_reply #(
    parameter int WORD = 16
) (
    input  wire clk,
    input  wire rst,
    input  wire answer,                         // for one clock, only if `free`
    input  wire learning,                       // the sample has a target
    input  wire [WORD-1:0] f,
    input  wire [WORD-1:0] error,
    input  wire [2:0] status,
    output wire free,

    output wire [WORD-1:0] m_axis_f_tdata,
    output wire [2:0] m_axis_f_tuser,
    output wire m_axis_f_tvalid,
    input  wire m_axis_f_tready,
    output wire m_axis_f_tlast
);
    logic f_valid_reg, error_valid_reg;
    logic [WORD-1:0] f_reg, error_reg;
    logic [2:0] status_reg;

    always_ff @(posedge clk) begin
        if (m_axis_f_tready) f_valid_reg <= 1'b0;
        if (m_axis_f_tready && !f_valid_reg) error_valid_reg <= 1'b0;
        if (answer) begin
            f_valid_reg <= 1'b1;
            error_valid_reg <= learning;
            f_reg <= f;
            error_reg <= error;
            status_reg <= status;
        end
        if (rst) begin
            f_valid_reg <= 1'b0;
            error_valid_reg <= 1'b0;
        end
    end

    assign free = !m_axis_f_tvalid || (m_axis_f_tready && m_axis_f_tlast);
    assign m_axis_f_tdata = f_valid_reg ? f_reg : error_reg;
    assign m_axis_f_tuser = status_reg;
    assign m_axis_f_tvalid = f_valid_reg || error_valid_reg;
    assign m_axis_f_tlast = !(f_valid_reg && error_valid_reg);
endmodule

`default_nettype wire
