// kerncast primitive: 2**-t as u16f15 for t = u36f20 below 16.0; chords between 2**BITS + 1 entries u22f21.
// Four clocks.  SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_exp2_16 #(
    parameter BITS = 7,                              // of the index, 5 to 7
    parameter [((1 << BITS) + 1)*22-1:0] TABLE = 0   // entry 0 in the lowest bits
) (
    input  wire clk,
    input  wire [23:0] t,
    output wire [15:0] k
);
    localparam HALF_UP = 1;
    localparam REST = 20 - BITS;
    localparam ENTRIES = (1 << BITS) + 1;

    // First clock: the two entries beside t.
    wire [BITS:0] index = {1'b0, t[19:REST]};
    wire [BITS:0] beside = index + {{BITS{1'b0}}, 1'b1};
    wire [21:0] left;
    wire [21:0] right;
    logic [3:0] whole_1_reg;
    logic [REST-1:0] rest_1_reg;

    kc_rom #(.WIDTH(22), .DEPTH(ENTRIES), .TABLE(TABLE)) left_inst (.clk(clk), .address(index), .q(left));
    kc_rom #(.WIDTH(22), .DEPTH(ENTRIES), .TABLE(TABLE)) right_inst (.clk(clk), .address(beside), .q(right));

    // Second clock: how far the chord drops; third: the value; fourth: the power of two.
    wire [21:0] step = left - right;
    wire [36:0] drop = 37'(step) * 37'(rest_1_reg);
    logic [36-REST:0] drop_2_reg;
    logic [21:0] left_2_reg;
    logic [3:0] whole_2_reg;
    logic signed [22:0] value_3_reg;
    logic [4:0] shift_3_reg;
    wire signed [22:0] rounded;
    logic [15:0] k_reg;

    kc_shift_round #(.V_BITS(23), .S_BITS(5), .ROUNDING(HALF_UP))
        shift_round_inst (.v(value_3_reg), .s(shift_3_reg), .q(rounded));

    always_ff @(posedge clk) begin
        whole_1_reg <= t[23:20];
        rest_1_reg <= t[REST-1:0];
        drop_2_reg <= drop[36:REST];
        left_2_reg <= left;
        whole_2_reg <= whole_1_reg;
        value_3_reg <= $signed({1'b0, left_2_reg - 22'(drop_2_reg)});
        shift_3_reg <= {1'b0, whole_2_reg} + 5'd6;
        k_reg <= rounded[15:0];
    end

    assign k = k_reg;
endmodule

`default_nettype wire
