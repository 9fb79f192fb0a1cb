"""sim.reference.online: correct a prediction using the last errors.

S. Haykin, "Adaptive Filter Theory", 5th edition, 2014, chapter 7 (normalised LMS).
"""

from __future__ import annotations

import numpy as np

from ..._arrays import Array
from ..._checks import is_integer
from ...errors import fail

#: Step of the normalised LMS, samples that the gate averages over, and the range of the number of errors.
STEP, GATE_SAMPLES, ORDERS = 1 / 128, 256, (2, 16)


class LastErrors:
    """Predict the next error e from the last errors, as ``g sum_i a_i e_i``.

    Normalised LMS learns a, and g is the ratio of the sums of e c and c^2 over about 256 samples, from 0 to
    1, with c the predicted error before g.

    Parameters
    ----------
    order : int
        Number of last errors, 2 to 16.
    outputs : tuple of int
        () for scalar targets, (K,) for K.

    Raises
    ------
    KerncastError
        E258 if `order` is out of range.
    """

    def __init__(self, order: int, outputs: tuple[int, ...]) -> None:
        if not is_integer(order) or not ORDERS[0] <= order <= ORDERS[1]:
            raise fail("E258", "last_errors is out of range", where="last_errors", value=order,
                       allowed=f"an integer, {ORDERS[0]} to {ORDERS[1]}", remedy="start with 6, or omit it")
        self.past: Array = np.zeros((order, *outputs))
        self.weights: Array = np.zeros((order, *outputs))
        self._sums = np.zeros((2, *outputs))

    def predict(self) -> Array:
        """Return the predicted error, shape `outputs`."""
        product, power = self._sums
        with np.errstate(invalid="ignore", divide="ignore"):
            gain = np.where(product > 0.0, np.minimum(product / power, 1.0), 0.0)
        return np.asarray(gain * np.sum(self.weights * self.past, axis=0))

    def correct(self, f: Array, y: Array | float) -> Array:
        """Return a corrected prediction, and learn its error before the correction."""
        corrected = f + self.predict()
        self._learn(np.asarray(y - f))
        return corrected

    def _learn(self, error: Array) -> None:
        part = np.sum(self.weights * self.past, axis=0)
        self._sums = self._sums * (1.0 - 1.0 / GATE_SAMPLES) + np.stack([error * part, part**2])
        power = np.sum(self.past**2, axis=0)
        self.weights += STEP * (error - part) * self.past / np.where(power > 0.0, power, 1.0)
        self.past = np.concatenate([error[np.newaxis], self.past[:-1]])
