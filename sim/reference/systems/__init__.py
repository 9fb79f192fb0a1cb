"""sim.reference.systems: storage of the matrix K + lambda I and products with it."""
