"""sim.reference.solvers: solvers of (K + lambda I) alpha = y."""
