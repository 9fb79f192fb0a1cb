// kerncast primitive: acc + (u - v)**2, one term of an exact squared distance.
// Three clocks: the difference, its square, the sum.  SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_square_diff #(
    parameter int X_BITS = 16,     // width of u and v
    parameter bit X_SIGNED = 1,    // whether they are two's complement
    parameter int ACC_BITS = 32    // the plan proves that every distance fits
) (
    input  wire clk,
    input  wire valid,         // the inputs are a term
    input  wire first,         // it starts a new sum
    input  wire [X_BITS-1:0] u,
    input  wire [X_BITS-1:0] v,
    output wire [ACC_BITS-1:0] acc
);
    localparam DIFF_BITS = X_BITS + 1;
    localparam SQUARE_BITS = 2 * DIFF_BITS;
    localparam WIDE_BITS = SQUARE_BITS > ACC_BITS ? SQUARE_BITS : ACC_BITS;

    logic [1:0] valid_reg;
    logic [1:0] first_reg;
    logic signed [DIFF_BITS-1:0] diff_reg;
    logic signed [SQUARE_BITS-1:0] square_reg;
    logic [ACC_BITS-1:0] acc_reg;
    wire signed [DIFF_BITS-1:0] wide_u = {X_SIGNED != 0 && u[X_BITS-1], u};
    wire signed [DIFF_BITS-1:0] wide_v = {X_SIGNED != 0 && v[X_BITS-1], v};
    wire signed [SQUARE_BITS-1:0] square = diff_reg * diff_reg;
    wire [WIDE_BITS-1:0] term = WIDE_BITS'($unsigned(square_reg));
    wire [ACC_BITS-1:0] start = first_reg[1] ? {ACC_BITS{1'b0}} : acc_reg;

    always_ff @(posedge clk) begin
        valid_reg <= {valid_reg[0], valid};
        first_reg <= {first_reg[0], first};
        diff_reg <= wide_u - wide_v;
        square_reg <= square;
        if (valid_reg[1]) acc_reg <= start + term[ACC_BITS-1:0];
    end

    assign acc = acc_reg;
endmodule

`default_nettype wire
