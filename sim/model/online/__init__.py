"""sim.model.online: the integer and float32 models of the online learner."""
