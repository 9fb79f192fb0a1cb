"""sim.replay: test vectors, traces and saved states, to compare runs."""
