"""lab.costs: measured costs of generated code, and checks of resource limits."""
