// kerncast primitive: the square root of v, rounded up.  One bit of the root a clock, a result every clock:
// 32 clocks.  SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_isqrt_ceil (
    input  wire clk,
    input  wire [61:0] v,
    output wire [31:0] root
);
    // The bits of the root so far, what their square leaves of the bits of v so far, and the bits of v that follow.
    localparam BITS = 31;
    wire [(BITS+1)*32-1:0] root_of;
    wire [(BITS+1)*34-1:0] rest_of;
    wire [(BITS+1)*62-1:0] next_of;
    logic [31:0] root_reg;
    genvar i;

    assign root_of[31:0] = 32'd0;
    assign rest_of[33:0] = 34'd0;
    assign next_of[61:0] = v;

    generate
        for (i = 0; i < BITS; i = i + 1) begin : bits
            wire [33:0] rest = {rest_of[i*34 +: 32], next_of[i*62 + 60 +: 2]};
            wire [33:0] trial = {root_of[i*32 +: 32], 2'b01};
            wire [33:0] less = rest - trial;
            wire fits = rest >= trial;
            logic [31:0] root_i_reg;
            logic [33:0] rest_i_reg;
            logic [61:0] next_i_reg;

            always_ff @(posedge clk) begin
                root_i_reg <= {root_of[i*32 +: 31], fits};
                rest_i_reg <= fits ? less : rest;
                next_i_reg <= {next_of[i*62 +: 60], 2'b00};
            end

            assign root_of[(i+1)*32 +: 32] = root_i_reg;
            assign rest_of[(i+1)*34 +: 34] = rest_i_reg;
            assign next_of[(i+1)*62 +: 62] = next_i_reg;
        end
    endgenerate

    always_ff @(posedge clk) root_reg <= root_of[BITS*32 +: 32] + {31'd0, rest_of[BITS*34 +: 34] != 34'd0};

    assign root = root_reg;
endmodule

`default_nettype wire
