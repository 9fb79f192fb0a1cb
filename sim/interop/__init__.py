"""sim.interop: predictors of models that were trained elsewhere, such as by scikit-learn."""

from .described import Described, described, is_estimator, raw_inputs
from .export import export

__all__ = ["Described", "described", "export", "is_estimator", "raw_inputs"]
