// kerncast: takes the first TAKEN of the TAKEN + 1 coefficients of each vector out of a model's frame, so that
// kc_model_store or kc_state_writer behind it receives a frame with one coefficient per vector. `write` has a bit for
// each coefficient: the beat is that of `vector`. Frames with tuser, or without the TAG, pass unchanged.
//
//   beats of a vector     x 0, ..., x COLUMNS - 1, alpha 0, ..., alpha TAKEN - 1, alpha TAKEN
//   beats that are taken                           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
//
// For a frame that ends with such a beat two beats are sent, so that its tlast is at the wrong beat for the receiver too.
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_alpha_take #(
    parameter int WORD = 16,
    parameter logic [WORD-1:0] TAG = 0,
    parameter int VECTORS = 1,                    // maximum number of vectors
    parameter int COLUMNS = 1,
    parameter int TAKEN = 1,
    parameter int HEADER = 3,                     // beats before the first vector
    parameter int VECTOR_BITS = $clog2(VECTORS + 1)
) (
    input  wire clk,
    input  wire rst,
    input  wire [WORD-1:0] s_axis_tdata,
    input  wire s_axis_tuser,                     // with the first beat
    input  wire s_axis_tvalid,
    output wire s_axis_tready,
    input  wire s_axis_tlast,
    output wire [WORD-1:0] m_axis_tdata,
    output wire m_axis_tvalid,
    input  wire m_axis_tready,
    output wire m_axis_tlast,
    output wire [TAKEN-1:0] write,
    output wire [VECTOR_BITS-1:0] vector
);
    localparam PLACES = COLUMNS + TAKEN + 1 > HEADER ? COLUMNS + TAKEN + 1 : HEADER;
    localparam PLACE_BITS = $clog2(PLACES);

    logic inside_reg, known_reg;                  // behind the first beat of a frame; of one with coefficients to be taken
    logic body_reg;                               // behind its header
    logic [1:0] end_reg;                          // beats to be sent in the place of a taken one with tlast
    logic [PLACE_BITS-1:0] place_reg;             // beat of the header, or of the vector
    logic [VECTOR_BITS-1:0] vector_reg;
    wire takes = body_reg && place_reg >= PLACE_BITS'(COLUMNS) && place_reg < PLACE_BITS'(COLUMNS + TAKEN);
    wire accept = s_axis_tvalid && s_axis_tready;
    wire at_end = place_reg == (body_reg ? PLACE_BITS'(COLUMNS + TAKEN) : PLACE_BITS'(HEADER - 1));
    genvar i;

    always_ff @(posedge clk) begin
        if (end_reg != 0 && m_axis_tready) end_reg <= end_reg - 1'b1;
        if (accept) begin
            if (takes && s_axis_tlast) end_reg <= 2'd2;
            place_reg <= at_end || s_axis_tlast ? {PLACE_BITS{1'b0}} : place_reg + 1'b1;
            inside_reg <= !s_axis_tlast;
            if (!inside_reg) known_reg <= s_axis_tdata == TAG && !s_axis_tuser;
            body_reg <= !s_axis_tlast && known_reg && (body_reg || at_end);
            vector_reg <= !body_reg ? {VECTOR_BITS{1'b0}} : at_end ? vector_reg + 1'b1 : vector_reg;
        end
        if (rst) begin
            inside_reg <= 1'b0;
            body_reg <= 1'b0;
            end_reg <= 2'd0;
            place_reg <= {PLACE_BITS{1'b0}};
        end
    end

    generate
        for (i = 0; i < TAKEN; i = i + 1) begin : of_output
            assign write[i] = accept && body_reg && place_reg == PLACE_BITS'(COLUMNS + i);
        end
    endgenerate

    assign vector = vector_reg;
    assign s_axis_tready = end_reg == 0 && (takes || m_axis_tready);
    assign m_axis_tdata = s_axis_tdata;
    assign m_axis_tvalid = end_reg != 0 || (!takes && s_axis_tvalid);
    assign m_axis_tlast = end_reg == 2'd1 || (end_reg == 0 && s_axis_tlast);
endmodule

`default_nettype wire
