"""sim.reference.systems: forms of storage of K + lambda I, and products with it."""
