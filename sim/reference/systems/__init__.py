"""sim.reference.systems: how the matrix K + lambda I is stored and multiplied."""
