// kerncast: the input conversion narrow((raw - OFFSET) * GAIN, SHIFT) of a stream's words.  Six clocks a word.
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_affine_stream #(
    parameter RAW_BITS = 16,
    parameter RAW_SIGNED = 0,
    parameter TDATA_BITS = 16,              // RAW_BITS in the low bits, the others are not looked at
    parameter OFFSET_BITS = 16,
    parameter GAIN_BITS = 16,
    parameter [OFFSET_BITS-1:0] OFFSET = 0,
    parameter [GAIN_BITS-1:0] GAIN = 1,
    parameter SHIFT = 0,
    parameter ROUNDING = 1,
    parameter OUT_BITS = 16,
    parameter signed [63:0] LO = -32768,
    parameter signed [63:0] HI = 32767
) (
    input  wire clk,
    input  wire rst,
    input  wire [TDATA_BITS-1:0] s_axis_tdata,
    input  wire s_axis_tvalid,
    output wire s_axis_tready,
    input  wire s_axis_tlast,
    output wire [OUT_BITS-1:0] m_axis_tdata,
    output wire m_axis_tvalid,
    input  wire m_axis_tready,
    output wire m_axis_tlast
);
    localparam [2:0] CLOCKS = 3'd5;         // 0: empty; then the four of kc_affine, then the word is there

    logic [2:0] clock_reg;
    logic [RAW_BITS-1:0] raw_reg;
    logic last_reg;

    kc_affine #(.RAW_BITS(RAW_BITS), .RAW_SIGNED(RAW_SIGNED), .OFFSET_BITS(OFFSET_BITS), .GAIN_BITS(GAIN_BITS),
                .SHIFT(SHIFT), .ROUNDING(ROUNDING), .OUT_BITS(OUT_BITS), .LO(LO), .HI(HI))
        affine_inst (.clk(clk), .raw(raw_reg), .offset(OFFSET), .gain(GAIN), .q(m_axis_tdata));

    always_ff @(posedge clk) begin
        if (clock_reg == 0) begin
            raw_reg <= s_axis_tdata[RAW_BITS-1:0];
            last_reg <= s_axis_tlast;
            if (s_axis_tvalid) clock_reg <= 3'd1;
        end else if (clock_reg != CLOCKS) clock_reg <= clock_reg + 1'b1;
        else if (m_axis_tready) clock_reg <= 3'd0;
        if (rst) clock_reg <= 3'd0;
    end

    assign s_axis_tready = clock_reg == 0;
    assign m_axis_tvalid = clock_reg == CLOCKS;
    assign m_axis_tlast = last_reg;
endmodule

`default_nettype wire
