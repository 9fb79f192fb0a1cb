"""sim.reference: online kernel LMS in fixed memory, float64.

B. Mitchinson, T. J. Dodd, R. F. Harrison, "Reduction of Kernel Models", ACSE Research Report
836, University of Sheffield, 2003: learning rule (2)-(6), strategy of fixed N_max.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..checks import finite_array, is_integer, is_real, positive
from ..errors import fail
from ..kernels import DistanceKernel, require
from .expansion import Expansion, expand
from .first_row import as_samples
from .reduction import REDUCTIONS, Metric
from .solution import Status

Array = NDArray[np.float64]
IntArray = NDArray[np.int64]

# A stable learner predicts about what it was told.  An error this many times the largest target
# seen, or so large that a square would overflow, is divergence.
_DIVERGED = 1e3
_ERROR_LIMIT = 1e100
_FIRST_CAPACITY = 64


class KernelLMS:
    """A kernel expansion that learns one sample at a time.

    For each sample (x, y), in this order; the integer model and the generated code do the same:

    1. A held vector equals x: that multiplier alone learns, alpha_i += eta e, after the decay of
       all.  Nothing is removed, nothing inserted.
    2. Otherwise, if N = N_max, the reduction removes one vector; its slot becomes free.
    3. f = sum alpha_j k(v_j, x); e = y - f (2); alpha_j *= 1 - eta rho (5); x goes into the free
       slot with alpha = eta e (3), (4), (6).

    Parameters
    ----------
    columns : int
        D, the number of inputs.
    kernel : DistanceKernel
    eta : float
        Learning rate, positive.  With k(x, x) = 1 the rule is unstable from eta = 2 up, and
        earlier where the vectors lie densely.
    rho : float
        Decay of the multipliers (regularisation, or forgetting), 0 <= eta rho <= 1.
    reduction : {"fklms", "none"}
        ``none`` lets N grow without bound.
    budget : int
        N_max, the largest number of expansion vectors; not used by ``none``.
    outputs : tuple of int
        () for scalar y, (K,) for K outputs that share the expansion vectors.

    Attributes
    ----------
    model : Expansion
    metric : Metric or None
    status : Status
        ``diverged`` once an error exceeded a thousand times the largest target seen; the learner then
        keeps its last multipliers and learns no more.

    Raises
    ------
    KerncastError
        E228 eta or rho, E229 budget, E230 reduction, E231 a kernel without the properties needed.

    Notes
    -----
    FKLMS never removes the oldest vector: it is nobody's newer neighbour.  With rho = 0 a stream
    that moves away leaves it in place for good.
    """

    def __init__(self, columns: int, kernel: DistanceKernel, eta: float, rho: float = 0.0,
                 reduction: str = "fklms", budget: int = 100, outputs: tuple[int, ...] = ()) -> None:
        self.kernel = kernel
        self.eta = positive(eta, "eta", "E228", "start with 0.1")
        if not is_real(rho) or not 0.0 <= eta * rho <= 1.0:
            raise fail("E228", "rho is out of range", where="rho", value=rho,
                       allowed=f"0 <= eta rho <= 1, here up to {1.0 / eta:g}", remedy="start with 0")
        self.rho = float(rho)
        if reduction != "none" and reduction not in REDUCTIONS:
            raise fail("E230", "there is no such reduction", where="reduction", value=repr(reduction),
                       allowed=", ".join((*REDUCTIONS, "none")), remedy="use fklms")
        self._reduction = REDUCTIONS.get(reduction)
        self.metric: Metric | None = None
        capacity = _FIRST_CAPACITY
        if self._reduction is not None:
            require(kernel, reduction.upper(), *self._reduction.needs)
            capacity = checked_budget(budget, self._reduction.least_budget)
            self.metric = self._reduction.metric(capacity)
        self.model = Expansion.empty(capacity, columns, kernel, outputs)
        self.status = Status.OK
        self._largest_target = 0.0

    def present(self, x: Array, y: Array | float) -> Array:
        """Learn one sample.

        Parameters
        ----------
        x : ndarray of shape (D,)
        y : float or ndarray of shape (K,)

        Returns
        -------
        f : ndarray of shape () or (K,)
            The prediction for `x`, made before learning from `y`.
        """
        model = self.model
        d2 = model.distances(x)
        twin = int(np.argmin(d2))
        if self.status is not Status.OK:
            return self._output(d2)
        duplicate = bool(d2[twin] == 0.0)
        slot = twin if duplicate else self._make_room()
        if not duplicate:
            d2[slot] = np.inf                                # what was there is no longer held
        f = self._output(d2)
        e = y - f                                            # (2)
        self._largest_target = max(self._largest_target, float(np.max(np.abs(y))))
        if not np.all(np.abs(e) <= min(_DIVERGED * self._largest_target, _ERROR_LIMIT)):  # or NaN
            self.status = Status.DIVERGED
            return f
        model.alpha *= 1.0 - self.eta * self.rho             # (5)
        if duplicate:
            model.alpha[slot] += self.eta * e
        else:
            self._insert(slot, x, self.eta * e, d2)          # (3), (4), (6)
        return f

    def learn(self, X: ArrayLike, y: ArrayLike) -> Array:
        """Present samples in order.

        Parameters
        ----------
        X : array_like of shape (m, D)
        y : array_like of shape (m,) or (m, K)

        Returns
        -------
        f : ndarray of shape (m,) or (m, K)
            Each sample's prediction, made before learning from it.

        Raises
        ------
        KerncastError
            E224 data of the wrong shape or not finite; nothing was learned then.
        """
        X, y = self._checked_inputs(X), finite_array(y, "y", "E224")
        if y.shape != (len(X), *self.model.alpha.shape[1:]):
            raise fail("E224", "the targets do not fit", where="y", value=y.shape,
                       allowed=str((len(X), *self.model.alpha.shape[1:])), remedy="one target per sample")
        return np.array([self.present(x_p, y_p) for x_p, y_p in zip(X, y, strict=True)])

    def predict(self, X: ArrayLike) -> Array:
        """Evaluate (1) for all rows of `X`, shape (m, D); result (m,) or (m, K)."""
        held = self.model.held
        return expand(self.kernel, self._checked_inputs(X), self.model.V[held], self.model.alpha[held])

    def state(self) -> dict[str, Array | IntArray]:
        """Return everything that is remembered, by the names that the integer model uses too."""
        model = self.model
        kept = {} if self.metric is None else self.metric.state()
        return {"count": np.array(model.count), "V": model.V, "alpha": model.alpha,
                "rank": model.rank, **kept}

    def _output(self, d2: Array) -> Array:
        """Evaluate (1) from the distances to every slot; those of free slots are infinite."""
        return np.asarray(self.kernel.of_distance(d2) @ self.model.alpha)

    def _make_room(self) -> int:
        """Return the slot for a new vector; at N = N_max one is removed first (strategy: fixed N_max)."""
        model = self.model
        if self._reduction is None or self.metric is None or model.count < model.capacity:
            return model.count
        slot = self.metric.cheapest(model)
        self._reduction.projection(model, self.kernel, slot)
        model.remove(slot)
        self.metric.removed(model, slot)
        return slot

    def _insert(self, slot: int, x: Array, alpha: Array, d2: Array) -> None:
        self.model.insert(slot, x, alpha)
        if self.metric is not None:
            self.metric.inserted(self.model, slot, d2)
        elif self.model.count == self.model.capacity:
            self.model.grow()

    def _checked_inputs(self, X: ArrayLike) -> Array:
        X, columns = as_samples(X), self.model.V.shape[1]
        if X.shape[1] != columns:
            raise fail("E224", "the samples have another number of columns than the model", where="X",
                       value=X.shape, allowed=f"(m, {columns})", remedy="pass the columns trained with")
        return X


def checked_budget(budget: int, least: int = 1) -> int:
    """Return N_max as an int of at least `least`, else raise E229."""
    if not is_integer(budget) or budget < least:
        raise fail("E229", "the budget of expansion vectors is too small", where="budget", value=budget,
                   allowed=f"an integer >= {least}", remedy="start with 100")
    return int(budget)
