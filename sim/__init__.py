"""sim: the mathematics of kerncast.

It contains the spec, the plan, the number formats, the primitives, the float reference and the integer
models.
"""
