"""sim.model.toeplitz: the integer model of the Toeplitz trainer and its solvers."""
