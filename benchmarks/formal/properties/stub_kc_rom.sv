// A table with any entries: what is read is any word.
module kc_rom #(
    parameter WIDTH = 16,
    parameter DEPTH = 2,
    parameter ADDRESS_BITS = DEPTH > 1 ? $clog2(DEPTH) : 1,
    parameter [DEPTH*WIDTH-1:0] TABLE = 0
) (
    input  wire clk,
    input  wire [ADDRESS_BITS-1:0] address,
    output wire [WIDTH-1:0] q
);
    (* anyseq *) logic [WIDTH-1:0] any;

    assign q = any;
endmodule
