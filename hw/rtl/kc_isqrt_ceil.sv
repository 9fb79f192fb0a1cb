// kerncast primitive: the square root of v, rounded up.  One bit of the root a clock, a result every clock:
// 32 clocks.  SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_isqrt_ceil (
    input  wire clk,
    input  wire [61:0] v,
    output wire [31:0] root
);
    // Each stage has its own registers: a part of one wide vector would wake every stage of a simulator.
    localparam BITS = 31;
    logic [31:0] root_reg;
    genvar i;

    generate
        for (i = 0; i < BITS; i = i + 1) begin : bits
            // The bits of the root so far, what their square leaves of the bits of v so far, and the bits that follow.
            wire [31:0] root_of;
            wire [31:0] rest_of;
            wire [61:0] next_of;
            wire [33:0] rest = {rest_of, next_of[61:60]};
            wire [33:0] trial = {root_of, 2'b01};
            wire [33:0] less = rest - trial;
            wire fits = rest >= trial;
            logic [31:0] root_i_reg;
            logic [33:0] rest_i_reg;
            logic [61:0] next_i_reg;

            if (i == 0) begin : first
                assign root_of = 32'd0;
                assign rest_of = 32'd0;
                assign next_of = v;
            end else begin : later
                assign root_of = bits[i-1].root_i_reg;
                assign rest_of = bits[i-1].rest_i_reg[31:0];
                assign next_of = bits[i-1].next_i_reg;
            end

            always_ff @(posedge clk) begin
                root_i_reg <= {root_of[30:0], fits};
                rest_i_reg <= fits ? less : rest;
                next_i_reg <= {next_of[59:0], 2'b00};
            end
        end
    endgenerate

    always_ff @(posedge clk) root_reg <= bits[BITS-1].root_i_reg + {31'd0, bits[BITS-1].rest_i_reg != 34'd0};

    assign root = root_reg;
endmodule

`default_nettype wire
