"""sim: array types for real numbers, fixed-point values and ADC counts."""

import numpy as np
from numpy.typing import NDArray

#: Real numbers of the reference, in float64.
Array = NDArray[np.float64]
#: Fixed-point values as integers, whatever their word length.
Words = NDArray[np.int64]
#: ADC counts.
Raw = NDArray[np.int64]
#: Numbers of a learner in float32.
Floats = NDArray[np.float32]
#: Real numbers in float64 or float32.
Reals = NDArray[np.floating]
