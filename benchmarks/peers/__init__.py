"""benchmarks.peers: the algorithms in APyTypes and in plain C, for comparison."""
