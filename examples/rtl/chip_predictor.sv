// A chip that trains itself: it reads ADC counts of targets and inputs, and outputs predictions.
//
//   kerncast gen examples/rtl/grid.toml -o build/grid --core trainer --core predictor
//   cd build/grid/rtl && iverilog -g2012 -y . -Y .sv ../../../examples/rtl/chip_predictor.sv
//
// The trainer sends the model in the frame that the predictor reads, so a wire connects them.  The predictor
// reads no sample while it receives a model.
`default_nettype none

module chip_predictor (
    input  wire clk,
    input  wire rst,

    input  wire [15:0] s_axis_model_tdata,    // targets as ADC counts, u12f0: 8 per training
    input  wire s_axis_model_tvalid,
    output wire s_axis_model_tready,
    input  wire s_axis_model_tlast,

    input  wire [7:0] s_axis_x_tdata,         // an input as ADC count, u8f0
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
