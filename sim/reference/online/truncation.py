"""sim.reference.online: truncation, which discards small or old contributions.

B. Mitchinson, T. J. Dodd, R. F. Harrison, "Reduction of Kernel Models", ACSE Research Report 836, University
of Sheffield, 2003, section 2.  The projection is beta = [I 0] alpha. Magnitude truncation (MT) has the
metric |alpha_N| with fixed lambda_max, number truncation (NT) the same metric with fixed N_max, and age
truncation (AT) the age.
"""

from __future__ import annotations

import numpy as np

from .expansion import Array, Expansion
from .metric import Metric, mask_free, squared_norms


class Magnitude(Metric):
    """Metric lambda_i = |alpha_i|.

    With a local kernel a small coefficient has little effect.
    """

    def deterioration(self, model: Expansion) -> Array:
        """Return |alpha_i|."""
        return mask_free(model, np.sqrt(squared_norms(model.alpha)))


class Age(Metric):
    """Metric lambda_i = -(samples since v_i was inserted).

    With rho > 0 old coefficients have decayed.
    """

    def deterioration(self, model: Expansion) -> Array:
        """Return the negative age; 0 for a vector that has just been inserted."""
        return mask_free(model, (model.born - model.presented).astype(np.float64))


def discard(model: Expansion, slot: int) -> None:
    """Apply beta = [I 0] alpha: discard the coefficient of `slot`."""
    model.alpha[slot] = 0.0
