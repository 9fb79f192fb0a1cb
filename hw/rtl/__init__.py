"""hw.rtl: SystemVerilog modules; simulation, synthesis and placement of cores."""
