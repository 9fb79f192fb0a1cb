"""sim: the mathematics: spec, plan, formats, primitives, float reference, integer models."""
