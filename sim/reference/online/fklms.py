"""sim.reference.online: FKLMS and FMKLMS, the fast kernel LMS reductions.

Both assume K_RR = I, that is, distances between vectors much larger than the kernel width.
B. Mitchinson, PhD thesis, University of Sheffield, 2002; B. Mitchinson, T. J. Dodd, R. F. Harrison,
"Reduction of Kernel Models", ACSE Research Report 836, University of Sheffield, 2003, section 2.1,
equations (16) to (18).
"""

from __future__ import annotations

import numpy as np

from ...kernels import NEEDS
from .expansion import Array, Expansion, IntArray
from .metric import Metric, mask_free, squared_norms

_NONE = -1
#: Sum of squared kernel values up to which a guarded projection continues.
_GUARD = 2.0


class _Neighbours(Metric):
    """Base class of metrics that store one neighbour and its distance per slot.

    Attributes
    ----------
    dist : ndarray of shape (capacity,)
        Distance to the neighbour; infinite without one, and for free slots.
    near : ndarray of int64, shape (capacity,)
        The neighbour's slot; -1 without one.
    """

    needs = NEEDS["kernel_lms"]
    least = 2

    def __init__(self) -> None:
        self.dist: Array = np.empty(0)
        self.near: IntArray = np.empty(0, dtype=np.int64)

    def _search(self, model: Expansion, slot: int, d2: Array) -> None:
        """Find the neighbour of `slot` from its distances `d2` to all, shape (capacity,)."""
        raise NotImplementedError

    def resize(self, capacity: int) -> None:
        """Increase the number of slots to `capacity`."""
        more = (0, capacity - len(self.dist))
        self.dist = np.pad(self.dist, more, constant_values=np.inf)
        self.near = np.pad(self.near, more, constant_values=_NONE)

    def on_insert(self, model: Expansion, slot: int, d2: Array) -> None:
        """Find the neighbour of the new vector."""
        self._search(model, slot, d2)

    def on_remove(self, model: Expansion, slot: int) -> None:
        """Relink every slot that has lost its neighbour."""
        self.dist[slot], self.near[slot] = np.inf, _NONE
        for orphan in np.flatnonzero(self.near == slot):
            self._search(model, int(orphan), model.distances(model.V[orphan]))

    def state(self) -> dict[str, Array | IntArray]:
        """Return each slot's distance `dist` to its neighbour `near`."""
        return {"dist": self.dist, "near": self.near}


class NearestOlder(_Neighbours):
    """The metric lambda_i = 1 - max_j k_ij (17), from distances without kernel values.

    The kernel decreases with distance, so the closest pair has the least deterioration.  It suffices to store
    the nearest **older** vector of each slot (ties select the oldest): the slot with the smallest distance
    is then the newer vector of the closest pair, which is removed.  Removing the older one instead would
    let the coefficients grow without bound.  A new vector is not older than any other, so no other
    neighbour changes on insertion.
    """

    def deterioration(self, model: Expansion) -> Array:
        """Return 1 - max k_ij over the vectors j older than i; 1 for the oldest."""
        return mask_free(model, 1.0 - model.kernel.of_distance(self.dist))

    def select_victim(self, model: Expansion) -> tuple[int, float]:
        """Return the slot closest to an older one, and its lambda; ties select the newest."""
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
    """Metric lambda_i = alpha_i^2 (1 - max_j k_ij) (18), of FMKLMS.

    Neighbours may be older or newer.
    """

    def deterioration(self, model: Expansion) -> Array:
        """Return alpha_i^2 (1 - max_j k_ij)."""
        away = 1.0 - model.kernel.of_distance(self.dist)
        return mask_free(model, squared_norms(model.alpha) * away)

    def on_insert(self, model: Expansion, slot: int, d2: Array) -> None:
        """Link the new vector to its nearest one.

        Vectors that are closer to the new vector than to their neighbour are linked to it.
        """
        super().on_insert(model, slot, d2)
        closer = d2 < self.dist
        closer[slot] = False
        self.dist[closer], self.near[closer] = d2[closer], slot

    def _search(self, model: Expansion, slot: int, d2: Array) -> None:
        others = d2.copy()
        others[slot] = np.inf
        nearest = int(np.argmin(others))
        self.dist[slot] = others[nearest]
        self.near[slot] = nearest if others[nearest] < np.inf else _NONE


def project_within_guard(model: Expansion, slot: int) -> bool:
    """Apply (16) to the first vectors whose squared kernel values sum to at most 2.

    The order is that of the slots. If K_RR = I, the sum over all vectors is at most 1. Beyond 2 a
    projection adds more error than it removes. Return whether vectors were omitted.
    """
    k = model.kernel.of_distance(model.distances(model.V[slot]))
    k[slot] = 0.0
    outside = np.cumsum(k * k) > _GUARD
    k[outside] = 0.0
    model.alpha += np.multiply.outer(k, model.alpha[slot])
    return bool(outside[model.held].any()) and bool(np.any(model.alpha[slot] != 0.0))


def project_on_neighbours(model: Expansion, slot: int) -> None:
    """Apply beta = [I K_RN] alpha (16).

    This is alpha_j += alpha_r k(v_j, v_r) for every j except r = `slot`.
    """
    k = model.kernel.of_distance(model.distances(model.V[slot]))
    k[slot] = 0.0
    model.alpha += np.multiply.outer(k, model.alpha[slot])
