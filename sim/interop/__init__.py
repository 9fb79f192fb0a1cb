"""sim.interop: import models trained elsewhere, such as with scikit-learn."""

from .convert import WORDS, ConvertedEstimator, convert_estimator, is_estimator, raw_inputs
from .export import export

__all__ = ["WORDS", "ConvertedEstimator", "convert_estimator", "export", "is_estimator", "raw_inputs"]
