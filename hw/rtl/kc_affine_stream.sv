// kerncast: the input conversion requantise((raw - offset) * gain, SHIFT) of each beat of a stream. The entries of
// OFFSETS and GAINS are used in turn; after tlast the first is used again. Six clocks per beat.
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_affine_stream #(
    parameter int RAW_BITS = 16,
    parameter bit RAW_SIGNED = 0,
    parameter int TDATA_BITS = 16,              // RAW_BITS in the low bits, the others are ignored
    parameter int OFFSET_BITS = 16,
    parameter int GAIN_BITS = 16,
    parameter int ENTRIES = 1,
    parameter logic [ENTRIES*OFFSET_BITS-1:0] OFFSETS = 0,   // the first in the lowest bits
    parameter logic [ENTRIES*GAIN_BITS-1:0] GAINS = 1,
    parameter int SHIFT = 0,
    parameter int ROUNDING = 1,
    parameter int OUT_BITS = 16,
    parameter logic signed [63:0] LO = -32768,
    parameter logic signed [63:0] HI = 32767
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
    localparam ENTRY_BITS = ENTRIES > 1 ? $clog2(ENTRIES) : 1;
    localparam [2:0] CLOCKS = 3'd5;         // 0: empty; then the four of kc_affine, then the output is valid

    logic [2:0] clock_reg;
    logic [RAW_BITS-1:0] raw_reg;
    logic last_reg;
    logic [ENTRY_BITS-1:0] entry_reg;
    wire signed [OFFSET_BITS-1:0] offset;
    wire signed [GAIN_BITS-1:0] gain;
    wire again = last_reg || entry_reg == ENTRY_BITS'(ENTRIES - 1);

    kc_rom #(.WIDTH(OFFSET_BITS), .DEPTH(ENTRIES), .TABLE(OFFSETS))
        offset_inst (.clk(clk), .address(entry_reg), .q(offset));
    kc_rom #(.WIDTH(GAIN_BITS), .DEPTH(ENTRIES), .TABLE(GAINS))
        gain_inst (.clk(clk), .address(entry_reg), .q(gain));
    kc_affine #(.RAW_BITS(RAW_BITS), .RAW_SIGNED(RAW_SIGNED), .OFFSET_BITS(OFFSET_BITS), .GAIN_BITS(GAIN_BITS),
                .SHIFT(SHIFT), .ROUNDING(ROUNDING), .OUT_BITS(OUT_BITS), .LO(LO), .HI(HI))
        affine_inst (.clk(clk), .raw(raw_reg), .offset(offset), .gain(gain), .q(m_axis_tdata));

    always_ff @(posedge clk) begin
        if (clock_reg == 0) begin
            raw_reg <= s_axis_tdata[RAW_BITS-1:0];
            last_reg <= s_axis_tlast;
            if (s_axis_tvalid) clock_reg <= 3'd1;
        end else if (clock_reg != CLOCKS) clock_reg <= clock_reg + 1'b1;
        else if (m_axis_tready) begin
            clock_reg <= 3'd0;
            entry_reg <= again ? {ENTRY_BITS{1'b0}} : entry_reg + 1'b1;
        end
        if (rst) begin
            clock_reg <= 3'd0;
            entry_reg <= {ENTRY_BITS{1'b0}};
        end
    end

    assign s_axis_tready = clock_reg == 0;
    assign m_axis_tvalid = clock_reg == CLOCKS;
    assign m_axis_tlast = last_reg;
endmodule

`default_nettype wire
