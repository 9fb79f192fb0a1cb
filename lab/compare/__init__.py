"""lab.compare: compare back ends: ledger, bisection, verification, recordings."""
