"""lab: run, compare, sweep, fit and report the designs of a spec."""
