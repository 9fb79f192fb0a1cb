// kerncast primitive: acc + |u - v|, one term of an exact distance in the 1-norm.
// Two clocks: the difference, the sum.  SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_abs_diff #(
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
    localparam WIDE_BITS = DIFF_BITS > ACC_BITS ? DIFF_BITS : ACC_BITS;

    logic valid_reg;
    logic first_reg;
    logic signed [DIFF_BITS-1:0] diff_reg;
    logic [ACC_BITS-1:0] acc_reg;
    wire signed [DIFF_BITS-1:0] wide_u = {X_SIGNED != 0 && u[X_BITS-1], u};
    wire signed [DIFF_BITS-1:0] wide_v = {X_SIGNED != 0 && v[X_BITS-1], v};
    wire [DIFF_BITS-1:0] size = diff_reg[DIFF_BITS-1] ? -diff_reg : diff_reg;
    wire [WIDE_BITS-1:0] term = WIDE_BITS'(size);
    wire [ACC_BITS-1:0] start = first_reg ? {ACC_BITS{1'b0}} : acc_reg;

    always_ff @(posedge clk) begin
        valid_reg <= valid;
        first_reg <= first;
        diff_reg <= wide_u - wide_v;
        if (valid_reg) acc_reg <= start + term[ACC_BITS-1:0];
    end

    assign acc = acc_reg;
endmodule

`default_nettype wire
