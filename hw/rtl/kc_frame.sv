// kerncast: receives a frame of WORDS words from a stream into a memory and holds it until `free`.
//
// If tlast comes early or late, the frame is read up to tlast: `frame_error` is high for one clock, and
// `frame_error_held` as long as the frame is held. A bad frame keeps its place in the stream, because frames of
// several streams belong together.
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_frame #(
    parameter int WIDTH = 16,
    parameter int WORDS = 2,
    parameter int INDEX_BITS = $clog2(WORDS)
) (
    input  wire clk,
    input  wire rst,
    input  wire [WIDTH-1:0] s_axis_tdata,
    input  wire s_axis_tvalid,
    output wire s_axis_tready,
    input  wire s_axis_tlast,
    output wire write,                        // write `word` at `index`
    output wire [INDEX_BITS-1:0] index,
    output wire [WIDTH-1:0] word,
    output wire full,
    output wire frame_error_held,
    input  wire free,                         // release the frame that is held
    output wire frame_error
);
    localparam [INDEX_BITS-1:0] LAST = INDEX_BITS'(WORDS - 1);

    typedef enum logic [1:0] {RECEIVE, DROP, HOLD} state_t;

    state_t state_reg;
    logic [INDEX_BITS-1:0] index_reg;
    logic frame_error_reg, frame_error_held_reg;
    wire accept = s_axis_tvalid && s_axis_tready;
    wire last = index_reg == LAST;

    always_ff @(posedge clk) begin
        frame_error_reg <= 1'b0;
        case (state_reg)
            RECEIVE: if (accept) begin
                index_reg <= last || s_axis_tlast ? {INDEX_BITS{1'b0}} : index_reg + 1'b1;
                frame_error_reg <= last != s_axis_tlast;
                frame_error_held_reg <= last != s_axis_tlast;
                if (s_axis_tlast) state_reg <= HOLD;
                else if (last) state_reg <= DROP;
            end
            DROP: if (accept && s_axis_tlast) state_reg <= HOLD;
            default: if (free) state_reg <= RECEIVE;
        endcase
        if (rst) begin
            state_reg <= RECEIVE;
            index_reg <= {INDEX_BITS{1'b0}};
            frame_error_reg <= 1'b0;
            frame_error_held_reg <= 1'b0;
        end
    end

    assign s_axis_tready = state_reg != HOLD;
    assign write = accept && state_reg == RECEIVE;
    assign index = index_reg;
    assign word = s_axis_tdata;
    assign full = state_reg == HOLD;
    assign frame_error_held = full && frame_error_held_reg;
    assign frame_error = frame_error_reg;
endmodule

`default_nettype wire
