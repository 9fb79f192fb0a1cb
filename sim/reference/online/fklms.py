"""sim.reference: FKLMS and FMKLMS, the fast kernel LMS reductions (report 836, (16) to (18)).

Both parts assume K_RR = I, that is, vectors far apart compared with the width of the kernel.
B. Mitchinson, PhD thesis, University of Sheffield, 2002; report 836, section 2.1.
"""

from __future__ import annotations

import numpy as np

from ...kernels import NEEDS
from .expansion import Array, Expansion, IntArray
from .metric import Metric, of_held, squared_norms

_NONE = -1


class _Neighbours(Metric):
    """What is common to metrics that keep, for each slot, one neighbour and the distance to it.

    Attributes
    ----------
    dist : ndarray of shape (capacity,)
        Distance to the neighbour; infinite where there is none, and for free slots.
    near : ndarray of int64, shape (capacity,)
        The neighbour's slot; -1 where there is none.
    """

    needs = NEEDS["kernel_lms"]
    least = 2

    def __init__(self) -> None:
        self.dist: Array = np.empty(0)
        self.near: IntArray = np.empty(0, dtype=np.int64)

    def _search(self, model: Expansion, slot: int, d2: Array) -> None:
        """Find the neighbour of `slot`, whose distances to all are `d2`, shape (capacity,)."""
        raise NotImplementedError

    def grown(self, capacity: int) -> None:
        """Make room for so many slots."""
        more = (0, capacity - len(self.dist))
        self.dist = np.pad(self.dist, more, constant_values=np.inf)
        self.near = np.pad(self.near, more, constant_values=_NONE)

    def inserted(self, model: Expansion, slot: int, d2: Array) -> None:
        """Find the neighbour of the new vector."""
        self._search(model, slot, d2)

    def removed(self, model: Expansion, slot: int) -> None:
        """Look again for the neighbour of every slot that has lost it."""
        self.dist[slot], self.near[slot] = np.inf, _NONE
        for orphan in np.flatnonzero(self.near == slot):
            self._search(model, int(orphan), model.distances(model.V[orphan]))

    def state(self) -> dict[str, Array | IntArray]:
        """Return `dist` and `near`."""
        return {"dist": self.dist, "near": self.near}


class NearestOlder(_Neighbours):
    """The metric lambda_i = 1 - max_j k_ij (17), found without one kernel value.

    The kernel falls with distance, so the least deterioration belongs to the closest pair, and
    it is enough to keep for each slot its nearest **older** vector, the oldest of several equally
    near: the closest pair is then that of the smallest distance, seen from the newer of its two.
    That one goes; to drop the older instead lets the multipliers grow without bound.  A new vector
    is older than none, so nobody else's neighbour changes when it comes.
    """

    def deterioration(self, model: Expansion) -> Array:
        """Return 1 - max k_ij over the vectors j older than i; 1 for the oldest."""
        return of_held(model, 1.0 - model.kernel.of_distance(self.dist))

    def cheapest(self, model: Expansion) -> tuple[int, float]:
        """Return the slot closest to an older one, the newest of several, never the oldest vector; lambda."""
        younger = np.flatnonzero(model.rank > 0)
        slot = model.newest_of(younger[self.dist[younger] == self.dist[younger].min()])
        return slot, 1.0 - float(model.kernel.of_distance(self.dist[slot]))

    def _search(self, model: Expansion, slot: int, d2: Array) -> None:
        older = np.flatnonzero((model.rank >= 0) & (model.rank < model.rank[slot]))
        if len(older) == 0:
            self.dist[slot], self.near[slot] = np.inf, _NONE
            return
        ties = older[d2[older] == d2[older].min()]
        nearest = ties[np.argmin(model.rank[ties])]
        self.dist[slot], self.near[slot] = d2[nearest], nearest


class Nearest(_Neighbours):
    """The metric lambda_i = alpha_i^2 (1 - max_j k_ij) (18), of FMKLMS: neighbours older and newer."""

    def deterioration(self, model: Expansion) -> Array:
        """Return alpha_i^2 (1 - max_j k_ij)."""
        away = 1.0 - model.kernel.of_distance(self.dist)
        return of_held(model, squared_norms(model.alpha) * away)

    def inserted(self, model: Expansion, slot: int, d2: Array) -> None:
        """The new vector finds its neighbour, and becomes that of all to whom it is nearer."""
        super().inserted(model, slot, d2)
        closer = d2 < self.dist
        closer[slot] = False
        self.dist[closer], self.near[closer] = d2[closer], slot

    def _search(self, model: Expansion, slot: int, d2: Array) -> None:
        others = d2.copy()
        others[slot] = np.inf
        nearest = int(np.argmin(others))
        self.dist[slot] = others[nearest]
        self.near[slot] = nearest if others[nearest] < np.inf else _NONE


def project_on_neighbours(model: Expansion, slot: int) -> None:
    """Apply beta = [I K_RN] alpha (16): alpha_j += alpha_r k(v_j, v_r) for every j but r = `slot`."""
    k = model.kernel.of_distance(model.distances(model.V[slot]))
    k[slot] = 0.0
    model.alpha += np.multiply.outer(k, model.alpha[slot])
