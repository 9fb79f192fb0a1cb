"""sim.reference: the contract of deterioration metrics (report 836, section 2).

A metric says how much worse the model becomes by the removal of a vector.  Those that look at
multipliers take the 2-norm over the outputs where there are several.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from .expansion import Array, Expansion, IntArray

# Of two vectors that are alike but for rounding the newer goes.
_TIE = 1e-12


class Metric:
    """The deterioration lambda of each vector, and what must be remembered to know it."""

    #: Properties of :class:`...kernels.Kernel` that it builds on.
    needs: ClassVar[tuple[str, ...]] = ()
    #: The smallest N for which it is defined.
    least: ClassVar[int] = 1
    #: Whether it reads `model.gram`.
    gram: ClassVar[bool] = False

    def deterioration(self, model: Expansion) -> Array:
        """Return lambda of every slot, shape (capacity,); infinite for free ones."""
        raise NotImplementedError

    def cheapest(self, model: Expansion) -> tuple[int, float]:
        """Return the slot of least deterioration, the newest of several, and its lambda."""
        lam = self.deterioration(model)
        least = float(lam.min())
        slot = model.newest_of(np.flatnonzero(lam <= least + _TIE * abs(least)))
        return slot, float(lam[slot])

    def grown(self, capacity: int) -> None:
        """There are so many slots now; called once before all else."""

    def inserted(self, model: Expansion, slot: int, d2: Array) -> None:
        """`slot` was filled; `d2`, shape (capacity,), holds its distances to the vectors held before."""

    def removed(self, model: Expansion, slot: int) -> None:
        """`slot` was freed."""

    def state(self) -> dict[str, Array | IntArray]:
        """Return the arrays it keeps, one value per slot, by name."""
        return {}


def squared_norms(alpha: Array) -> Array:
    """|alpha_i|^2 over the outputs: of (N,) or (N, K), shape (N,)."""
    return np.asarray(alpha * alpha if alpha.ndim == 1 else np.sum(alpha * alpha, axis=1))


def of_held(model: Expansion, lam: Array) -> Array:
    """`lam` with infinity for free slots."""
    return np.where(model.rank >= 0, lam, np.inf)
