"""hw.rtl.benches: cocotb testbenches that run inside the simulator."""
