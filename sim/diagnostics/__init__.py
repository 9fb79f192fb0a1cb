"""sim.diagnostics: run a plan and judge it: error budget, word length, input rounding."""
