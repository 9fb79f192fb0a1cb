// Testbench of the system on a chip: prints the console, and reports the clocks and the exit code.
`timescale 1ns / 1ps
`default_nettype none

module soc_tb;
    localparam int MOST = 2_000_000;        // clocks until the run is given up

    logic clk;
    int clocks, interrupts;
    logic [2:0] irq_before;
    wire [7:0] console, exit_code;
    wire console_valid, halted;
    wire [2:0] irq;
    wire resetn = clocks > 3;
    wire [2:0] begun = resetn ? irq & ~irq_before : 3'd0;

    soc soc_inst (
        .clk(clk), .resetn(resetn), .console(console), .console_valid(console_valid), .halted(halted),
        .exit_code(exit_code), .irq(irq)
    );

    initial begin
        clk = 1'b0;
        clocks = 0;
        interrupts = 0;
        forever #5 clk = !clk;
    end

    always @(posedge clk) begin
        clocks <= clocks + 1;
        irq_before <= irq;
        interrupts <= interrupts + 32'(begun[0]) + 32'(begun[1]) + 32'(begun[2]);
        if (resetn && console_valid) $write("%c", console);
        if (resetn && halted) begin
            $display("clocks %0d", clocks);
            $display("interrupts %0d", interrupts);
            $display("exit %0d", exit_code);
            $finish;
        end
        if (clocks == MOST) begin
            $display("exit 254");
            $finish;
        end
    end
endmodule

`default_nettype wire
