"""sim.reference: KLMS, MKLMS and their fast metrics (report 836, section 2.1 and section 5).

KLMS: P. M. L. Drezet, PhD thesis, University of Sheffield, 2001.  MKLMS: T. J. Dodd, V. Kadirkamanathan,
R. F. Harrison, "Function estimation in Hilbert space using sequential projections", 2003.
"""

from __future__ import annotations

import numpy as np

from .expansion import Array, Expansion
from .metric import Metric, of_held, squared_norms


def project_exactly(model: Expansion, slot: int) -> None:
    """Apply beta = [I K_RR^-1 K_RN] alpha (12): the outputs at all retained vectors stay."""
    assert model.gram is not None
    p = model.gram.inverse[:, slot]
    model.alpha -= np.multiply.outer(p / p[slot], model.alpha[slot])
    model.alpha[slot] = 0.0


class KLMS(Metric):
    """lambda_i = kappa_i (13): how far k_i is from what the other kernel functions span, squared."""

    gram = True

    def deterioration(self, model: Expansion) -> Array:
        """Return kappa_i = 1 / (K^-1)_ii."""
        assert model.gram is not None
        with np.errstate(divide="ignore"):  # of free slots the inverse holds 0
            return np.asarray(1.0 / np.diagonal(model.gram.inverse))


class MKLMS(KLMS):
    """lambda_i = kappa_i alpha_i^2: the squared change of the model in the norm of the kernel's space."""

    def deterioration(self, model: Expansion) -> Array:
        """Return kappa_i alpha_i^2."""
        kappa = np.where(model.rank >= 0, super().deterioration(model), 0.0)
        return of_held(model, kappa * squared_norms(model.alpha))


class FastKLMS(Metric):
    """lambda_i = k_ii - |K_iR|^2: kappa_i where K_RR = I (section 5); negative where it is far from it."""

    gram = True

    def deterioration(self, model: Expansion) -> Array:
        """Return k_ii - |K_iR|^2."""
        assert model.gram is not None
        K = model.gram.K
        return of_held(model, 2.0 - np.einsum("ij,ij->i", K, K))  # k_ii = 1 is among the squares


class FastMKLMS(FastKLMS):
    """lambda_i = alpha_i^2 max(0, k_ii - |K_iR|^2): else the largest multipliers went first."""

    def deterioration(self, model: Expansion) -> Array:
        """Return alpha_i^2 max(0, k_ii - |K_iR|^2)."""
        kappa = np.where(model.rank >= 0, super().deterioration(model), 0.0)
        return of_held(model, np.maximum(kappa, 0.0) * squared_norms(model.alpha))
