"""sim.reference.selection: selection of width, lambda and model: leave-one-out, paths, validation."""
