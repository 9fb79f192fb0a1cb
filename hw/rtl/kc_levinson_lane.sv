// kerncast: one lane of the Levinson recursion: one hardware multiplier for dot products and updates.
//
//   term = floor(u * v / 2**SHIFT)                             three clocks after the inputs
//   word = saturate(w + u * v / 2**s rounded)                  six clocks after them; `extend`: w is rounded as well
//   used = the largest magnitude of a word since `clear`
//
// v and w are first shifted right (half up), as in block_scale: v by one bit if v_scale, w by w_scale bits. Inputs
// count as 0 while `on` is low.
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_levinson_lane #(
    parameter int W = 16,
    parameter int SHIFT = 0,
    parameter int ROUNDING = 1,
    parameter int SCALE_BITS = 6,
    parameter int WORD_BITS = 2*W               // width that holds every word before its saturation
) (
    input  wire clk,
    input  wire on,
    input  wire update,                       // the inputs belong to an update, not to a dot product
    input  wire signed [W-1:0] u,
    input  wire signed [W-1:0] v,
    input  wire signed [W-1:0] w,
    input  wire v_scale,                      // these four are constant during an update pass
    input  wire [SCALE_BITS-1:0] w_scale,
    input  wire extend,
    input  wire [5:0] s,
    input  wire clear,
    output wire signed [2*W-1:0] term,
    output wire [W-1:0] word,
    output wire [W:0] used                    // saturates at 2**(W+1) - 1
);
    localparam FLOOR = 0;
    localparam PRODUCT_BITS = 2*W;
    localparam WIDE_BITS = 2*W;             // at most 64: a * 2**(W-1) + xi * a fits
    localparam signed [63:0] HI = (64'sd1 <<< (W - 1)) - 64'sd1;

    logic signed [W-1:0] u_1_reg, w_2_reg, w_3_reg, w_4_reg, word_reg;
    logic signed [W:0] w_1_reg;             // with the half bit
    logic update_1_reg, update_2_reg, update_3_reg, update_4_reg;
    logic signed [PRODUCT_BITS-1:0] product_2_reg, term_reg;
    logic signed [WIDE_BITS-1:0] wide_3_reg;
    logic signed [WORD_BITS-1:0] whole_5_reg;
    logic signed [WIDE_BITS+1:0] quarters_4_reg;
    logic update_5_reg;
    logic [W:0] used_reg;

    // First clock: scaling; second: the product; third: the sum that is rounded, or the term.
    wire signed [W-1:0] v_1;
    wire signed [W:0] w_halves;
    wire signed [PRODUCT_BITS-1:0] product = u_1_reg * v_1;
    wire signed [WIDE_BITS-1:0] w_wide = WIDE_BITS'(w_2_reg);
    wire signed [WIDE_BITS-1:0] w_extended = extend ? w_wide <<< (W - 1) : {WIDE_BITS{1'b0}};

    // Fourth: the shift; fifth: rounding and the whole word; sixth: saturation.
    wire signed [WIDE_BITS+1:0] quarters, rounded;
    wire signed [WORD_BITS-1:0] w_whole = extend ? {WORD_BITS{1'b0}} : WORD_BITS'(w_4_reg);
    wire [W-1:0] saturated;
    wire [WORD_BITS-1:0] magnitude;
    wire beyond = |magnitude[WORD_BITS-1:W+1];
    wire larger = beyond || magnitude[W:0] > used_reg;
    wire unused_outside;
    wire [W-1:0] unused_v;

    kc_block_scale #(.WIDTH(W), .S_BITS(1))
        v_inst (.clk(clk), .valid(1'b1), .first(1'b1), .word(on ? v : {W{1'b0}}), .s(v_scale), .q(v_1),
                .used(unused_v));
    kc_shift_round #(.V_BITS(W + 1), .S_BITS(SCALE_BITS), .ROUNDING(FLOOR))
        w_inst (.v({on ? w : {W{1'b0}}, 1'b0}), .s(w_scale), .q(w_halves));
    kc_shift_sticky #(.V_BITS(WIDE_BITS), .S_BITS(6)) shift_sticky_inst (.v(wide_3_reg), .s(s), .q(quarters));
    kc_shift_round #(.V_BITS(WIDE_BITS + 2), .S_BITS(2), .ROUNDING(ROUNDING))
        shift_round_inst (.v(quarters_4_reg), .s(2'd2), .q(rounded));
    kc_saturate #(.V_BITS(WORD_BITS), .OUT_BITS(W), .LO(-HI - 64'sd1), .HI(HI))
        saturate_inst (.v(whole_5_reg), .q(saturated), .outside(unused_outside));
    kc_magnitude #(.V_BITS(WORD_BITS)) magnitude_inst (.v(whole_5_reg), .q(magnitude));

    always_ff @(posedge clk) begin
        u_1_reg <= on ? u : {W{1'b0}};
        update_1_reg <= update && on;
        product_2_reg <= product;
        w_1_reg <= w_halves;
        w_2_reg <= w_1_reg[W:1] + $signed({{(W - 1){1'b0}}, w_1_reg[0]});
        update_2_reg <= update_1_reg;
        term_reg <= product_2_reg >>> SHIFT;
        wide_3_reg <= product_2_reg + w_extended;
        w_3_reg <= w_2_reg;
        update_3_reg <= update_2_reg;
        quarters_4_reg <= quarters;
        w_4_reg <= w_3_reg;
        update_4_reg <= update_3_reg;
        whole_5_reg <= rounded[WORD_BITS-1:0] + w_whole;
        update_5_reg <= update_4_reg;
        word_reg <= saturated;
        if (clear) used_reg <= 0;
        else if (update_5_reg && larger) used_reg <= beyond ? {(W + 1){1'b1}} : magnitude[W:0];
    end

    assign term = term_reg;
    assign word = word_reg;
    assign used = used_reg;
endmodule

`default_nettype wire
