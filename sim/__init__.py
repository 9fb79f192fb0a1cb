"""sim: the mathematics: spec, plan, formats, primitives, float reference and integer models."""
