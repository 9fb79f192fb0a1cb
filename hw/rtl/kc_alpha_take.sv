// kerncast: takes the first TAKEN of the TAKEN + 1 coefficients of each vector out of a model's frame and holds them, so
// that kc_model_store behind it receives a frame with one coefficient per vector.
//
//   beats of a vector     x 0, ..., x COLUMNS - 1, alpha 0, ..., alpha TAKEN - 1, alpha TAKEN
//   beats that are taken                           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
//
// For a frame that ends with such a beat two beats are sent, so that its tlast is at the wrong beat for the receiver too.
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_alpha_take #(
    parameter int WORD = 16,
    parameter int VECTORS = 1,                    // maximum number of vectors
    parameter int COLUMNS = 1,
    parameter int TAKEN = 1,
    parameter int HEADER = 3,                     // beats before the first vector
    parameter int VECTOR_LANES = 1,               // vectors that are read at a time: a power of two
    parameter int ROWS = (VECTORS + VECTOR_LANES - 1) / VECTOR_LANES,
    parameter int ROW_BITS = ROWS > 1 ? $clog2(ROWS) : 1
) (
    input  wire clk,
    input  wire rst,
    input  wire [WORD-1:0] s_axis_tdata,
    input  wire s_axis_tvalid,
    output wire s_axis_tready,
    input  wire s_axis_tlast,
    output wire [WORD-1:0] m_axis_tdata,
    output wire m_axis_tvalid,
    input  wire m_axis_tready,
    output wire m_axis_tlast,
    // Read port, latency one clock: the coefficients of VECTOR_LANES vectors, those of an output side by side.
    input  wire [ROW_BITS-1:0] alpha_address,
    output wire [TAKEN*VECTOR_LANES*WORD-1:0] alpha
);
    localparam PLACES = COLUMNS + TAKEN + 1 > HEADER ? COLUMNS + TAKEN + 1 : HEADER;
    localparam PLACE_BITS = $clog2(PLACES);
    localparam LANE_BITS = VECTOR_LANES > 1 ? $clog2(VECTOR_LANES) : 1;
    localparam VECTOR_BITS = $clog2(VECTORS + 1);

    logic body_reg;                               // behind the header
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
            body_reg <= !s_axis_tlast && (body_reg || at_end);
            vector_reg <= !body_reg ? {VECTOR_BITS{1'b0}} : at_end ? vector_reg + 1'b1 : vector_reg;
        end
        if (rst) begin
            body_reg <= 1'b0;
            end_reg <= 2'd0;
            place_reg <= {PLACE_BITS{1'b0}};
        end
    end

    generate
        for (i = 0; i < TAKEN; i = i + 1) begin : of_output
            kc_ram_wordwise #(.WIDTH(WORD), .ROWS(ROWS), .LANES(VECTOR_LANES))
                alpha_inst (.clk(clk), .write_enable(accept && body_reg && place_reg == PLACE_BITS'(COLUMNS + i)),
                            .write_row(ROW_BITS'(vector_reg >> $clog2(VECTOR_LANES))),
                            .write_lane(LANE_BITS'(vector_reg) & LANE_BITS'(VECTOR_LANES - 1)), .write_last(1'b1),
                            .write_data(s_axis_tdata), .read_row(alpha_address),
                            .read_data(alpha[i*VECTOR_LANES*WORD +: VECTOR_LANES*WORD]));
        end
    endgenerate

    assign s_axis_tready = end_reg == 0 && (takes || m_axis_tready);
    assign m_axis_tdata = s_axis_tdata;
    assign m_axis_tvalid = end_reg != 0 || (!takes && s_axis_tvalid);
    assign m_axis_tlast = end_reg == 2'd1 || (end_reg == 0 && s_axis_tlast);
endmodule

`default_nettype wire
