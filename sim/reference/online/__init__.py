"""sim.reference.online: kernel LMS and its reductions in float64."""
