"""lab.costs: measure what generated code costs, and hold it to resource limits."""
