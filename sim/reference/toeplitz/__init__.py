"""sim.reference.toeplitz: solvers of Toeplitz systems."""
