"""sim.reference: what a set reduction is made of (report 836, section 2), and the list of them.

The report takes a reduction apart into a deterioration **metric** (which vector does least harm
by going), a **projection** (who inherits its multiplier) and a strategy (when one goes; here
fixed N_max, in :mod:`.kernel_lms`).  A new reduction is one file with its metric or projection,
and one row in `REDUCTIONS`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from ..kernels import NEEDS, DistanceKernel
from .expansion import Array, Expansion, IntArray
from .fklms import NearestOlder, project_on_neighbours

#: Distributes the multiplier of a slot that is about to be removed among the others.
Projection = Callable[[Expansion, DistanceKernel, int], None]


class Metric(Protocol):
    """The deterioration metric lambda, kept up to date as vectors come and go."""

    def cheapest(self, model: Expansion) -> int:
        """Return the slot whose removal deteriorates the model least."""

    def inserted(self, model: Expansion, slot: int, d2: Array) -> None:
        """`slot` was filled; `d2`, shape (capacity,), holds its distances to the held ones."""

    def removed(self, model: Expansion, slot: int) -> None:
        """`slot` was freed."""

    def state(self) -> dict[str, Array | IntArray]:
        """Return the arrays it keeps, one value per slot, by name."""


@dataclass(frozen=True)
class Reduction:
    """A way to remove vectors.

    Attributes
    ----------
    name : str
    metric : callable
        Makes the metric for a number of slots.
    projection : callable
    needs : tuple of str
        The properties of :class:`..kernels.Kernel` that it builds on.
    least_budget : int
        The smallest N_max for which it is defined.
    """

    name: str
    metric: Callable[[int], Metric]
    projection: Projection
    needs: tuple[str, ...]
    least_budget: int


REDUCTIONS: dict[str, Reduction] = {
    "fklms": Reduction("fklms", NearestOlder, project_on_neighbours,
                       needs=NEEDS["kernel_lms"], least_budget=2),
}
