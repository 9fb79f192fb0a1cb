"""sim.reference.selection: select the kernel width, lambda and the model.

The modules compute leave-one-out errors, regularisation paths and validation errors.
"""
