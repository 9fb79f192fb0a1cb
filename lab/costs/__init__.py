"""lab.costs: measure the costs of generated code, and check them against limits."""
