// kerncast primitive: words of a block, each shifted right by s (half up), one a clock; the largest magnitude of
// those since `first` comes with the last.  One clock.  SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_block_scale #(
    parameter int WIDTH = 16,
    parameter int S_BITS = 6
) (
    input  wire clk,
    input  wire valid,                       // the input is a word
    input  wire first,                       // it starts a new block
    input  wire signed [WIDTH-1:0] word,
    input  wire [S_BITS-1:0] s,
    output wire signed [WIDTH-1:0] q,
    output wire [WIDTH-1:0] used
);
    localparam HALF_UP = 1;

    logic signed [WIDTH-1:0] q_reg;
    logic [WIDTH-1:0] used_reg;
    wire signed [WIDTH-1:0] scaled;
    wire [WIDTH-1:0] size;

    kc_shift_round #(.V_BITS(WIDTH), .S_BITS(S_BITS), .ROUNDING(HALF_UP))
        shift_round_inst (.v(word), .s(s), .q(scaled));
    kc_magnitude #(.V_BITS(WIDTH)) magnitude_inst (.v(scaled), .q(size));

    always_ff @(posedge clk) if (valid) begin
        q_reg <= scaled;
        used_reg <= first || size > used_reg ? size : used_reg;
    end

    assign q = q_reg;
    assign used = used_reg;
endmodule

`default_nettype wire
