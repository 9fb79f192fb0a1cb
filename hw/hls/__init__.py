"""hw.hls: C simulation of the generated HLS C++: its vendors' headers, a compiler, and the program they make."""
