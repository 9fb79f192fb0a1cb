"""The SystemVerilog primitives and their simulation under cocotb."""
