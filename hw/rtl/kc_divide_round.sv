// kerncast primitive: floor(num / den + 1/2), the rounded mean.  One bit a clock; NUM_BITS + 4 clocks from
// `start` to `done`.  SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_divide_round #(
    parameter int NUM_BITS = 61,
    parameter int DEN_BITS = 61    // at most NUM_BITS
) (
    input  wire clk,
    input  wire rst,
    input  wire start,                    // num and den are valid; a running division is aborted
    input  wire [NUM_BITS-1:0] num,
    input  wire [DEN_BITS-1:0] den,       // not 0
    output wire done,                     // for one clock; q is stable until the next start
    output wire [NUM_BITS-1:0] q
);
    localparam TWICE_BITS = NUM_BITS + 2;   // of 2 num + den
    localparam COUNT_BITS = $clog2(TWICE_BITS + 2);

    logic [COUNT_BITS-1:0] left_reg;        // remaining clocks; 0: idle
    logic done_reg;
    logic [TWICE_BITS-1:0] twice_reg;
    logic [DEN_BITS:0] d_reg;               // 2 den
    logic [DEN_BITS+1:0] rest_reg;
    logic [NUM_BITS-1:0] q_reg;

    wire [DEN_BITS+1:0] next = {rest_reg[DEN_BITS:0], twice_reg[TWICE_BITS-1]};
    wire fits = next >= {1'b0, d_reg};

    always_ff @(posedge clk) begin
        done_reg <= left_reg == 1;
        if (left_reg != 0) left_reg <= left_reg - 1'b1;
        if (left_reg > 1) begin
            rest_reg <= fits ? next - {1'b0, d_reg} : next;
            twice_reg <= twice_reg << 1;
            q_reg <= {q_reg[NUM_BITS-2:0], fits};
        end
        if (start) begin
            left_reg <= COUNT_BITS'(TWICE_BITS + 1);
            done_reg <= 1'b0;
            twice_reg <= {1'b0, num, 1'b0} + TWICE_BITS'(den);
            d_reg <= {den, 1'b0};
            rest_reg <= 0;
        end
        if (rst) begin
            left_reg <= 0;
            done_reg <= 1'b0;
        end
    end

    assign done = done_reg;
    assign q = q_reg;
endmodule

`default_nettype wire
