"""lab.fitting: search for better hyperparameters of a spec with the integer model."""

from .fit import Fit, fit_spec

__all__ = ["Fit", "fit_spec"]
