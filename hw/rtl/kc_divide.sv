// kerncast primitive: a quotient with its exponent, num / den = q * 2**(e - 31) approximately; q = e = 0 for num = 0,
// else 2**30 <= |q| <= 2**31: the floor of the normalised numerator over the leading 31 bits of the
// normalised denominator.  Two bits per clock; always 21 clocks from `start` to `done`.
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_divide (
    input  wire clk,
    input  wire rst,
    input  wire start,                 // num and den are valid; a running division is aborted
    input  wire signed [63:0] num,     // |num| < 2**62
    input  wire [61:0] den,            // not 0
    output wire done,                  // for one clock; q and e are stable until the next start
    output wire signed [32:0] q,
    output wire signed [7:0] e
);
    localparam BITS = 31;              // of a quotient
    localparam [4:0] FIRST = 5'd4;     // clocks before its first two bits, of 32: the leading one is 0
    localparam [4:0] LAST = FIRST + 5'd16;

    logic [4:0] clock_reg;             // 0: idle
    logic negative_reg, zero_reg, lost_reg, done_reg;
    logic [61:0] size_reg, den_reg;    // |num|, normalised in the second clock
    logic [5:0] up_reg, up_den_reg;
    logic [BITS-1:0] d_reg;
    logic [BITS+1:0] triple_reg;       // 3 d
    logic [BITS:0] rest_reg, low_reg, bits_reg;
    logic signed [32:0] q_reg;
    logic signed [7:0] e_reg;

    wire signed [63:0] size = num[63] ? -num : num;
    wire [5:0] up, up_den;
    wire [61:0] den_up = den_reg << up_den_reg;
    wire half = size_reg[61:BITS] >= d_reg;   // the numerator is halved, or the quotient had 32 bits
    wire [BITS:0] first = half ? {2'b00, size_reg[61:BITS+1]} : {1'b0, size_reg[61:BITS]};
    wire [BITS+2:0] next = {rest_reg[BITS:0], low_reg[BITS -: 2]};
    // Signed remainders after d, 2 d and 3 d are subtracted: the last one that is not negative is used.
    wire [BITS+3:0] once = {1'b0, next} - (BITS + 4)'(d_reg);
    wire [BITS+3:0] twice = {1'b0, next} - {3'b000, d_reg, 1'b0};
    wire [BITS+3:0] triple = {1'b0, next} - {2'b00, triple_reg};
    wire [1:0] digit = !triple[BITS+3] ? 2'd3 : !twice[BITS+3] ? 2'd2 : !once[BITS+3] ? 2'd1 : 2'd0;
    wire [BITS:0] left = digit[1] ? digit[0] ? triple[BITS:0] : twice[BITS:0] : digit[0] ? once[BITS:0] : next[BITS:0];
    // The floor of a negative quotient is one further from zero, unless it is exact.
    wire exact = !lost_reg && rest_reg == 0;
    wire signed [32:0] positive = {1'b0, bits_reg};
    wire signed [32:0] floor = (negative_reg ? ~positive : positive) + {32'd0, negative_reg && exact};

    kc_normalisation_shift num_inst (.v(size_reg), .e(up));
    kc_normalisation_shift den_inst (.v(den_reg), .e(up_den));

    always_ff @(posedge clk) begin
        done_reg <= 1'b0;
        if (clock_reg != 0) clock_reg <= clock_reg + 1'b1;
        case (clock_reg)
            5'd0: ;
            5'd1: begin
                up_reg <= up;
                up_den_reg <= up_den;
            end
            5'd2: begin
                size_reg <= size_reg << up_reg;
                d_reg <= den_up[61:BITS];
            end
            5'd3: begin
                triple_reg <= {1'b0, d_reg, 1'b0} + (BITS + 2)'(d_reg);
                rest_reg <= {1'b0, first[BITS:1]};
                low_reg <= {first[0], half ? size_reg[BITS:1] : size_reg[BITS-1:0]};
                lost_reg <= half && size_reg[0];
                e_reg <= 8'(up_den_reg) - 8'(up_reg) + {7'd0, half};
            end
            LAST: begin
                q_reg <= zero_reg ? 33'd0 : floor;
                if (zero_reg) e_reg <= 8'd0;
                done_reg <= 1'b1;
                clock_reg <= 5'd0;
            end
            default: begin
                rest_reg <= left;
                low_reg <= low_reg << 2;
                bits_reg <= {bits_reg[BITS-2:0], digit};
            end
        endcase
        if (start) begin
            clock_reg <= 5'd1;
            done_reg <= 1'b0;
            negative_reg <= num[63];
            zero_reg <= num == 0;
            size_reg <= size[61:0];
            den_reg <= den;
        end
        if (rst) begin
            clock_reg <= 5'd0;
            done_reg <= 1'b0;
        end
    end

    assign done = done_reg;
    assign q = q_reg;
    assign e = e_reg;
endmodule

`default_nettype wire
