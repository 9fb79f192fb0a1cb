// kerncast: testbench: receives the beats of a stream and compares them with a memory file.
//
// The file is that of kc_tb_source. A beat that differs, is one too many, or changes before it is accepted is
// reported and counted in `unequal`. In STALL of 256 clocks, drawn at random, tready is low.
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_tb_sink #(
    parameter int BITS = 8,
    parameter int USER_BITS = 1,
    parameter int BEATS = 0,
    parameter FILE = "",
    parameter logic [15:0] SEED = 1
) (
    input  wire clk,
    input  wire rst,
    input  wire [7:0] stall,
    output wire [31:0] received,
    output wire [31:0] unequal,
    output wire done,
    input  wire [BITS-1:0] tdata,
    input  wire [USER_BITS-1:0] tuser,
    input  wire tlast,
    input  wire tvalid,
    output wire tready
);
    localparam DEPTH = BEATS > 0 ? BEATS : 1;

    logic [79:0] beats [0:DEPTH-1];
    logic [31:0] received_reg, unequal_reg;
    logic [15:0] chance_reg;
    logic ready_reg, waiting_reg;
    logic [USER_BITS+BITS:0] waiting_beat_reg;

    wire [79:0] wanted = beats[done ? 0 : received_reg];
    wire [USER_BITS+BITS:0] beat = {tuser, tlast, tdata};
    wire [USER_BITS+BITS:0] wanted_beat = {wanted[40 +: USER_BITS], wanted[32], wanted[BITS-1:0]};
    wire changed = waiting_reg && (!tvalid || beat !== waiting_beat_reg);
    wire accepted = tvalid === 1'b1 && ready_reg;
    wire wrong = accepted && (done || beat !== wanted_beat);

    assign received = received_reg;
    assign unequal = unequal_reg;
    assign done = received_reg == BEATS;
    assign tready = ready_reg;

    initial $readmemh(FILE, beats);

    always @(posedge clk) begin
        chance_reg <= {chance_reg[14:0], chance_reg[15] ^ chance_reg[13] ^ chance_reg[12] ^ chance_reg[10]};
        ready_reg <= chance_reg[7:0] >= stall;
        waiting_reg <= tvalid === 1'b1 && !ready_reg;
        waiting_beat_reg <= beat;
        if (accepted && !done) received_reg <= received_reg + 1;
        if (!rst && (wrong || changed)) unequal_reg <= unequal_reg + 1;
        if (!rst && changed) $display("%s: beat %0d changed before it was accepted", FILE, received_reg);
        if (!rst && wrong && done) $display("%s: a beat too many: tdata %h", FILE, tdata);
        if (!rst && wrong && !done)
            $display("%s: beat %0d: tuser %h, tlast %h, tdata %h; expected %h, %h, %h", FILE, received_reg, tuser,
                     tlast, tdata, wanted[40 +: USER_BITS], wanted[32], wanted[BITS-1:0]);
        if (!rst && tvalid === 1'bx) $display("%s: tvalid is unknown", FILE);
        if (rst) begin
            ready_reg <= 0;
            waiting_reg <= 0;
            received_reg <= 0;
            unequal_reg <= 0;
            chance_reg <= SEED;
        end
    end
endmodule
`default_nettype wire
