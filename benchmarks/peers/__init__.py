"""benchmarks.peers: the algorithms once more, in APyTypes and in plain C: what our speed is held against."""
