// kerncast primitive: 2**-t as u32f31 for t = u38f32 below 33.0; two tables of 256 entries u32f31 take
// the upper 16 fraction bits, the linear term 1 - z ln 2 the lower 16.
// Five clocks.  SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_exp2_32 #(
    parameter [256*32-1:0] COARSE = 0,   // entry 0 in the lowest bits
    parameter [256*32-1:0] FINE = 0
) (
    input  wire clk,
    input  wire [37:0] t,
    output wire [31:0] k
);
    localparam HALF_UP = 1;
    localparam [31:0] LN2 = 32'hB17217F8;   // ln 2 * 2**32

    // First clock: the entries, and z ln 2 as f32.
    wire [31:0] coarse;
    wire [31:0] fine;
    wire [47:0] tail = 48'(t[15:0]) * 48'(LN2);
    logic [5:0] whole_1_reg;
    logic [15:0] tail_1_reg;

    kc_rom #(.WIDTH(32), .DEPTH(256), .TABLE(COARSE)) coarse_inst (.clk(clk), .address(t[31:24]), .q(coarse));
    kc_rom #(.WIDTH(32), .DEPTH(256), .TABLE(FINE)) fine_inst (.clk(clk), .address(t[23:16]), .q(fine));

    // Second clock: the head; third: what the tail takes off; fourth: the value; fifth: the power of two.
    logic [33:0] head_2_reg;
    logic [15:0] tail_2_reg;
    wire [63:0] head = 64'(coarse) * 64'(fine);
    wire [49:0] drop = 50'(head_2_reg) * 50'(tail_2_reg);
    logic [5:0] whole_2_reg;
    logic [33:0] head_3_reg;
    logic [17:0] drop_3_reg;
    logic [5:0] whole_3_reg;
    logic signed [34:0] value_4_reg;
    logic [6:0] shift_4_reg;
    wire signed [34:0] rounded;
    logic [31:0] k_reg;

    kc_shift_round #(.V_BITS(35), .S_BITS(7), .ROUNDING(HALF_UP))
        shift_round_inst (.v(value_4_reg), .s(shift_4_reg), .q(rounded));

    always_ff @(posedge clk) begin
        whole_1_reg <= t[37:32];
        tail_1_reg <= tail[47:32];
        head_2_reg <= head[63:30];
        tail_2_reg <= tail_1_reg;
        whole_2_reg <= whole_1_reg;
        head_3_reg <= head_2_reg;
        drop_3_reg <= drop[49:32];
        whole_3_reg <= whole_2_reg;
        value_4_reg <= $signed({1'b0, head_3_reg - 34'(drop_3_reg)});
        shift_4_reg <= {1'b0, whole_3_reg} + 7'd1;
        k_reg <= rounded[31:0];
    end

    assign k = k_reg;
endmodule

`default_nettype wire
