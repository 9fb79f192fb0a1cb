"""lab: run, compare, sweep, fit and report a design from its spec."""
