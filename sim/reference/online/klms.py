"""sim.reference.online: KLMS, MKLMS and their fast metrics.

B. Mitchinson, T. J. Dodd, R. F. Harrison, "Reduction of Kernel Models", ACSE Research Report 836, University
of Sheffield, 2003, sections 2.1 and 5.  KLMS: P. M. L. Drezet,
PhD thesis, University of Sheffield, 2001. MKLMS: T. J. Dodd, V. Kadirkamanathan, R. F. Harrison, "Function
estimation in Hilbert space using sequential projections", 2003.
"""

from __future__ import annotations

import numpy as np

from .expansion import Array, Expansion
from .metric import Metric, mask_free, squared_norms


def project_exactly(model: Expansion, slot: int) -> None:
    """Apply beta = [I K_RR^-1 K_RN] alpha (12).

    This preserves the outputs at retained vectors.
    """
    assert model.gram is not None
    p = model.gram.inverse[:, slot]
    model.alpha -= np.multiply.outer(p / p[slot], model.alpha[slot])
    model.alpha[slot] = 0.0


class KLMS(Metric):
    """Metric lambda_i = kappa_i, equation (13) of the report.

    The metric is the squared distance of k_i to the span of the other kernel functions.
    """

    gram = True

    def deterioration(self, model: Expansion) -> Array:
        """Return kappa_i = 1 / (K^-1)_ii."""
        assert model.gram is not None
        with np.errstate(divide="ignore"):  # the inverse is 0 in free slots
            return np.asarray(1.0 / np.diagonal(model.gram.inverse))


class MKLMS(KLMS):
    """Metric lambda_i = kappa_i alpha_i^2.

    The metric is the squared change of the model in the RKHS norm.
    """

    def deterioration(self, model: Expansion) -> Array:
        """Return kappa_i alpha_i^2."""
        kappa = np.where(model.rank >= 0, super().deterioration(model), 0.0)
        return mask_free(model, kappa * squared_norms(model.alpha))


class FastKLMS(Metric):
    """The metric lambda_i = k_ii - |K_iR|^2, which is kappa_i if K_RR = I (section 5)."""

    gram = True

    def deterioration(self, model: Expansion) -> Array:
        """Return k_ii - |K_iR|^2, which is negative if K_RR is far from I."""
        assert model.gram is not None
        K = model.gram.K
        return mask_free(model, 2.0 - np.einsum("ij,ij->i", K, K))  # k_ii = 1 is among the squares


class FastMKLMS(FastKLMS):
    """The metric lambda_i = alpha_i^2 max(0, k_ii - |K_iR|^2)."""

    def deterioration(self, model: Expansion) -> Array:
        """Return alpha_i^2 max(0, k_ii - |K_iR|^2)."""
        kappa = np.where(model.rank >= 0, super().deterioration(model), 0.0)
        return mask_free(model, np.maximum(kappa, 0.0) * squared_norms(model.alpha))
