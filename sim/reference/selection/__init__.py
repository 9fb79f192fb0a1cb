"""sim.reference.selection: selection of width, lambda and model.

The selection uses leave-one-out errors, regularisation paths and validation.
"""
