"""sim.diagnostics: analyse runs of a plan: error budget, word length, baselines."""
