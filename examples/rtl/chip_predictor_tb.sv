// Train the chip on one period of a sine, request predictions at the samples and between them, and print them.
//
//   kerncast gen examples/rtl/grid.toml -o build/grid
//   cd build/grid/rtl
//   iverilog -g2012 -y . -Y .sv -o chip ../../../examples/rtl/chip_predictor*.sv
//   vvp chip -fst
//
// The values are those of the integer model; chip.fst shows the streams in GTKWave or Surfer.
`timescale 1ns / 1ps
`default_nettype none

module chip_predictor_tb;
    localparam SAMPLES = 8;
    localparam [SAMPLES*12-1:0] TARGETS = {  // in reverse order
        12'd601, 12'd1, 12'd601, 12'd2048, 12'd3495, 12'd4095, 12'd3495, 12'd2048};

    logic clk = 1'b0, rst = 1'b1;
    logic [15:0] y = 16'd0;
    logic [7:0] x = 8'd0;
    logic y_valid = 1'b0, y_last = 1'b0, x_valid = 1'b0;
    wire y_ready, x_ready, f_valid, f_last, error_x, error_model, busy;
    wire [15:0] f;
    wire [2:0] status;
    integer k, start, clocks = 0;

    chip_predictor chip (
        .clk(clk), .rst(rst), .s_axis_model_tdata(y), .s_axis_model_tvalid(y_valid),
        .s_axis_model_tready(y_ready), .s_axis_model_tlast(y_last), .s_axis_x_tdata(x),
        .s_axis_x_tvalid(x_valid), .s_axis_x_tready(x_ready), .s_axis_x_tlast(1'b1), .m_axis_f_tdata(f),
        .m_axis_f_tuser(status), .m_axis_f_tvalid(f_valid), .m_axis_f_tready(1'b1),
        .m_axis_f_tlast(f_last), .error_clear(1'b0), .error_x(error_x), .error_model(error_model),
        .busy(busy)
    );

    always #5 clk = !clk;
    always @(posedge clk) clocks <= clocks + 1;

    // A beat is taken at the clock edge at which both valid and ready are high.
    task send_target(input [11:0] word, input last);
        begin
            y <= {4'd0, word};
            y_last <= last;
            y_valid <= 1'b1;
            @(posedge clk);
            while (!y_ready) @(posedge clk);
            y_valid <= 1'b0;
        end
    endtask

    task ask(input [7:0] word);
        begin
            x <= word;
            x_valid <= 1'b1;
            @(posedge clk);
            while (!x_ready) @(posedge clk);
            x_valid <= 1'b0;
            while (!f_valid) @(posedge clk);
            // f is s16f14 of a full scale of 2048, around the offset 2048; see README.md of build/grid.
            $display("x = %2d  f = %6d  y = %7.2f  status %0d", word, $signed(f), 2048.0 + $signed(f) / 8.0,
                     status);
        end
    endtask

    initial begin
        $dumpfile("chip.fst");
        $dumpvars(0, chip_predictor_tb);
        repeat (4) @(posedge clk);
        rst <= 1'b0;
        @(posedge clk);
        start = clocks;
        for (k = 0; k < SAMPLES; k = k + 1) send_target(TARGETS[k*12 +: 12], k == SAMPLES - 1);
        // The solver begins some clocks after the last target; busy then lasts until the predictor has its model.
        while (!busy) @(posedge clk);
        while (busy) @(posedge clk);
        $display("trained in %0d clocks", clocks - start);
        for (k = 2; k <= 23; k = k + 3) ask(8'(k));
        for (k = 3; k <= 24; k = k + 3) ask(8'(k));
        if (error_x || error_model) $display("a frame was refused");
        $finish;
    end
endmodule

`default_nettype wire
