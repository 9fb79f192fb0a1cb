// kerncast primitive: 2**-t as u16f15 for t = u36f20 below 16.0; chords between 2**BITS + 1 entries u22f21.
// Six clocks.  SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_exp2_16 #(
    parameter int BITS = 7,                              // of the index, 5 to 7
    parameter logic [((1 << BITS) + 1)*22-1:0] TABLE = 0   // entry 0 in the lowest bits; it falls, by less than
) (                                                  // 2**(21 - BITS) from one to the next
    input  wire clk,
    input  wire [23:0] t,
    output wire [15:0] k
);
    localparam HALF_UP = 1;
    localparam REST = 20 - BITS;
    localparam ENTRIES = (1 << BITS) + 1;

    // First clock: the table entries on both sides of t.
    wire [BITS:0] index = {1'b0, t[19:REST]};
    wire [BITS:0] beside = index + {{BITS{1'b0}}, 1'b1};
    wire [21:0] left;
    wire [21:0] right;
    logic [3:0] whole_1_reg;
    logic [REST-1:0] rest_1_reg;

    kc_rom #(.WIDTH(22), .DEPTH(ENTRIES), .TABLE(TABLE)) left_inst (.clk(clk), .address(index), .q(left));
    kc_rom #(.WIDTH(22), .DEPTH(ENTRIES), .TABLE(TABLE)) right_inst (.clk(clk), .address(beside), .q(right));

    // Second clock: the step between them; third: how far the chord drops; fourth: the value; then two clocks
    // for the power of two, all fours of its shift but one first.
    wire [21:0] step = left - right;
    logic [REST:0] step_2_reg;
    logic [REST-1:0] rest_2_reg;
    logic [21:0] left_2_reg, left_3_reg;
    logic [3:0] whole_2_reg, whole_3_reg;
    wire [2*REST:0] drop = (2*REST + 1)'(step_2_reg) * (2*REST + 1)'(rest_2_reg);
    logic [REST:0] drop_3_reg;
    logic signed [22:0] value_4_reg, value_5_reg;
    logic [4:0] shift_4_reg;
    logic [2:0] shift_5_reg;
    wire signed [22:0] rounded;
    logic [15:0] k_reg;

    kc_shift_round #(.V_BITS(23), .S_BITS(3), .ROUNDING(HALF_UP))
        shift_round_inst (.v(value_5_reg), .s(shift_5_reg), .q(rounded));

    always_ff @(posedge clk) begin
        whole_1_reg <= t[23:20];
        rest_1_reg <= t[REST-1:0];
        step_2_reg <= step[REST:0];
        rest_2_reg <= rest_1_reg;
        left_2_reg <= left;
        whole_2_reg <= whole_1_reg;
        drop_3_reg <= drop[2*REST:REST];
        left_3_reg <= left_2_reg;
        whole_3_reg <= whole_2_reg;
        value_4_reg <= $signed({1'b0, left_3_reg - 22'(drop_3_reg)});
        shift_4_reg <= {1'b0, whole_3_reg} + 5'd6;
        // The bits shifted out here are below the half, so rounding half up does not depend on them.
        value_5_reg <= value_4_reg >>> {shift_4_reg[4:2] - 3'd1, 2'd0};
        shift_5_reg <= {1'b1, shift_4_reg[1:0]};
        k_reg <= rounded[15:0];
    end

    assign k = k_reg;
endmodule

`default_nettype wire
