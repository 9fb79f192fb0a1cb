"""sim.reference.selection: choose the width, lambda and model: leave-one-out errors, paths, validation."""
