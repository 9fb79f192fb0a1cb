// A chip that trains itself: raw targets go in on one side, raw inputs on the other, predictions come out.
//
//   kerncast gen examples/rtl/grid.toml -o build/grid --core trainer --core predictor
//   cd build/grid/rtl && iverilog -g2012 -y . -Y .sv ../../../examples/rtl/chip_predictor.sv
//
// The frame of the model that the trainer sends is the one that the predictor takes: a wire joins them.  The
// predictor takes no sample while a model comes in, from its first beat to its last.
`default_nettype none

module chip_predictor (
    input  wire clk,
    input  wire rst,

    input  wire [15:0] s_axis_model_tdata,    // raw targets, u12f0: 8 a training
    input  wire s_axis_model_tvalid,
    output wire s_axis_model_tready,
    input  wire s_axis_model_tlast,

    input  wire [7:0] s_axis_x_tdata,         // a raw input, u8f0
    input  wire s_axis_x_tvalid,
    output wire s_axis_x_tready,
    input  wire s_axis_x_tlast,

    output wire [15:0] m_axis_f_tdata,
    output wire [2:0] m_axis_f_tuser,
    output wire m_axis_f_tvalid,
    input  wire m_axis_f_tready,
    output wire m_axis_f_tlast,

    input  wire error_clear,
    output wire error_x,
    output wire error_model,
    output wire busy
);
    wire [15:0] model;
    wire [2:0] unused_status;
    wire valid, ready, last, error_y, error_frame, training, predicting;

    grid_trainer #(.LANES(2)) trainer_inst (
        .clk(clk), .rst(rst), .s_axis_y_tdata(s_axis_model_tdata), .s_axis_y_tvalid(s_axis_model_tvalid),
        .s_axis_y_tready(s_axis_model_tready), .s_axis_y_tlast(s_axis_model_tlast),
        .m_axis_model_tdata(model), .m_axis_model_tuser(unused_status), .m_axis_model_tvalid(valid),
        .m_axis_model_tready(ready), .m_axis_model_tlast(last), .error_clear(error_clear),
        .error_y(error_y), .busy(training)
    );

    grid_predictor predictor_inst (
        .clk(clk), .rst(rst), .s_axis_x_tdata(s_axis_x_tdata), .s_axis_x_tvalid(s_axis_x_tvalid),
        .s_axis_x_tready(s_axis_x_tready), .s_axis_x_tlast(s_axis_x_tlast), .s_axis_model_tdata(model),
        .s_axis_model_tvalid(valid), .s_axis_model_tready(ready), .s_axis_model_tlast(last),
        .m_axis_f_tdata(m_axis_f_tdata), .m_axis_f_tuser(m_axis_f_tuser), .m_axis_f_tvalid(m_axis_f_tvalid),
        .m_axis_f_tready(m_axis_f_tready), .m_axis_f_tlast(m_axis_f_tlast), .error_clear(error_clear),
        .error_x(error_x), .error_model(error_frame), .busy(predicting)
    );

    assign error_model = error_frame || error_y;
    assign busy = training || predicting;
endmodule

`default_nettype wire
