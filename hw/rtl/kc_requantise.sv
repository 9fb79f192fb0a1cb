// kerncast primitive: the cast, v / 2**s rounded and saturated; a negative s multiplies exactly.
// Two clocks: the shift, the saturation. With CLOCKS = 3 the shift uses two clocks.
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_requantise #(
    parameter int V_BITS = 64,                  // width of the word, two's complement
    parameter int S_BITS = 7,                   // width of the shift, two's complement, at least 4
    parameter int ROUNDING = 1,                 // 0 floor, 1 half up, 2 half to even
    parameter int OUT_BITS = 16,                // width that holds LO and HI
    parameter logic signed [63:0] LO = -32768,
    parameter logic signed [63:0] HI = 32767,
    parameter int CLOCKS = 2,                   // 2, or 3 for a fast clock
    parameter bit LEFT = 1                      // 0: s is never negative
) (
    input  wire clk,
    input  wire signed [V_BITS-1:0] v,
    input  wire signed [S_BITS-1:0] s,
    output wire [OUT_BITS-1:0] q,
    output wire outside                     // q is saturated
);
    localparam WIDE_BITS = V_BITS + 2;

    wire signed [V_BITS-1:0] multiplied;
    wire signed [V_BITS-1:0] shifted;
    wire [OUT_BITS-1:0] saturated;
    logic signed [V_BITS-1:0] shifted_reg;
    logic [OUT_BITS-1:0] q_reg;
    logic outside_reg;
    wire beyond;

    kc_arithmetic_shift #(.V_BITS(V_BITS), .S_BITS(S_BITS))
        arithmetic_shift_inst (.v(v), .s(s), .q(multiplied));
    kc_saturate #(.V_BITS(V_BITS), .OUT_BITS(OUT_BITS), .LO(LO), .HI(HI))
        saturate_inst (.v(shifted_reg), .q(saturated), .outside(beyond));

    generate
        if (CLOCKS == 2) begin : g_2clk
            wire signed [V_BITS-1:0] rounded;

            kc_shift_round #(.V_BITS(V_BITS), .S_BITS(S_BITS - 1), .ROUNDING(ROUNDING))
                shift_round_inst (.v(v), .s(s[S_BITS-2:0]), .q(rounded));

            assign shifted = LEFT && s[S_BITS-1] ? multiplied : rounded;
        end else begin : g_3clk
            // First shift by a multiple of 8, then by the remainder (0 to 7), with rounding.
            logic signed [WIDE_BITS-1:0] coarse_reg;
            logic [3:0] rest_reg;
            wire signed [WIDE_BITS-1:0] coarse, rounded;

            kc_shift_sticky #(.V_BITS(V_BITS), .S_BITS(S_BITS - 1))
                shift_sticky_inst (.v(v), .s({s[S_BITS-2:3], 3'd0}), .q(coarse));

            always_ff @(posedge clk) begin
                coarse_reg <= LEFT && s[S_BITS-1] ? {multiplied, 2'b00} : coarse;
                rest_reg <= LEFT && s[S_BITS-1] ? 4'd2 : {1'b0, s[2:0]} + 4'd2;
            end

            kc_shift_round #(.V_BITS(WIDE_BITS), .S_BITS(4), .ROUNDING(ROUNDING))
                shift_round_inst (.v(coarse_reg), .s(rest_reg), .q(rounded));

            assign shifted = rounded[V_BITS-1:0];
        end
    endgenerate

    always_ff @(posedge clk) begin
        shifted_reg <= shifted;
        q_reg <= saturated;
        outside_reg <= beyond;
    end

    assign q = q_reg;
    assign outside = outside_reg;
endmodule

`default_nettype wire
