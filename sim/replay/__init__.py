"""sim.replay: comparison of runs: test vectors, traces, saved states."""
