// kerncast: a table of vectors, read in rows of LANES words; a row comes one clock after its address. The last row of
// a vector is filled with zeros. As in kc_rom, the macro KC_ROM_LOGIC makes logic of it.
// SPDX-License-Identifier: Apache-2.0
`default_nettype none

module kc_rom_banked #(
    parameter int WIDTH = 16,
    parameter int VECTORS = 2,
    parameter int COLUMNS = 1,
    parameter int LANES = 1,                    // a power of two
    parameter logic [VECTORS*COLUMNS*WIDTH-1:0] TABLE = 0,   // the first word in the lowest bits
    parameter int ROWS = (COLUMNS + LANES - 1) / LANES,
    parameter int DEPTH = VECTORS*ROWS > 1 ? VECTORS*ROWS : 2,
    parameter int ADDRESS_BITS = $clog2(DEPTH)
) (
    input  wire clk,
    input  wire [ADDRESS_BITS-1:0] row,
    output wire [LANES*WIDTH-1:0] q
);
    genvar lane;

    generate
        for (lane = 0; lane < LANES; lane = lane + 1) begin : bank
            logic [WIDTH-1:0] q_reg;

`ifdef KC_ROM_LOGIC
            wire [(1 << ADDRESS_BITS)*WIDTH-1:0] words;
            genvar i;

            for (i = 0; i < (1 << ADDRESS_BITS); i = i + 1) begin : entry
                localparam COLUMN = (i % ROWS)*LANES + lane;
                localparam AT = i < VECTORS*ROWS && COLUMN < COLUMNS ? (i/ROWS)*COLUMNS + COLUMN : 0;

                assign words[i*WIDTH +: WIDTH] = i < VECTORS*ROWS && COLUMN < COLUMNS ? TABLE[AT*WIDTH +: WIDTH]
                    : {WIDTH{1'b0}};
            end

            always_ff @(posedge clk) q_reg <= words[row*WIDTH +: WIDTH];
`else
            logic [WIDTH-1:0] words [0:DEPTH-1];
            integer i;

            initial begin
                for (i = 0; i < DEPTH; i = i + 1)
                    words[i] = i < VECTORS*ROWS && (i % ROWS)*LANES + lane < COLUMNS
                        ? TABLE[((i/ROWS)*COLUMNS + (i % ROWS)*LANES + lane)*WIDTH +: WIDTH] : {WIDTH{1'b0}};
            end

            always_ff @(posedge clk) q_reg <= words[row];
`endif

            assign q[lane*WIDTH +: WIDTH] = q_reg;
        end
    endgenerate
endmodule

`default_nettype wire
