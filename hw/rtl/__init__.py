"""hw.rtl: the SystemVerilog primitives, and their simulation under cocotb."""
