// kerncast primitive: a quotient with its exponent, num / den = q * 2**(e - 31) approximately; q = e = 0 for num = 0,
// else 2**30 <= |q| <= 2**31: the floor of the normalised numerator over the leading 31 bits of the
// normalised denominator.  Two bits per clock; always 21 clocks from `start` to `done`.
//
// The denominator is normalised by the same shifter as the numerator, one clock or more before it, and is kept for
// all further divisions.
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_divide #(
    parameter int NUM_BITS = 63,           // width of num, two's complement
    parameter int NUM_ZEROS = 0,           // the numerator is num * 2**NUM_ZEROS, and has at most 63 bits
    parameter int DEN_BITS = 62            // at most 62
) (
    input  wire clk,
    input  wire rst,
    input  wire prepare,               // den is valid; no division runs, and `start` does not come in the same clock
    input  wire [DEN_BITS-1:0] den,    // not 0
    input  wire start,                 // num is valid; a running division is aborted
    input  wire signed [NUM_BITS-1:0] num,
    output wire done,                  // for one clock; q and e are stable until the next start
    output wire signed [32:0] q,
    output wire signed [7:0] e
);
    localparam BITS = 31;              // of a quotient
    localparam WIDE_BITS = 2*BITS;     // of a normalised numerator
    localparam [4:0] FIRST = 5'd4;     // clocks before its first two bits
    localparam [4:0] LAST = FIRST + 5'd16;
    localparam ANY_BITS = NUM_BITS > DEN_BITS ? NUM_BITS - 1 : DEN_BITS;
    localparam SIZE_BITS = ANY_BITS > 33 ? ANY_BITS : 33;

    logic [4:0] clock_reg;             // 0: idle
    logic [2:0] den_at_reg;            // stage of the shifter that holds the denominator
    logic negative_reg, zero_reg, half_reg, done_reg;
    logic [SIZE_BITS-1:0] size_reg, size_1_reg, size_2_reg;
    logic [1:0] up_1_reg;
    logic [3:0] up_2_reg;
    logic [5:0] up_reg;
    logic signed [7:0] up_den_reg, up_diff_reg;
    logic [BITS-1:0] d_reg, rest_reg;
    logic [BITS+1:0] triple_reg;       // 3 d
    logic [BITS:0] low_reg;            // low bits of the numerator; the quotient moves in from the right
    logic signed [32:0] q_reg;
    logic signed [7:0] e_reg;

    // The shifter: two of its six levels per clock.
    wire negative = start && num[NUM_BITS-1];
    wire [SIZE_BITS-1:0] raw = start ? SIZE_BITS'(num ^ {NUM_BITS{negative}}) : SIZE_BITS'(den);
    wire none_32 = ~|size_reg[SIZE_BITS-1 -: 32];
    wire [SIZE_BITS-1:0] by_32 = none_32 ? size_reg << 32 : size_reg;
    wire none_16 = ~|by_32[SIZE_BITS-1 -: 16];
    wire none_8 = ~|size_1_reg[SIZE_BITS-1 -: 8];
    wire [SIZE_BITS-1:0] by_8 = none_8 ? size_1_reg << 8 : size_1_reg;
    wire none_4 = ~|by_8[SIZE_BITS-1 -: 4];
    wire none_2 = ~|size_2_reg[SIZE_BITS-1 -: 2];
    wire [SIZE_BITS-1:0] by_2 = none_2 ? size_2_reg << 2 : size_2_reg;
    wire none_1 = ~by_2[SIZE_BITS-1];
    wire [SIZE_BITS-1:0] top = none_1 ? by_2 << 1 : by_2;
    wire [SIZE_BITS+WIDE_BITS-1:0] padded = {top, {WIDE_BITS{1'b0}}};
    wire [WIDE_BITS-1:0] normalised = padded[SIZE_BITS+WIDE_BITS-1 -: WIDE_BITS];
    wire [5:0] up = {up_2_reg, none_2, none_1};

    // Remainders after d, 2 d and 3 d are subtracted, with their signs: the last one that is not negative is used.
    wire [BITS+1:0] next = {rest_reg, low_reg[BITS -: 2]};
    wire [BITS+2:0] once = {1'b0, next} - (BITS + 3)'(d_reg);
    wire [BITS+2:0] twice = {1'b0, next} - {2'b00, d_reg, 1'b0};
    wire [BITS+2:0] triple = {1'b0, next} - {1'b0, triple_reg};
    wire [1:0] digit = !triple[BITS+2] ? 2'd3 : !twice[BITS+2] ? 2'd2 : !once[BITS+2] ? 2'd1 : 2'd0;
    wire [BITS-1:0] left = digit[1] ? digit[0] ? triple[BITS-1:0] : twice[BITS-1:0]
        : digit[0] ? once[BITS-1:0] : next[BITS-1:0];

    // A quotient of 32 bits is halved. The floor of a negative one is one further from zero, unless it is exact.
    wire exact = rest_reg == 0 && !(half_reg && low_reg[0]);
    wire [BITS-1:0] positive = half_reg ? low_reg[BITS:1] : low_reg[BITS-1:0];
    wire signed [32:0] floor = ({2'b00, positive} ^ {33{negative_reg}}) + {32'd0, negative_reg && exact};

    always_ff @(posedge clk) begin
        done_reg <= 1'b0;
        den_at_reg <= {den_at_reg[1:0], prepare};
        size_reg <= raw + SIZE_BITS'(negative);
        size_1_reg <= none_16 ? by_32 << 16 : by_32;
        up_1_reg <= {none_32, none_16};
        size_2_reg <= none_4 ? by_8 << 4 : by_8;
        up_2_reg <= {up_1_reg, none_8, none_4};
        triple_reg <= {1'b0, d_reg, 1'b0} + (BITS + 2)'(d_reg);
        up_diff_reg <= up_den_reg - 8'(up_reg);
        if (den_at_reg[2]) begin
            d_reg <= normalised[WIDE_BITS-1:BITS];
            up_den_reg <= 8'(up) + 8'(NUM_ZEROS);
        end
        if (clock_reg != 0) clock_reg <= clock_reg + 1'b1;
        if (clock_reg == FIRST + 5'd1) begin
            half_reg <= low_reg[1];
            e_reg <= up_diff_reg + {7'd0, low_reg[1]};
        end
        case (clock_reg)
            5'd0, 5'd1, 5'd2: ;
            5'd3: begin
                zero_reg <= !top[SIZE_BITS-1];
                up_reg <= up;
                {rest_reg, low_reg} <= {1'b0, normalised};
            end
            LAST: begin
                q_reg <= zero_reg ? 33'd0 : floor;
                if (zero_reg) e_reg <= 8'd0;
                done_reg <= 1'b1;
                clock_reg <= 5'd0;
            end
            default: begin
                rest_reg <= left;
                low_reg <= {low_reg[BITS-2:0], digit};
            end
        endcase
        if (start) begin
            clock_reg <= 5'd1;
            done_reg <= 1'b0;
            negative_reg <= negative;
        end
        if (rst) begin
            clock_reg <= 5'd0;
            den_at_reg <= 3'd0;
            done_reg <= 1'b0;
        end
    end

    assign done = done_reg;
    assign q = q_reg;
    assign e = e_reg;
endmodule

`default_nettype wire
