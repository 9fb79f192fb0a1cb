"""sim.replay: what makes two runs comparable: test vectors, traces, saved states."""
