"""sim.diagnostics: analyse a plan: error budget, word length, and baselines."""
