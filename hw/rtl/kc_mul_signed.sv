// kerncast: a * c, exact, with a signed and c not negative. Three clocks: products of pieces of 16 bits, those of the
// same weight, their sum.
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_mul_signed (
    input  wire clk,
    input  wire signed [31:0] a,
    input  wire [30:0] c,
    output wire signed [63:0] q
);
    logic signed [31:0] high_reg, mid_1_reg, mid_2_reg;
    logic [31:0] low_reg;
    logic signed [32:0] mid_reg;
    logic signed [63:0] ends_reg, q_reg;

    always_ff @(posedge clk) begin
        high_reg <= $signed(a[31:16]) * $signed({1'b0, c[30:16]});
        mid_1_reg <= $signed(a[31:16]) * $signed({1'b0, c[15:0]});
        mid_2_reg <= $signed({1'b0, a[15:0]}) * $signed({1'b0, c[30:16]});
        low_reg <= a[15:0] * c[15:0];
        ends_reg <= {high_reg, low_reg};
        mid_reg <= 33'(mid_1_reg) + 33'(mid_2_reg);
        q_reg <= ends_reg + (64'(mid_reg) <<< 16);
    end

    assign q = q_reg;
endmodule

`default_nettype wire
