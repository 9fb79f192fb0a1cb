// kerncast primitive: the cast, v / 2**s rounded and saturated; a negative s multiplies exactly.
// Two clocks: the shift, the saturation.  SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_narrow #(
    parameter V_BITS = 64,                  // width of the word, two's complement
    parameter S_BITS = 7,                   // width of the shift, two's complement
    parameter ROUNDING = 1,                 // 0 floor, 1 half up, 2 half to even
    parameter OUT_BITS = 16,                // width that holds LO and HI
    parameter signed [63:0] LO = -32768,
    parameter signed [63:0] HI = 32767
) (
    input  wire clk,
    input  wire signed [V_BITS-1:0] v,
    input  wire signed [S_BITS-1:0] s,
    output wire [OUT_BITS-1:0] q,
    output wire outside                     // q is at its rail, and not the value
);
    wire signed [V_BITS-1:0] rounded;
    wire signed [V_BITS-1:0] multiplied;
    wire [OUT_BITS-1:0] saturated;
    logic signed [V_BITS-1:0] shifted_reg;
    logic [OUT_BITS-1:0] q_reg;
    logic outside_reg;
    wire beyond;

    kc_shift_round #(.V_BITS(V_BITS), .S_BITS(S_BITS - 1), .ROUNDING(ROUNDING))
        shift_round_inst (.v(v), .s(s[S_BITS-2:0]), .q(rounded));
    kc_align #(.V_BITS(V_BITS), .S_BITS(S_BITS))
        align_inst (.v(v), .s(s), .q(multiplied));
    kc_saturate #(.V_BITS(V_BITS), .OUT_BITS(OUT_BITS), .LO(LO), .HI(HI))
        saturate_inst (.v(shifted_reg), .q(saturated), .outside(beyond));

    always_ff @(posedge clk) begin
        shifted_reg <= s[S_BITS-1] ? multiplied : rounded;
        q_reg <= saturated;
        outside_reg <= beyond;
    end

    assign q = q_reg;
    assign outside = outside_reg;
endmodule

`default_nettype wire
