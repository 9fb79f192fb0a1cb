"""sim.reference: truncation, reductions that discard what contributes little (report 836, section 2).

With the projection beta = [I 0] alpha, magnitude truncation (MT) is the metric |alpha_N| at fixed
lambda_max, number truncation (NT) the same at fixed N_max, and age truncation (AT) goes by age.
"""

from __future__ import annotations

import numpy as np

from .expansion import Array, Expansion
from .metric import Metric, of_held, squared_norms


class Magnitude(Metric):
    """lambda_i = |alpha_i|: of a kernel with local support a small multiplier contributes little."""

    def deterioration(self, model: Expansion) -> Array:
        """Return |alpha_i|."""
        return of_held(model, np.sqrt(squared_norms(model.alpha)))


class Age(Metric):
    """lambda_i = -(samples presented since v_i came): with rho > 0 the old has faded."""

    def deterioration(self, model: Expansion) -> Array:
        """Return the negative age; 0 for a vector that has just come."""
        return of_held(model, (model.born - model.presented).astype(np.float64))


def discard(model: Expansion, slot: int) -> None:
    """Apply beta = [I 0] alpha: nobody inherits the multiplier of `slot`."""
    model.alpha[slot] = 0.0
