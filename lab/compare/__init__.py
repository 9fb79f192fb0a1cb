"""lab.compare: ledger, bisection, verification, and recording."""
