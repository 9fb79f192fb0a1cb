"""sim.reference.solvers: solvers of the kernel system (K + lambda I) alpha = y."""
