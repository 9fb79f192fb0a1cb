// kerncast primitive: 2**-t as u16f15 for t = u37f20 below 17.0; 129 entries u16f16, linear between them.
// Four clocks.  SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_exp2_16 #(
    parameter [129*16-1:0] TABLE = 0   // entry 0 in the lowest bits
) (
    input  wire clk,
    input  wire [24:0] t,
    output wire [15:0] k
);
    localparam HALF_UP = 1;

    // First clock: the two entries beside t.
    wire [7:0] index = {1'b0, t[19:13]};
    wire [15:0] left;
    wire [15:0] right;
    logic [4:0] whole_1_reg;
    logic [12:0] rest_1_reg;

    kc_rom #(.WIDTH(16), .DEPTH(129), .TABLE(TABLE)) left_inst (.clk(clk), .address(index), .q(left));
    kc_rom #(.WIDTH(16), .DEPTH(129), .TABLE(TABLE))
        right_inst (.clk(clk), .address(index + 8'd1), .q(right));

    // Second clock: how far the line drops; third: the value; fourth: the power of two.
    wire [15:0] step = left - right;
    wire [28:0] drop = 29'(step) * 29'(rest_1_reg);
    logic [28:0] drop_2_reg;
    logic [15:0] left_2_reg;
    logic [4:0] whole_2_reg;
    logic signed [16:0] value_3_reg;
    logic [5:0] shift_3_reg;
    wire signed [16:0] rounded;
    logic [15:0] k_reg;

    kc_shift_round #(.V_BITS(17), .S_BITS(6), .ROUNDING(HALF_UP))
        shift_round_inst (.v(value_3_reg), .s(shift_3_reg), .q(rounded));

    always_ff @(posedge clk) begin
        whole_1_reg <= t[24:20];
        rest_1_reg <= t[12:0];
        drop_2_reg <= drop;
        left_2_reg <= left;
        whole_2_reg <= whole_1_reg;
        value_3_reg <= $signed({1'b0, left_2_reg - drop_2_reg[28:13]});
        shift_3_reg <= {1'b0, whole_2_reg} + 6'd1;
        k_reg <= rounded[15:0];
    end

    assign k = k_reg;
endmodule

`default_nettype wire
