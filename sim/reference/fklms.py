"""sim.reference: FKLMS, the fast kernel LMS reduction (report 836, equations (16) and (17)).

Both parts assume K_RR = I, that is, vectors far apart compared with the width of the kernel.
B. Mitchinson, PhD thesis, University of Sheffield, 2002; report 836, section 2.1.
"""

from __future__ import annotations

import numpy as np

from ..kernels import DistanceKernel
from .expansion import Array, Expansion, IntArray

_NONE = -1


class NearestOlder:
    """The metric lambda_i = 1 - max_j k_ij (17), found without one kernel value.

    The kernel falls with distance, so the least deterioration belongs to the closest pair, and
    it is enough to keep for each slot the distance to its nearest **older** vector: the closest
    pair is then the smallest of these, seen from the newer of its two.  That one goes; to drop
    the older instead lets the multipliers grow without bound.

    Attributes
    ----------
    dist : ndarray of shape (capacity,)
        Distance to the nearest older vector; infinite for the oldest and for free slots.
    near : ndarray of int64, shape (capacity,)
        The slot of that vector, the oldest of several equally near; -1 where there is none.
    """

    def __init__(self, capacity: int) -> None:
        self.dist: Array = np.full(capacity, np.inf)
        self.near: IntArray = np.full(capacity, _NONE, dtype=np.int64)

    def cheapest(self, model: Expansion) -> int:
        """Return the slot closest to an older one; the newest of several; never the oldest vector."""
        younger = np.flatnonzero(model.rank > 0)
        ties = younger[self.dist[younger] == self.dist[younger].min()]
        return int(ties[np.argmax(model.rank[ties])])

    def inserted(self, model: Expansion, slot: int, d2: Array) -> None:
        """All vectors are older than the new one, so the others need no second look."""
        self._scan(model, slot, d2)

    def removed(self, model: Expansion, slot: int) -> None:
        """Look again for the neighbour of every slot that has lost it."""
        self.dist[slot], self.near[slot] = np.inf, _NONE
        for orphan in np.flatnonzero(self.near == slot):
            self._scan(model, int(orphan), model.distances(model.V[orphan]))

    def state(self) -> dict[str, Array | IntArray]:
        """Return `dist` and `near`."""
        return {"dist": self.dist, "near": self.near}

    def _scan(self, model: Expansion, slot: int, d2: Array) -> None:
        older = np.flatnonzero((model.rank >= 0) & (model.rank < model.rank[slot]))
        if len(older) == 0:
            self.dist[slot], self.near[slot] = np.inf, _NONE
            return
        ties = older[d2[older] == d2[older].min()]
        nearest = ties[np.argmin(model.rank[ties])]
        self.dist[slot], self.near[slot] = d2[nearest], nearest


def project_on_neighbours(model: Expansion, kernel: DistanceKernel, slot: int) -> None:
    """Apply beta = [I K_RN] alpha (16): alpha_j += alpha_r k(v_j, v_r) for every j but r = `slot`."""
    k = kernel.of_distance(model.distances(model.V[slot]))
    k[slot] = 0.0
    model.alpha += np.multiply.outer(k, model.alpha[slot])
