"""sim.reference.online: the interface of deterioration metrics.

A metric is the deterioration of the model due to the removal of a vector (B. Mitchinson, T. J. Dodd, R. F.
Harrison, "Reduction of Kernel Models", ACSE Research Report 836, University of Sheffield, 2003, section 2).
Metrics of the coefficients use their 2-norm over several outputs.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from .expansion import Array, Expansion, IntArray

# Of two vectors that are equal within rounding the newer is removed.
_TIE = 1e-12


class Metric:
    """Deterioration lambda of each vector, with the state needed to compute it."""

    #: Required properties of :class:`...kernels.Kernel`.
    needs: ClassVar[tuple[str, ...]] = ()
    #: The smallest N for which it is defined.
    least: ClassVar[int] = 1
    #: Whether it reads `model.gram`.
    gram: ClassVar[bool] = False

    def deterioration(self, model: Expansion) -> Array:
        """Return lambda of every slot, shape (capacity,); infinite for a free slot."""
        raise NotImplementedError

    def select_victim(self, model: Expansion) -> tuple[int, float]:
        """Return the slot with the smallest deterioration, and its lambda.

        Ties select the newest.
        """
        lam = self.deterioration(model)
        least = float(lam.min())
        slot = model.newest_of(np.flatnonzero(lam <= least + _TIE * abs(least)))
        return slot, float(lam[slot])

    def resize(self, capacity: int) -> None:
        """Adapt to a new number of slots; called once before all other methods."""

    def on_insert(self, model: Expansion, slot: int, d2: Array) -> None:
        """Update the metric after a new vector in `slot`.

        `d2`, shape (capacity,), contains its distances to the others.
        """

    def on_remove(self, model: Expansion, slot: int) -> None:
        """Adapt to the removal of the vector in `slot`."""

    def state(self) -> dict[str, Array | IntArray]:
        """Return the metric's arrays by name, with one value per slot."""
        return {}


def squared_norms(alpha: Array) -> Array:
    """Return the sum of alpha_ik^2 over the outputs k, shape (N,).

    `alpha` has the shape (N,) or (N, K).
    """
    return np.asarray(alpha * alpha if alpha.ndim == 1 else np.sum(alpha * alpha, axis=1))


def mask_free(model: Expansion, lam: Array) -> Array:
    """Return `lam` with infinity for free slots."""
    return np.where(model.rank >= 0, lam, np.inf)
