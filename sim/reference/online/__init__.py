"""sim.reference.online: kernel LMS in float64, with dictionary reduction."""
