"""sim.interop: predictors of models that were trained elsewhere, such as by scikit-learn."""

from .convert import WORDS, Described, described, is_estimator, raw_inputs
from .export import export

__all__ = ["WORDS", "Described", "described", "export", "is_estimator", "raw_inputs"]
