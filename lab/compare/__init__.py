"""lab.compare: comparison of back ends, verification, and recordings."""
