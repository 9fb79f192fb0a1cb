"""sim: the mathematics of kerncast.

It consists of spec, plan, formats, primitives, float reference and integer models.
"""
