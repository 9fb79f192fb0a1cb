"""hw.hls: C simulation of the generated HLS C++: the vendors' headers, a compiler, their program."""
