"""sim.reference.online: online kernel LMS in fixed memory, float64.

B. Mitchinson, T. J. Dodd, R. F. Harrison, "Reduction of Kernel Models", ACSE Research Report
836, University of Sheffield, 2003: learning rule (2)-(6), and the order in which reductions act.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..._arrays import Array
from ..._checks import finite_array, is_integer, is_real, positive
from ...errors import fail
from ...kernels import DistanceKernel
from ..first_row import as_samples
from ..result import Status
from .expansion import Expansion, expand
from .last_errors import LastErrors
from .linear import LinearPart
from .reduction import FixedDeterioration, FixedNumber, Parts, Reduction

IntArray = NDArray[np.int64]

# Predictions of a stable learner are about as large as the targets.  An error this many times the largest
# target so far, or so large that its square would overflow, is divergence.
_DIVERGED = 1e3
_ERROR_LIMIT = 1e100
_FIRST_CAPACITY = 64
#: Samples that the gate averages over.
GATE_SAMPLES = 64


def stable_eta(rho: float) -> float:
    """Return the stability limit of eta if k(x, x) = 1: eta (1 + rho) = 2.

    Equations (2) to (6) multiply the difference from a model that fits the sample by
    (1 - eta rho) I - eta k_x k_x', whose eigenvalues are 1 - eta rho and 1 - eta rho - eta.  A reduction
    may cause divergence earlier.
    """
    return 2.0 / (1.0 + rho)


class History(NamedTuple):
    """Arrays with an entry per training sample.

    Attributes
    ----------
    error : ndarray of shape (m,) or (m, K)
        The error e_p (2).
    N : ndarray of int64, shape (m,)
        Number of vectors after the sample.
    deterioration : ndarray of shape (m,)
        lambda of the removed vector, by the metric of the reduction, the largest of several;
        NaN if none was removed.
    """

    error: Array
    N: IntArray
    deterioration: Array


class KernelLMS:
    """Kernel expansion that learns one sample at a time.

    For each sample (x, y), in this order; the integer model and the generated code do the same:

    1. If x equals a vector of the dictionary, or its nearest vector has a kernel value of at least `quantise`
       (B. Chen, S. Zhao, P. Zhu, J. C. Principe, "Quantized Kernel Least Mean Square Algorithm", IEEE Trans.
       Neural Networks and Learning Systems 23(1), 2012), only the coefficient of that vector is updated,
       alpha_i += eta e, after the decay of all.  No vector is removed or inserted.
    2. Otherwise, if N = N_max, the reduction removes one vector.
    3. f = sum alpha_j k(v_j, x); e = y - f (2); alpha_j *= 1 - eta rho (5); x goes into the first free
       slot with alpha = eta e (3), (4), (6).  With a linear part f also includes w.(1, x), before its update.
    4. Truncations, and the reduction with fixed lambda_max, remove vectors.
    5. The linear part learns y; if `joint`, y minus the sum of the expansion.

    Parameters
    ----------
    columns : int
        D, the number of inputs.
    kernel : DistanceKernel
    eta : float
        Learning rate, positive.  With k(x, x) = 1 the rule is unstable from :func:`stable_eta` upwards,
        and earlier with a reduction whose assumptions do not hold.
    rho : float
        Decay of the coefficients (regularisation, or forgetting), 0 <= eta rho <= 1.
    reduction : str
        A row of :data:`kerncast.sim.choices.REDUCTIONS`, or ``none``, which lets N grow without bound.
    budget : int or None
        N_max, the dictionary size; ignored by ``none``.
    outputs : tuple of int
        () for scalar y, (K,) for K outputs that share the expansion vectors.
    quantise : float, optional
        Smallest kernel value at which a sample updates its nearest vector.
    linear : SquareRootRLS or NormalisedLMS, optional
        Linear part of the model.
    joint : bool
        Whether the linear part learns the error of the expansion instead of y.
    gate : bool
        Whether a prediction is f_L + g f_K, where f_L is the linear part, f_K the expansion, and g the ratio
        of the sums of (y - f_L) f_K and f_K^2 over about 64 samples, from 0 to 1.  The gate does not
        change how both parts learn.
    last_errors : int, optional
        Correct predictions by this number of last errors, if there is a linear part; samples are then in
        order of time, and :meth:`predict` predicts the one after the last learned.
    **parts
        The other fields of :class:`.reduction.Parts`.

    Attributes
    ----------
    model : Expansion
    reductions : tuple of Reduction
    status : Status
        ``diverged`` once an error exceeded a thousand times the largest target so far; the learner then
        stops and retains its last coefficients.  ``full`` once, with newest_only, the newest vector was
        removed because the dictionary was full.  ``inaccurate`` once the guard stopped a projection.
    history : History
        History of the last call of `learn`.

    Raises
    ------
    KerncastError
        E224 columns, E228 eta or rho, E229 budget, E230 for an unknown name, E231 for a kernel
        without the required properties, E258 for another option.

    Notes
    -----
    FKLMS uses distances only and never removes the oldest vector, because there is no older one.  If the
    inputs of a stream drift, outdated vectors stay because they are far from others, and new ones are
    removed: with rho > 0 their coefficients decay, but only `truncation` or `max_age` removes them.
    Metrics that use coefficients remove them without these options.
    """

    def __init__(self, columns: int, kernel: DistanceKernel, eta: float, rho: float = 0.0,
                 reduction: str = "fklms", budget: int | None = 100, outputs: tuple[int, ...] = (),
                 quantise: float | None = None, linear: LinearPart | None = None, joint: bool = False,
                 gate: bool = False, last_errors: int | None = None, **parts: Any) -> None:
        if not is_integer(columns) or columns < 1:
            raise fail("E224", "the model has no input columns", where="columns", value=columns,
                       allowed="an integer >= 1", remedy="give every sample at least one column")
        self.kernel = kernel
        self.eta = positive(eta, "eta", "E228", "start with 0.1")
        if not is_real(rho) or not 0.0 <= eta * rho <= 1.0:
            raise fail("E228", "rho is out of range", where="rho", value=rho,
                       allowed=f"0 to {1.0 / eta:g}, so that eta rho is at most 1", remedy="start with 0")
        self.rho = float(rho)
        if quantise is not None and (not is_real(quantise) or not 0.0 < quantise < 1.0):
            raise fail("E258", "`quantise` is out of range", where="quantise", value=quantise,
                       allowed="a number above 0 and below 1", remedy="start with 0.8, or omit it")
        self.quantise = quantise
        self.linear, self.joint, self.gate = linear, joint, gate
        self._gate_sums = np.zeros((2, *outputs))
        self.errors = None if last_errors is None or linear is None else LastErrors(last_errors, outputs)
        self.reductions = Parts(reduction, budget, **parts).build(kernel)
        self._metrics = tuple({id(r.metric): r.metric for r in self.reductions}.values())
        limits = [r.strategy.limit for r in self.reductions if isinstance(r.strategy, FixedNumber)]
        gram = any(r.projection.gram or r.metric.gram for r in self.reductions)
        self.model = Expansion(limits[0] if limits else _FIRST_CAPACITY, columns, kernel, outputs, gram)
        for metric in self._metrics:
            metric.resize(self.model.capacity)
        self.status = Status.OK
        self.history = History(np.zeros((0, *outputs)), np.zeros(0, dtype=np.int64), np.zeros(0))
        self._largest_target = 0.0
        self._deterioration = -np.inf

    def present(self, x: Array, y: Array | float) -> Array:
        """Learn one sample.

        Parameters
        ----------
        x : ndarray of shape (D,)
        y : float or ndarray of shape (K,)

        Returns
        -------
        f : ndarray of shape () or (K,)
            The prediction for `x` before learning `y`.
        """
        model = self.model
        d2 = model.distances(x)
        twin = model.oldest_of(np.flatnonzero(d2 == d2.min()))
        self._deterioration = -np.inf
        if self.status is Status.DIVERGED:
            return np.asarray(self.predict(x[np.newaxis])[0])
        duplicate = bool(d2[twin] == 0.0) or (
            self.quantise is not None and bool(self.kernel.of_distance(d2[twin]) >= self.quantise))
        if not duplicate:
            for slot in self._reduce(before=True):
                d2[slot] = np.inf                            # that vector has been removed
        expansion = self._output(d2)
        linear = np.zeros_like(expansion) if self.linear is None else self.linear.predict(x)
        f = expansion + linear
        e = y - f                                            # (2)
        self._largest_target = max(self._largest_target, float(np.max(np.abs(y))))
        if not np.all(np.abs(e) <= min(_DIVERGED * self._largest_target, _ERROR_LIMIT)):  # or NaN
            self.status = Status.DIVERGED
            return f
        model.presented += 1
        model.alpha *= 1.0 - self.eta * self.rho             # (5)
        if duplicate:
            model.alpha[twin] += self.eta * e
        else:
            self._insert(x, self.eta * e, d2)                # (3), (4), (6)
        self._reduce(before=False)
        if self.linear is not None:
            self.linear.learn(x, y - expansion if self.joint else y)
        if self.gate:
            f = linear + self.gain * expansion
            self._gate_sums *= 1.0 - 1.0 / GATE_SAMPLES
            self._gate_sums += np.stack([(y - linear) * expansion, expansion**2])
        return f if self.errors is None else self.errors.correct(f, y)

    @property
    def gain(self) -> Array:
        """Return the factor g of the expansion, shape () or (K,); 1 without a gate."""
        product, power = self._gate_sums
        if not self.gate:
            return np.ones_like(power)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(product > 0.0, np.minimum(product / power, 1.0), 0.0)

    def learn(self, X: ArrayLike, y: ArrayLike) -> Array:
        """Present samples in order.

        Parameters
        ----------
        X : array_like of shape (m, D)
        y : array_like of shape (m,) or (m, K)

        Returns
        -------
        f : ndarray of shape (m,) or (m, K)
            The prediction for each sample before learning it.

        Raises
        ------
        KerncastError
            E224 if the data have the wrong shape or are not finite; then nothing is learned.
        """
        X, y = self._checked_inputs(X), finite_array(y, "y", "E224")
        if y.shape != (len(X), *self.model.alpha.shape[1:]):
            raise fail("E224", "the shape of the targets does not match the samples", where="y",
                       value=y.shape,
                       allowed=str((len(X), *self.model.alpha.shape[1:])),
                       remedy="pass one target per sample")
        f, N, deterioration = np.zeros(y.shape), np.zeros(len(X), dtype=np.int64), np.zeros(len(X))
        for p, (x_p, y_p) in enumerate(zip(X, y, strict=True)):
            f[p], N[p], deterioration[p] = self.present(x_p, y_p), self.model.count, self._deterioration
        deterioration[np.isneginf(deterioration)] = np.nan
        self.history = History(y - f, N, deterioration)
        return f

    def predict(self, X: ArrayLike) -> Array:
        """Evaluate (1) for all rows of `X` (m, D); return (m,) or (m, K)."""
        held, X = self.model.held, self._checked_inputs(X)
        f = expand(self.kernel, X, self.model.V[held], self.model.alpha[held])
        if self.linear is None:
            return f
        f = self.gain * f + self.linear.predict(X)
        return f if self.errors is None else f + self.errors.predict()

    def state(self) -> dict[str, Array | IntArray]:
        """Return the complete state, with the names of the integer model."""
        model = self.model
        kept = {name: value for metric in self._metrics for name, value in metric.state().items()}
        return {"count": np.array(model.count), "V": model.V, "alpha": model.alpha,
                "rank": model.rank, "born": model.born, **kept}

    def _output(self, d2: Array) -> Array:
        """Evaluate (1) from the distances to every slot, infinite for free slots."""
        return np.asarray(self.kernel.of_distance(d2) @ self.model.alpha)

    def _reduce(self, before: bool) -> list[int]:
        """Remove vectors by the strategies that act now; return their slots."""
        gone = []
        for reduction in self.reductions:
            if reduction.strategy.before is before:
                while (found := reduction.strategy.victim(self.model, reduction.metric)) is not None:
                    self._remove(reduction, *found)
                    gone.append(found[0])
        return gone

    def _remove(self, reduction: Reduction, slot: int, lam: float) -> None:
        if isinstance(reduction.strategy, FixedDeterioration) and lam > reduction.strategy.limit:
            self.status = Status.FULL
        if reduction.metric is self.reductions[-1].metric:
            self._deterioration = max(lam, self._deterioration)
        if reduction.projection.apply(self.model, slot) and self.status is Status.OK:
            self.status = Status.INACCURATE
        self.model.remove(slot)
        for metric in self._metrics:
            metric.on_remove(self.model, slot)

    def _insert(self, x: Array, alpha: Array, d2: Array) -> None:
        model, slot = self.model, self.model.free
        if slot == model.capacity:
            model.grow()
            d2 = np.pad(d2, (0, model.capacity - slot), constant_values=np.inf)
            for metric in self._metrics:
                metric.resize(model.capacity)
        model.insert(slot, x, alpha, d2)
        for metric in self._metrics:
            metric.on_insert(model, slot, d2)

    def _checked_inputs(self, X: ArrayLike) -> Array:
        X, columns = as_samples(X), self.model.V.shape[1]
        if X.shape[1] != columns:
            raise fail("E224", "the samples and the model have different numbers of columns", where="X",
                       value=X.shape, allowed=f"(m, {columns})", remedy="pass the columns used in training")
        return X
