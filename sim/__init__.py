"""sim: the mathematics of kerncast.

Spec, plan, formats, primitives, float reference and integer models.
"""
