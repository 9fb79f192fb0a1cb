// kerncast: size of the coefficients of a vector: |alpha| of one output, or the sum of alpha^2 / 2**SHIFT over several, each
// term rounded down. 1 + log2(OUTPUTS) clocks, rounded up.
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_alpha_norm #(
    parameter int WORD = 16,
    parameter int OUTPUTS = 1,
    parameter int SHIFT = 0,                     // of several outputs
    parameter int NORM_BITS = 16                 // width that holds the result
) (
    input  wire clk,
    input  wire [OUTPUTS*WORD-1:0] alpha,
    output wire [NORM_BITS-1:0] norm
);
    localparam TERMS = 1 << $clog2(OUTPUTS);

    logic [TERMS*NORM_BITS-1:0] terms_reg;       // those behind the last output are 0
    wire [TERMS*NORM_BITS-1:0] terms;
    genvar o;

    generate
        for (o = 0; o < TERMS; o = o + 1) begin : of_term
            if (o >= OUTPUTS) begin : g_none
                assign terms[o*NORM_BITS +: NORM_BITS] = {NORM_BITS{1'b0}};
            end else begin : g_output
                wire signed [WORD-1:0] word = alpha[o*WORD +: WORD];

                if (OUTPUTS == 1) begin : g_size
                    wire [WORD-1:0] size = word < 0 ? -word : word;

                    assign terms = NORM_BITS'(size);
                end else begin : g_square
                    wire signed [2*WORD-1:0] square = word * word;

                    assign terms[o*NORM_BITS +: NORM_BITS] = NORM_BITS'($unsigned(square) >> SHIFT);
                end
            end
        end
    endgenerate

    always_ff @(posedge clk) terms_reg <= terms;

    kc_sum_tree #(.WIDTH(NORM_BITS), .LANES(TERMS)) sum_inst (.clk(clk), .words(terms_reg), .sum(norm));
endmodule

`default_nettype wire
