// kerncast primitive: |sin(pi t / 2**32)| as u32f31; 257 entries u32f31 of a quarter wave, and between two of
// them sin(a + b) = sin a cos b + cos a sin b, cos b = 1 - b**2 / 2, sin b = b - b**3 / 6.
// Six clocks.  SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_abs_sinpi #(
    parameter logic [257*32-1:0] TABLE = 0   // entry 0 in the lowest bits
) (
    input  wire clk,
    input  wire [31:0] t,
    output wire [31:0] s
);
    localparam HALF_UP = 1;
    localparam [31:0] PI = 32'hC90FDAA2;   // pi * 2**30

    // First clock: the entries, and b as f38.
    wire [31:0] turn = t[31] ? -t : t;
    wire [8:0] index = turn[31:23];
    wire [54:0] scaled = 55'(turn[22:0]) * 55'(PI);
    wire [31:0] s_1;
    wire [31:0] c_1;
    logic [30:0] b_1_reg;

    kc_rom #(.WIDTH(32), .DEPTH(257), .TABLE(TABLE)) s_inst (.clk(clk), .address(index), .q(s_1));
    kc_rom #(.WIDTH(32), .DEPTH(257), .TABLE(TABLE))
        c_inst (.clk(clk), .address(9'd256 - index), .q(c_1));

    logic [30:0] b_2_reg, b_3_reg, b_4_reg;
    logic [31:0] s_2_reg, s_3_reg, s_4_reg, c_2_reg, c_3_reg, c_4_reg;

    // Second clock: b**2 / 2; third: b**3 / 2; fourth: b - b**3 / 6.
    wire [61:0] square = 62'(b_1_reg) * 62'(b_1_reg);
    logic [22:0] half_2_reg, half_3_reg, half_4_reg;
    wire [53:0] cube = 54'(b_2_reg) * 54'(half_2_reg);
    logic [15:0] cube_3_reg;
    wire [30:0] sixth = 31'(cube_3_reg) * 31'h5555;

    // Fifth clock: the two products that rotate the sine by b; sixth: their sum.
    logic signed [63:0] turned_5_reg;
    logic [31:0] s_5_reg;
    wire signed [63:0] rounded;
    logic [31:0] s_reg;

    kc_shift_round #(.V_BITS(64), .S_BITS(6), .ROUNDING(HALF_UP))
        shift_round_inst (.v(turned_5_reg), .s(6'd38), .q(rounded));

    always_ff @(posedge clk) begin
        b_1_reg <= scaled[54:24];
        half_2_reg <= square[61:39];
        b_2_reg <= b_1_reg;
        s_2_reg <= s_1;
        c_2_reg <= c_1;
        cube_3_reg <= cube[53:38];
        half_3_reg <= half_2_reg;
        b_3_reg <= b_2_reg;
        s_3_reg <= s_2_reg;
        c_3_reg <= c_2_reg;
        b_4_reg <= b_3_reg - 31'(sixth[30:16]);
        half_4_reg <= half_3_reg;
        s_4_reg <= s_3_reg;
        c_4_reg <= c_3_reg;
        turned_5_reg <= $signed(64'(c_4_reg) * 64'(b_4_reg) - 64'(s_4_reg) * 64'(half_4_reg));
        s_5_reg <= s_4_reg;
        s_reg <= s_5_reg + rounded[31:0];
    end

    assign s = s_reg;
endmodule

`default_nettype wire
