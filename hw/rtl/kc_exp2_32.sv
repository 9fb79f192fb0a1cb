// kerncast primitive: 2**-t as u32f31 for t = u37f32 below 32.0; the upper 2*BITS fraction bits address a coarse and
// a fine table of 2**BITS entries, and a polynomial evaluates the remaining bits (the tail).
// Seven clocks.  SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_exp2_32 #(
    parameter int BITS = 8,                            // of each index, 5 to 8
    parameter logic [(1 << BITS)*32-1:0] COARSE = 0,   // 2 * 2**-i/2**BITS - 1; entry 0 in the lowest bits
    parameter logic [(1 << BITS)*30-1:0] FINE = 0      // 1 - 2**-j/2**(2*BITS), 30 + BITS fraction bits
) (
    input  wire clk,
    input  wire [36:0] t,
    output wire [31:0] k
);
    localparam HALF_UP = 1;
    localparam REST = 32 - 2*BITS;
    localparam FRAC = 30 + BITS;            // fraction bits of step, tail and fall
    localparam [31:0] LN2 = 32'hB17217F8;   // ln 2 * 2**32

    // First clock: the entries, and z ln 2.
    wire [31:0] head_1;
    wire [29:0] step_1;
    wire [56:0] scaled = 57'({t[REST-1:0], {(BITS - 2){1'b0}}}) * 57'(LN2);
    logic [24:0] line_1_reg;
    logic [4:0] whole_1_reg;

    kc_rom #(.WIDTH(32), .DEPTH(1 << BITS), .TABLE(COARSE))
        coarse_inst (.clk(clk), .address(t[31:32-BITS]), .q(head_1));
    kc_rom #(.WIDTH(30), .DEPTH(1 << BITS), .TABLE(FINE))
        fine_inst (.clk(clk), .address(t[REST +: BITS]), .q(step_1));

    // Second clock: half the square of the tail; with large tables it is negligible.
    wire [49:0] square = BITS < 8 ? 50'(line_1_reg) * 50'(line_1_reg) : 50'd0;
    logic [48-FRAC:0] square_2_reg;
    logic [24:0] line_2_reg;
    logic [29:0] step_2_reg;
    logic [31:0] head_2_reg;
    logic [4:0] whole_2_reg;

    // Third clock: step * tail; fourth: how far both fall below 1.
    wire [24:0] tail_2 = line_2_reg - 25'(square_2_reg);
    wire [54:0] product = 55'(step_2_reg) * 55'(tail_2);
    logic [54-FRAC:0] product_3_reg;
    logic [29:0] sum_3_reg;
    logic [31:0] head_3_reg;
    logic [4:0] whole_3_reg;
    logic [29:0] fall_4_reg;
    logic [31:0] head_4_reg;
    logic [4:0] whole_4_reg;

    // Fifth clock: the amount to subtract from the head; sixth: the value; seventh: the power of two.
    wire [61:0] share = 62'(head_4_reg) * 62'(fall_4_reg);
    logic [30:0] drop_5_reg;
    logic [31:0] head_5_reg;
    logic [4:0] whole_5_reg;
    logic signed [33:0] value_6_reg;
    logic [5:0] shift_6_reg;
    wire signed [33:0] rounded;
    logic [31:0] k_reg;

    kc_shift_round #(.V_BITS(34), .S_BITS(6), .ROUNDING(HALF_UP))
        shift_round_inst (.v(value_6_reg), .s(shift_6_reg), .q(rounded));

    always_ff @(posedge clk) begin
        whole_1_reg <= t[36:32];
        line_1_reg <= scaled[56:32];
        square_2_reg <= square[49:FRAC+1];
        line_2_reg <= line_1_reg;
        step_2_reg <= step_1;
        head_2_reg <= head_1;
        whole_2_reg <= whole_1_reg;
        product_3_reg <= product[54:FRAC];
        sum_3_reg <= step_2_reg + 30'(tail_2);
        head_3_reg <= head_2_reg;
        whole_3_reg <= whole_2_reg;
        fall_4_reg <= sum_3_reg - 30'(product_3_reg);
        head_4_reg <= head_3_reg;
        whole_4_reg <= whole_3_reg;
        drop_5_reg <= 31'(fall_4_reg) + 31'(share[61:32]);
        head_5_reg <= head_4_reg;
        whole_5_reg <= whole_4_reg;
        value_6_reg <= $signed({2'b01, head_5_reg - 32'(drop_5_reg >> (BITS - 2))});
        shift_6_reg <= {1'b0, whole_5_reg} + 6'd2;
        k_reg <= rounded[31:0];
    end

    assign k = k_reg;
endmodule

`default_nettype wire
