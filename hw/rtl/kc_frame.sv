// kerncast: takes a frame of WORDS words from a stream into a memory, and holds it until `done`.
//
// A frame whose tlast comes early or late is read up to tlast, `bad` says so for one clock, and `spoiled` as long
// as it is held: it keeps its place in the stream, for frames of several streams that belong together.
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_frame #(
    parameter WIDTH = 16,
    parameter WORDS = 2,
    parameter INDEX_BITS = $clog2(WORDS)
) (
    input  wire clk,
    input  wire rst,
    input  wire [WIDTH-1:0] s_axis_tdata,
    input  wire s_axis_tvalid,
    output wire s_axis_tready,
    input  wire s_axis_tlast,
    output wire write,                        // word belongs at index
    output wire [INDEX_BITS-1:0] index,
    output wire [WIDTH-1:0] word,
    output wire full,
    output wire spoiled,
    input  wire done,
    output wire bad
);
    localparam [INDEX_BITS-1:0] LAST = INDEX_BITS'(WORDS - 1);

    typedef enum logic [1:0] {RECEIVE, DROP, HOLD} state_t;

    state_t state_reg;
    logic [INDEX_BITS-1:0] index_reg;
    logic bad_reg, spoiled_reg;
    wire accept = s_axis_tvalid && s_axis_tready;
    wire last = index_reg == LAST;

    always_ff @(posedge clk) begin
        bad_reg <= 1'b0;
        case (state_reg)
            RECEIVE: if (accept) begin
                index_reg <= last || s_axis_tlast ? {INDEX_BITS{1'b0}} : index_reg + 1'b1;
                bad_reg <= last != s_axis_tlast;
                spoiled_reg <= last != s_axis_tlast;
                if (s_axis_tlast) state_reg <= HOLD;
                else if (last) state_reg <= DROP;
            end
            DROP: if (accept && s_axis_tlast) state_reg <= HOLD;
            default: if (done) state_reg <= RECEIVE;
        endcase
        if (rst) begin
            state_reg <= RECEIVE;
            index_reg <= {INDEX_BITS{1'b0}};
            bad_reg <= 1'b0;
            spoiled_reg <= 1'b0;
        end
    end

    assign s_axis_tready = state_reg != HOLD;
    assign write = accept && state_reg == RECEIVE;
    assign index = index_reg;
    assign word = s_axis_tdata;
    assign full = state_reg == HOLD;
    assign spoiled = full && spoiled_reg;
    assign bad = bad_reg;
endmodule

`default_nettype wire
