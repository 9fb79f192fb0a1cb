"""hw.rtl: SystemVerilog primitives and their simulation under cocotb."""
