"""sim.model.online: the integer model of the online learner, in words and in float32."""
