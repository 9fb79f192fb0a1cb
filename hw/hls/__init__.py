"""hw.hls: simulation of the generated HLS C++.

It needs the vendor's headers, a compiler and the testbench.
"""
