// kerncast: gate between the streams of a core and its ports, with a soft reset that breaks no frame.
//
// A request closes the inputs. When no output beat waits and no output frame is half sent, the core is reset for one
// clock: `done`. An input frame of which the core had accepted a part is then dropped up to its tlast, so that its rest
// is not taken for a new frame; `dropping` is high until then, and `dropped` for one clock at the end. `discard` ends it
// at once: the rest will not come. While `run` is low no input beat is accepted; the outputs
// stay open.
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_soft_reset #(
    parameter int INPUTS = 1,
    parameter int OUTPUTS = 1
) (
    input  wire clk,
    input  wire rst,
    input  wire run,
    input  wire request,                    // for one clock
    output wire pending,                    // a request waits
    output wire done,                       // for one clock
    output wire core_rst,
    output wire dropping,                   // the rest of an interrupted input frame is awaited
    output wire dropped,                    // for one clock: it has come
    input  wire discard,                    // for one clock: it will not come

    input  wire [INPUTS-1:0] s_tvalid,      // the ports
    output wire [INPUTS-1:0] s_tready,
    input  wire [INPUTS-1:0] s_tlast,
    output wire [INPUTS-1:0] core_s_tvalid,
    input  wire [INPUTS-1:0] core_s_tready,

    output wire [OUTPUTS-1:0] m_tvalid,
    input  wire [OUTPUTS-1:0] m_tready,
    input  wire [OUTPUTS-1:0] m_tlast,
    input  wire [OUTPUTS-1:0] core_m_tvalid,
    output wire [OUTPUTS-1:0] core_m_tready
);
    logic pending_reg, reset_reg;
    logic [INPUTS-1:0] in_frame_reg, drop_reg;
    logic [OUTPUTS-1:0] out_frame_reg;

    wire [INPUTS-1:0] open = {INPUTS{run && !pending_reg && !reset_reg && !rst}};
    wire [INPUTS-1:0] accept = s_tvalid & s_tready;
    wire [INPUTS-1:0] cut = drop_reg | ({INPUTS{reset_reg}} & in_frame_reg);
    wire [OUTPUTS-1:0] sent = m_tvalid & m_tready;
    wire [OUTPUTS-1:0] unfinished = (m_tvalid & ~(sent & m_tlast)) | (~m_tvalid & out_frame_reg);

    always_ff @(posedge clk) begin
        pending_reg <= request || (pending_reg && !reset_reg);
        reset_reg <= pending_reg && !reset_reg && unfinished == 0;
        in_frame_reg <= ((in_frame_reg & ~accept) | (accept & ~s_tlast)) & ~({INPUTS{discard}} & cut);
        drop_reg <= discard ? {INPUTS{1'b0}} : cut & ~(accept & s_tlast);
        out_frame_reg <= (out_frame_reg & ~sent) | (sent & ~m_tlast);
        if (rst) begin
            pending_reg <= 1'b0;
            reset_reg <= 1'b0;
            in_frame_reg <= {INPUTS{1'b0}};
            drop_reg <= {INPUTS{1'b0}};
            out_frame_reg <= {OUTPUTS{1'b0}};
        end
    end

    assign pending = pending_reg;
    assign done = reset_reg;
    assign core_rst = rst || reset_reg;
    assign dropping = drop_reg != 0;
    assign dropped = (drop_reg & accept & s_tlast) != 0;
    assign s_tready = (core_s_tready | drop_reg) & open;
    assign core_s_tvalid = s_tvalid & open & ~drop_reg;
    assign m_tvalid = reset_reg ? {OUTPUTS{1'b0}} : core_m_tvalid;
    assign core_m_tready = m_tready;
endmodule

`default_nettype wire
