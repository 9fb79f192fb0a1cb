// kerncast: testbench: sends the beats of a memory file to a stream.
//
// Each entry of the file is {beats transferred before it, tuser, tlast, tdata} with 32, 8, 8 and 32 bits. A beat is
// offered once `transferred` has reached its number. In STALL of 256 clocks, drawn at random, no new beat is offered.
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_tb_source #(
    parameter int BITS = 8,
    parameter int USER_BITS = 1,
    parameter int BEATS = 0,
    parameter FILE = "",
    parameter logic [15:0] SEED = 1
) (
    input  wire clk,
    input  wire rst,
    input  wire [7:0] stall,
    input  wire [31:0] transferred,          // beats of all streams
    output wire [31:0] sent,
    output wire done,
    output wire [BITS-1:0] tdata,
    output wire [USER_BITS-1:0] tuser,
    output wire tlast,
    output wire tvalid,
    input  wire tready
);
    localparam DEPTH = BEATS > 0 ? BEATS : 1;

    logic [79:0] beats [0:DEPTH-1];
    logic [79:0] beat_reg;
    logic [31:0] next_reg, sent_reg;
    logic [15:0] chance_reg;
    logic valid_reg;

    wire accepted = valid_reg && tready;
    wire [79:0] next_beat = beats[done ? 0 : next_reg];
    wire due = !done && next_beat[79:48] <= transferred + (accepted ? 1 : 0) && chance_reg[7:0] >= stall;

    assign sent = sent_reg;
    assign done = next_reg == BEATS;
    assign tdata = beat_reg[BITS-1:0];
    assign tuser = beat_reg[40 +: USER_BITS];
    assign tlast = beat_reg[32];
    assign tvalid = valid_reg;

    initial $readmemh(FILE, beats);

    always_ff @(posedge clk) begin
        chance_reg <= {chance_reg[14:0], chance_reg[15] ^ chance_reg[13] ^ chance_reg[12] ^ chance_reg[10]};
        if (accepted) sent_reg <= sent_reg + 1;
        if (!valid_reg || tready) begin
            valid_reg <= due;
            if (due) begin
                beat_reg <= next_beat;
                next_reg <= next_reg + 1;
            end
        end
        if (rst) begin
            valid_reg <= 0;
            next_reg <= 0;
            sent_reg <= 0;
            chance_reg <= SEED;
        end
    end
endmodule
`default_nettype wire
