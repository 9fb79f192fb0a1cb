"""sim.reference.selection: selection of width, lambda and model.

It uses leave-one-out errors, paths and validation.
"""
