"""lab.fitting: search better values for a spec with the integer model."""

from .fit import Fit, fit_spec

__all__ = ["Fit", "fit_spec"]
