"""hw.hls: simulation of the generated HLS C++.

The simulation requires the vendor's header files and a C++ compiler.
"""
