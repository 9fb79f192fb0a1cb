"""lab.fitting: better values for a spec, judged by the integer model."""

from .fit import Fit, fit_spec

__all__ = ["Fit", "fit_spec"]
