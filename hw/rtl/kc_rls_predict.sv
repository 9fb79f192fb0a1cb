// kerncast: w.phi of kernel RLS, exact; its prediction, and the error of a target.
// From the last feature: 6 clocks to the error, 8 to the prediction.  SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_rls_predict #(
    parameter int WORD = 16,
    parameter int ACC_BITS = 64,
    parameter int OUT_SHIFT = 0,                // from w.phi to y
    parameter int ERROR_SHIFT = 0,              // from w.phi to the residual
    parameter int ERROR_BITS = 48,
    parameter int ROUNDING = 1,
    parameter int F_BITS = 16,                  // width that holds LO and HI
    parameter logic signed [63:0] LO = -32768,  // of the word of f: beyond it, f is saturated
    parameter logic signed [63:0] HI = 32767,
    parameter logic signed [63:0] CLIP_LO = -32768,   // of y
    parameter logic signed [63:0] CLIP_HI = 32767
) (
    input  wire clk,
    input  wire rst,
    input  wire valid,                          // `phi` is a feature
    input  wire first,
    input  wire last,
    input  wire signed [15:0] phi,
    input  wire signed [31:0] w,                // its coefficient, one clock later
    input  wire zero,                           // all coefficients are 0
    input  wire signed [WORD-1:0] y,
    output wire error_valid,                    // for one clock
    output wire signed [ERROR_BITS-1:0] error,  // stays until the next sample
    output wire f_valid,                        // for one clock
    output wire [WORD-1:0] f,
    output wire saturated
);
    logic [7:0] last_reg;
    logic [3:0] valid_reg, first_reg;
    logic signed [15:0] phi_1_reg, phi_2_reg;
    logic signed [31:0] w_reg, high_reg;
    logic signed [32:0] low_reg;
    logic signed [47:0] product_reg;
    logic signed [ACC_BITS-1:0] acc_reg, diff_reg;
    logic [WORD-1:0] f_reg;
    logic saturated_reg;
    wire signed [ACC_BITS-1:0] begun = first_reg[3] ? {ACC_BITS{1'b0}} : acc_reg;
    wire signed [ACC_BITS-1:0] target = ACC_BITS'(y) <<< OUT_SHIFT;
    wire signed [ACC_BITS-1:0] shifted = diff_reg >>> ERROR_SHIFT;
    wire [F_BITS-1:0] whole;
    wire [WORD-1:0] clipped;
    wire outside, unused_outside;

    kc_requantise #(.V_BITS(ACC_BITS), .S_BITS(7), .ROUNDING(ROUNDING), .OUT_BITS(F_BITS), .LO(LO), .HI(HI), .LEFT(0))
        requantise_inst (.clk(clk), .v(acc_reg), .s(7'(OUT_SHIFT)), .q(whole), .outside(outside));
    kc_saturate #(.V_BITS(WORD), .OUT_BITS(WORD), .LO(CLIP_LO), .HI(CLIP_HI))
        clip_inst (.v(whole[WORD-1:0]), .q(clipped), .outside(unused_outside));

    always_ff @(posedge clk) begin
        last_reg <= {last_reg[6:0], valid && last};
        valid_reg <= {valid_reg[2:0], valid};
        first_reg <= {first_reg[2:0], first};
        phi_1_reg <= phi;
        phi_2_reg <= phi_1_reg;
        w_reg <= zero ? 32'sd0 : w;
        // Products of pieces, their sum, the sum of all.
        high_reg <= $signed(w_reg[31:16]) * phi_2_reg;
        low_reg <= $signed({1'b0, w_reg[15:0]}) * phi_2_reg;
        product_reg <= 48'(low_reg) + (48'(high_reg) <<< 16);
        if (valid_reg[3]) acc_reg <= begun + ACC_BITS'(product_reg);
        if (last_reg[4]) diff_reg <= target - acc_reg;
        f_reg <= clipped;
        saturated_reg <= outside;
        if (rst) last_reg <= 8'd0;
    end

    assign error_valid = last_reg[5];
    assign error = ERROR_BITS'(shifted);
    assign f_valid = last_reg[7];
    assign f = f_reg;
    assign saturated = saturated_reg;
endmodule

`default_nettype wire
