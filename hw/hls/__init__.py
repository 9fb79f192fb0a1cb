"""hw.hls: simulation of the generated HLS C++.

The simulation needs the vendor's headers and a C++ compiler.
"""
