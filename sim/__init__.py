"""The mathematics: spec, plan, formats, primitives, float reference, integer models; no other room."""
