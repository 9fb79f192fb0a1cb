"""sim.diagnostics: runs of a plan: error budget, word length, input rounding."""
