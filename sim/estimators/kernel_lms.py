"""sim.estimators: online kernel LMS in fixed memory.

B. Mitchinson, T. J. Dodd, R. F. Harrison, "Reduction of Kernel Models", ACSE Research Report
836, University of Sheffield, 2003.
"""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning

from .._arrays import Array
from .._checks import is_integer
from ..errors import fail
from ..reference.online.expansion import expand
from ..reference.online.kernel_lms import History, KernelLMS, stable_eta
from ..reference.online.reduction import checked_budget
from ..reference.result import Status
from ..reference.selection.width import overlap_width
from ._common import (
    checked_classes,
    checked_inputs,
    checked_training_data,
    labels,
    one_vs_rest,
    unchanged_if_refused,
    width_or,
)
from ._progress import progress

_PIECE = 256  # samples learned between two reports


class _KernelLMS(BaseEstimator):
    """What the two estimators share."""

    def __init__(self, sigma: float | str = "auto", eta: float = 0.1, rho: float = 0.0, *,
                 reduction: str = "fklms", projection: str | None = None, metric: str | None = None,
                 truncation: float | None = None, budget: int | None = 100,
                 max_deterioration: float | None = None, max_age: int | None = None,
                 ls_penalty: float = 1e-6, newest_only: bool = False, presentations: int = 10,
                 verbose: bool = False) -> None:
        self.sigma = sigma
        self.eta = eta
        self.rho = rho
        self.reduction = reduction
        self.projection = projection
        self.metric = metric
        self.truncation = truncation
        self.budget = budget
        self.max_deterioration = max_deterioration
        self.max_age = max_age
        self.ls_penalty = ls_penalty
        self.newest_only = newest_only
        self.presentations = presentations
        self.verbose = verbose

    def _start(self, X: Array, outputs: tuple[int, ...]) -> None:
        """Make a learner that knows nothing yet."""
        kernel = width_or(self.sigma, lambda: overlap_width(
            X, len(X) if self.budget is None else checked_budget(self.budget)))
        self._learner = KernelLMS(
            X.shape[1], kernel, self.eta, self.rho, self.reduction, self.budget, outputs,
            projection=self.projection, metric=self.metric, truncation=self.truncation,
            max_deterioration=self.max_deterioration, max_age=self.max_age, ls_penalty=self.ls_penalty,
            newest_only=self.newest_only)
        self.sigma_ = kernel.sigma
        bound = stable_eta(self.rho)
        if self.eta >= bound:
            warnings.warn(f"{type(self).__name__}: eta = {self.eta:g} is outside the stable range, which "
                          f"ends below 2 / (1 + rho) = {bound:g}. Use a smaller eta; start with 0.1.",
                          ConvergenceWarning, stacklevel=4)

    def _fit_targets(self, X: Array, Y: Array) -> None:
        """Start afresh and present all samples, in order, as often as asked."""
        if not is_integer(self.presentations) or self.presentations < 1:
            raise fail("E234", "the samples must be presented once at least", where="presentations",
                       value=self.presentations, allowed="an integer >= 1", remedy="start with 10")
        self._start(X, Y.shape[1:])
        self._present(X, Y, self.presentations)

    def _present(self, X: Array, Y: Array, times: int = 1) -> None:
        """Learn the samples so often, in order, and publish what is known now."""
        learner, model = self._learner, self._learner.model
        pieces = []
        with progress(type(self).__name__, times * len(X), self.verbose) as passed:
            for start in itertools.chain.from_iterable(itertools.repeat(range(0, len(X), _PIECE), times)):
                learner.learn(X[start: start + _PIECE], Y[start: start + _PIECE])
                pieces.append(learner.history)
                passed(len(learner.history.N), model.count)
        self.history_ = History(*map(np.concatenate, zip(*pieces, strict=True)))
        self.support_vectors_ = model.V[model.held]
        self.dual_coef_ = model.alpha[model.held]
        self.intercept_ = 0.0
        self.status_ = self._learner.status
        self.residual_ = float(np.max(np.linalg.norm(self.history_.error[-len(X):], axis=0)))

    def _output(self, X: ArrayLike) -> Array:
        """Evaluate (1), shape (m,) or (m, K)."""
        X = checked_inputs(self, X)
        return expand(self._learner.kernel, X, self.support_vectors_, self.dual_coef_)

    def _warn_if_diverged(self) -> None:
        if self.status_ is Status.DIVERGED:
            warnings.warn(f"{type(self).__name__} diverged (sigma {self.sigma_:g}, eta {self.eta:g}, budget "
                          f"{self.budget}) and stopped learning; its predictions are not usable. Use a "
                          "smaller sigma, eta or budget.",
                          ConvergenceWarning, stacklevel=3)


class KernelLMSRegressor(RegressorMixin, _KernelLMS):
    """Regression by kernel LMS with at most `budget` expansion vectors, one sample at a time.

    Parameters
    ----------
    sigma : float or "auto", default="auto"
        Width of the Gaussian kernel exp(-|u - v|^2 / (2 sigma^2)), in the unit of `X`.  "auto" takes
        the largest width at which FKLMS stays stable on the samples of `fit`, or of the **first** call
        of `partial_fit`; for a stream give a number.
    eta : float, default=0.1
        Learning rate, > 0; the rule is unstable from 2 / (1 + rho) up, of which a warning tells.
    rho : float, default=0.0
        Decay of all multipliers by 1 - eta rho with each sample; above 0 old samples are forgotten, and a
        stream that drifts is followed.
    reduction : str, default="fklms"
        How vectors are removed: a technique of report 836 by name, which is a pair of projection and metric.

        ==================  ==========  ===================  ===================================
        reduction           projection  metric               what goes
        ==================  ==========  ===================  ===================================
        "fklms"             "fklms"     "fklms"              newer of closest, (16), (17); O(N)
        "fmklms"            "fklms"     "fmklms"             (18): small multipliers go first
        "klms"              "klms"      "klms"               outputs at retained vectors stay, (12)
        "mklms"             "klms"      "mklms"              least change of the model
        "ls"                "ls"        "ls"                 least squares at all vectors, (14)
        "ls_regularised"    "ls"        "ls_regularised"     with a penalty on multipliers, (20)
        "nt", "mt"          "none"      "magnitude"          smallest multiplier, discarded
        "at"                "none"      "age"                oldest vector, discarded
        "none"                                               none goes
        ==================  ==========  ===================  ===================================

        Those of KLMS and LS take O(N^2) a sample, "ls_regularised" O(N^3), truncations O(N).
    projection, metric : str, optional
        In place of those of the reduction; the metrics of section 5 are "fast_klms" and "fast_mklms".
    truncation : float, optional
        Discard multipliers of at most this magnitude (MT), whatever the reduction; it saves projections.
    budget : int or None, default=100
        N_max: where so many vectors are held, the one of least deterioration goes before the next comes.
        None for no limit; "none" does not use it.
    max_deterioration : float, optional
        lambda_max, in the unit of the metric: a vector goes whenever that costs no more.  "mt" needs it; the
        metric "age" takes `max_age` instead.  Beyond what the metric can reach no vector goes, or every one.
    max_age : int, optional
        Discard vectors after so many more samples (AT), whatever the reduction.
    ls_penalty : float, default=1e-6
        C of (20), for "ls_regularised".
    newest_only : bool, default=False
        Needs max_deterioration: let go the newest vector or none, which is cheaper (report, section 4).  Of
        more than `budget` vectors the newest goes whatever its lambda, and `status_` is then "full".
    presentations : int, default=10
        How often `fit` presents the samples, in the order given.  `partial_fit` presents them once.
    verbose : bool, default=False
        Show samples passed and samples per second on stderr.

    Attributes
    ----------
    support_vectors_ : ndarray of shape (N, D)
        The expansion vectors, by slot.
    dual_coef_ : ndarray of shape (N,)
        The multipliers alpha.
    intercept_ : float
        0.0: the model has no bias.
    status_ : str
        "ok"; "diverged": a warning was given, and the learner has stopped; or "full": with `newest_only` a
        newest vector went for want of room, of which `budget` or `max_deterioration` gives more.
    residual_ : float
        2-norm of the errors e_p (2) over the last presentation, each before its sample was learned.
    history_ : History
        ``error`` e_p, ``N`` vectors held after it, and ``deterioration`` lambda of the vector that went (NaN
        where none did), of each sample of the last call of `fit` or `partial_fit`: three arrays.
    sigma_ : float
        The width that was used.
    n_features_in_ : int
        D, the number of columns.

    Notes
    -----
    FKLMS takes the retained vectors for orthogonal (K_RR = I).  Where that is far from true it
    is **unstable, not merely inexact**: once sum_j k(v_j, v_r)^2 over the other vectors is well above
    2, each removal adds more error than it removes.  So a wide kernel and a large budget do not
    go together; on a one-dimensional interval of length L the sum is about 1.8 budget sigma / L.
    A large eta makes it worse, and so do inputs in sorted order, which fill the budget with close
    neighbours before the rest of the range is seen: shuffle them.
    FKLMS looks at distances alone: where the inputs of a stream move away, rho > 0 wants `truncation` or
    `max_age` beside it, or vectors left behind keep their places; FMKLMS, MKLMS, LS and NT, which look at
    multipliers, let them go.

    References
    ----------
    Report 836: learning rule (2)-(6); truncation and strategies, section 2; projections and metrics, 2.1.

    Examples
    --------
    >>> import numpy as np
    >>> from kerncast import KernelLMSRegressor
    >>> X = np.random.default_rng(0).uniform(-3, 3, (100, 1))
    >>> model = KernelLMSRegressor(sigma=0.5, budget=24).fit(X, np.sinc(X[:, 0]))
    >>> model.support_vectors_.shape, str(model.status_)
    ((24, 1), 'ok')
    """

    def fit(self, X: ArrayLike, y: ArrayLike) -> KernelLMSRegressor:
        """Forget everything and learn `X`, shape (n, D), and `y`, shape (n,), `presentations` times.

        Raises
        ------
        KerncastError
            E220 sigma, E228 eta or rho, E229 budget, E230 reduction, projection or metric, E233 data,
            E234 presentations, E258 another option of the reduction.
        """
        with unchanged_if_refused(self):
            X, y = checked_training_data(self, X, y, y_numeric=True)
            self._fit_targets(X, y.astype(np.float64))
        self._warn_if_diverged()
        return self

    def partial_fit(self, X: ArrayLike, y: ArrayLike) -> KernelLMSRegressor:
        """Learn `X`, shape (m, D), and `y`, shape (m,), once and in order, on top of what is known.

        Parameters changed after the first call have no effect until `fit`.  Raises as `fit`; refused
        data leave the model as it was.
        """
        first = not hasattr(self, "_learner")
        with unchanged_if_refused(self):
            X, y = checked_training_data(self, X, y, reset=first, y_numeric=True)
            if first:
                self._start(X, ())
            self._present(X, y.astype(np.float64))
        self._warn_if_diverged()
        return self

    def predict(self, X: ArrayLike) -> Array:
        """Evaluate f at all rows of `X`, shape (m, D); result of shape (m,)."""
        return self._output(X)


class KernelLMSClassifier(ClassifierMixin, _KernelLMS):
    """Classifier by kernel LMS on targets of +1 and -1, one against the rest.

    Parameters and most attributes are those of :class:`KernelLMSRegressor`, where they are explained; its
    Notes apply.  The classes share the expansion vectors; metrics that look at multipliers take the
    2-norm over the classes.

    Parameters
    ----------
    sigma : float or "auto", default="auto"
        Width of the Gaussian kernel, in the unit of `X`.
    eta : float, default=0.1
        Learning rate, > 0.
    rho : float, default=0.0
        Decay of the multipliers.
    reduction : str, default="fklms"
        How vectors are removed.
    projection, metric : str, optional
        In place of those of the reduction.
    truncation : float, optional
        Largest magnitude of multipliers that are discarded.
    budget : int or None, default=100
        N_max, the largest number of expansion vectors.
    max_deterioration : float, optional
        lambda_max.
    max_age : int, optional
        How many more samples a vector stays for.
    ls_penalty : float, default=1e-6
        C of (20).
    newest_only : bool, default=False
        Needs max_deterioration: look at the newest vector alone.
    presentations : int, default=10
        How often `fit` presents the samples.
    verbose : bool, default=False
        Show progress on stderr.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        The labels, sorted.
    dual_coef_ : ndarray of shape (N,) for two classes, (N, K) for more
        The multipliers alpha.
    """

    def fit(self, X: ArrayLike, y: ArrayLike) -> KernelLMSClassifier:
        """Forget everything and learn `X`, shape (n, D), and labels `y`, shape (n,), `presentations` times.

        Raises
        ------
        KerncastError
            As :meth:`KernelLMSRegressor.fit`, and E232 for fewer than two classes.
        """
        with unchanged_if_refused(self):
            X, y = checked_training_data(self, X, y)
            self.classes_ = checked_classes(y)
            self._fit_targets(X, one_vs_rest(y, self.classes_))
        self._warn_if_diverged()
        return self

    def partial_fit(self, X: ArrayLike, y: ArrayLike,
                    classes: ArrayLike | None = None) -> KernelLMSClassifier:
        """Learn `X`, shape (m, D), and labels `y`, shape (m,), once and in order, on top of what is known.

        Parameters
        ----------
        X, y : array_like
        classes : array_like of shape (K,), optional
            All labels that can occur.  Needed at the first call, unless `y` holds all of them;
            later it must be the same or left out.

        Raises
        ------
        KerncastError
            As `fit`, and E232 for a label, or a list of classes, unlike the first call's.
            Refused data leave the model as it was.
        """
        first = not hasattr(self, "_learner")
        with unchanged_if_refused(self):
            X, y = checked_training_data(self, X, y, reset=first)
            known = checked_classes(y if classes is None else np.asarray(classes)) if first else self.classes_
            if not first and classes is not None and not np.array_equal(np.unique(classes), known):
                raise fail("E232", "the classes differ from those of the first call", where="classes",
                           value=str(np.unique(classes).tolist()), allowed=str(known.tolist()),
                           remedy="omit classes after the first call, or call fit again")
            targets = one_vs_rest(y, known)
            if first:
                self._start(X, targets.shape[1:])
                self.classes_ = known
            self._present(X, targets)
        self._warn_if_diverged()
        return self

    def decision_function(self, X: ArrayLike) -> Array:
        """Evaluate f: shape (m,) for two classes, above 0 for the second; (m, K) for more."""
        return self._output(X)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the label of each row of `X`, shape (m,)."""
        return labels(self._output(X), self.classes_)
