"""hw.rtl: SystemVerilog modules, and their simulation, synthesis and placement."""
