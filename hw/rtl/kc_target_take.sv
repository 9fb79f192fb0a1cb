// kerncast: takes the first COUNT - 1 of the COUNT targets out of the frame of a sample, so that kc_sample_buffer behind it
// receives a sample with one target. The targets are converted as kc_affine does; they are valid five clocks after the
// last beat. Frames without tuser pass unchanged.
//
//   beats of a sample     x 0, ..., x COLUMNS - 1, target 0, ..., target COUNT - 2, target COUNT - 1
//   beats that are taken                           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
//
// For a frame that ends with such a beat two beats are sent, so that its tlast is at the wrong beat for the receiver too.
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_target_take #(
    parameter int COLUMNS = 1,
    parameter int COUNT = 2,                    // targets of a sample
    parameter int TDATA_BITS = 16,              // RAW_BITS in the low bits, the others are ignored
    parameter int RAW_BITS = 16,
    parameter bit RAW_SIGNED = 0,
    parameter int OFFSET_BITS = 16,             // two's complement
    parameter int GAIN_BITS = 16,               // two's complement, never negative
    parameter int SHIFT = 0,                    // 0 to 62
    parameter int ROUNDING = 1,
    parameter int OUT_BITS = 16,
    parameter logic signed [63:0] LO = -32768,
    parameter logic signed [63:0] HI = 32767
) (
    input  wire clk,
    input  wire rst,
    input  wire signed [OFFSET_BITS-1:0] offset,
    input  wire signed [GAIN_BITS-1:0] gain,
    input  wire [TDATA_BITS-1:0] s_axis_tdata,
    input  wire s_axis_tuser,                   // targets follow; valid with the first beat
    input  wire s_axis_tvalid,
    output wire s_axis_tready,
    input  wire s_axis_tlast,
    output wire [TDATA_BITS-1:0] m_axis_tdata,
    output wire m_axis_tuser,
    output wire m_axis_tvalid,
    input  wire m_axis_tready,
    output wire m_axis_tlast,
    output wire [COUNT*OUT_BITS-1:0] words      // of the last COUNT beats, the first one in the low bits
);
    localparam LATENCY = 4;                     // of kc_affine
    localparam PLACE_BITS = $clog2(COLUMNS + COUNT);
    localparam [PLACE_BITS-1:0] LAST = PLACE_BITS'(COLUMNS + COUNT - 1);

    logic with_targets_reg;
    logic [PLACE_BITS-1:0] place_reg;           // beat of the sample; LAST also for those behind
    logic [1:0] end_reg;                        // beats to be sent in the place of a taken one with tlast
    logic [LATENCY-1:0] valid_reg;
    logic [COUNT*OUT_BITS-1:0] words_reg;
    wire takes = with_targets_reg && place_reg >= PLACE_BITS'(COLUMNS) && place_reg != LAST;
    wire accept = s_axis_tvalid && s_axis_tready;
    wire [OUT_BITS-1:0] converted;

    kc_affine #(.RAW_BITS(RAW_BITS), .RAW_SIGNED(RAW_SIGNED), .OFFSET_BITS(OFFSET_BITS), .GAIN_BITS(GAIN_BITS),
                .SHIFT(SHIFT), .ROUNDING(ROUNDING), .OUT_BITS(OUT_BITS), .LO(LO), .HI(HI))
        affine_inst (.clk(clk), .raw(s_axis_tdata[RAW_BITS-1:0]), .offset(offset), .gain(gain), .q(converted));

    always_ff @(posedge clk) begin
        if (end_reg != 0 && m_axis_tready) end_reg <= end_reg - 1'b1;
        if (accept) begin
            if (takes && s_axis_tlast) end_reg <= 2'd2;
            place_reg <= s_axis_tlast ? {PLACE_BITS{1'b0}} : place_reg == LAST ? LAST : place_reg + 1'b1;
            if (place_reg == 0) with_targets_reg <= s_axis_tuser;
        end
        valid_reg <= {valid_reg[LATENCY-2:0], accept};
        if (valid_reg[LATENCY-1]) words_reg <= {converted, words_reg[COUNT*OUT_BITS-1:OUT_BITS]};
        if (rst) begin
            end_reg <= 2'd0;
            place_reg <= {PLACE_BITS{1'b0}};
        end
    end

    assign s_axis_tready = end_reg == 0 && (takes || m_axis_tready);
    assign m_axis_tdata = s_axis_tdata;
    assign m_axis_tuser = s_axis_tuser;
    assign m_axis_tvalid = end_reg != 0 || (!takes && s_axis_tvalid);
    assign m_axis_tlast = end_reg == 2'd1 || (end_reg == 0 && s_axis_tlast);
    assign words = words_reg;
endmodule

`default_nettype wire
