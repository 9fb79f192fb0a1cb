"""lab.compare: compare back ends with the integer model; verify and record."""
