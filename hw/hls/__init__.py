"""hw.hls: simulate the generated HLS C++: vendor headers, compiler, testbench."""
