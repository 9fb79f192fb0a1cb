"""sim.estimators: online kernel least mean squares (LMS) in fixed memory.

B. Mitchinson, T. J. Dodd, R. F. Harrison, "Reduction of Kernel Models", ACSE Research Report
836, University of Sheffield, 2003.
"""

from __future__ import annotations

import itertools
import warnings

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

from .._arrays import Array
from ..reference.online.expansion import expand
from ..reference.online.kernel_lms import History, KernelLMS, stable_eta
from ..reference.online.linear import linear_part
from ..reference.online.reduction import checked_budget
from ..reference.result import Status
from ..reference.selection.width import overlap_width
from ._common import check_inputs, gaussian_kernel
from ._online import OnlineClassifier, OnlineEstimator, OnlineRegressor
from ._progress import progress

_CHUNK = 256  # samples learned between two reports


class _KernelLMS(OnlineEstimator):
    """Base class of the two kernel LMS estimators."""

    def __init__(self, sigma: float | str = "auto", eta: float = 0.1, rho: float = 0.0, *,
                 reduction: str = "fklms", projection: str | None = None, metric: str | None = None,
                 quantise: float | None = None, linear: str | None = None,
                 linear_forgetting: float = 0.999, linear_ridge: float = 1e-3, linear_step: float = 0.1,
                 joint: bool = False,
                 gate: bool = False, last_errors: int | None = None, truncation: float | None = None,
                 budget: int | None = 100, max_deterioration: float | None = None,
                 max_age: int | None = None, ls_penalty: float = 1e-6, newest_only: bool = False,
                 guard: bool = False, presentations: int = 10, verbose: bool = False) -> None:
        self.sigma = sigma
        self.eta = eta
        self.rho = rho
        self.reduction = reduction
        self.projection = projection
        self.metric = metric
        self.quantise = quantise
        self.linear = linear
        self.linear_forgetting = linear_forgetting
        self.linear_ridge = linear_ridge
        self.linear_step = linear_step
        self.joint = joint
        self.gate = gate
        self.last_errors = last_errors
        self.truncation = truncation
        self.budget = budget
        self.max_deterioration = max_deterioration
        self.max_age = max_age
        self.ls_penalty = ls_penalty
        self.newest_only = newest_only
        self.guard = guard
        self.presentations = presentations
        self.verbose = verbose

    def _create_learner(self, X: Array, outputs: tuple[int, ...]) -> None:
        """Create an untrained learner and store it in `_learner`."""
        kernel = gaussian_kernel(self.sigma, lambda: overlap_width(
            X, len(X) if self.budget is None else checked_budget(self.budget)))
        linear = linear_part(self.linear, X.shape[1], outputs, self.linear_forgetting, self.linear_ridge,
                             self.linear_step)
        self._learner = KernelLMS(
            X.shape[1], kernel, self.eta, self.rho, self.reduction, self.budget, outputs,
            projection=self.projection, metric=self.metric, quantise=self.quantise,
            linear=linear, joint=self.joint, gate=self.gate, last_errors=self.last_errors,
            truncation=self.truncation, max_deterioration=self.max_deterioration, max_age=self.max_age,
            ls_penalty=self.ls_penalty, newest_only=self.newest_only, guard=self.guard)
        self.sigma_ = kernel.sigma
        bound = stable_eta(self.rho)
        if self.eta >= bound:
            warnings.warn(f"{type(self).__name__}: eta = {self.eta:g} is outside the stable range, which "
                          f"ends below 2 / (1 + rho) = {bound:g}. Use a smaller eta; start with 0.1.",
                          ConvergenceWarning, stacklevel=4)

    def _present(self, X: Array, Y: Array, times: int = 1) -> None:
        """Learn the samples in order, `times` times; update the fitted attributes."""
        learner, model = self._learner, self._learner.model
        pieces = []
        with progress(type(self).__name__, times * len(X), self.verbose) as passed:
            for start in itertools.chain.from_iterable(itertools.repeat(range(0, len(X), _CHUNK), times)):
                learner.learn(X[start: start + _CHUNK], Y[start: start + _CHUNK])
                pieces.append(learner.history)
                passed(len(learner.history.N), model.count)
        self.history_ = History(*map(np.concatenate, zip(*pieces, strict=True)))
        self.support_vectors_ = model.V[model.held]
        self.dual_coef_ = model.alpha[model.held]
        linear = self._learner.linear
        self.intercept_ = 0.0 if linear is None else linear.w[0].copy()
        self.coef_: Array | None = None if linear is None else linear.w[1:].copy()
        self.gain_ = self._learner.gain
        errors = self._learner.errors
        self.next_error_ = 0.0 if errors is None else errors.predict()
        self.status_ = self._learner.status
        self.residual_ = float(np.max(np.linalg.norm(self.history_.error[-len(X):], axis=0)))

    def _output(self, X: ArrayLike) -> Array:
        """Evaluate the kernel expansion, equation (1), plus the linear part if any.

        The result has shape (m,) or (m, K).
        """
        X = check_inputs(self, X)
        f = expand(self._learner.kernel, X, self.support_vectors_, self.dual_coef_)
        linear = 0.0 if self.coef_ is None else self.intercept_ + X @ self.coef_
        return np.asarray(self.gain_ * f + linear + self.next_error_)

    def _warn_if_diverged(self) -> None:
        if self.status_ is Status.DIVERGED:
            warnings.warn(f"{type(self).__name__} diverged (sigma {self.sigma_:g}, eta {self.eta:g}, budget "
                          f"{self.budget}) and stopped learning; its predictions are not usable. Use a "
                          "smaller sigma, eta or budget.",
                          ConvergenceWarning, stacklevel=3)


class KernelLMSRegressor(OnlineRegressor, _KernelLMS):
    """Kernel LMS regressor with at most `budget` vectors, trained sample by sample.

    Parameters
    ----------
    sigma : float or "auto", default="auto"
        Width of the Gaussian kernel exp(-|u - v|^2 / (2 sigma^2)), in the unit of `X`.  "auto" selects
        the largest width at which FKLMS is stable on the samples of `fit`, or of the **first** call
        of `partial_fit`; pass a number for a stream.
    eta : float, default=0.1
        Learning rate, > 0.  If eta is 2 / (1 + rho) or more, the learning rule is unstable, and `fit` warns.
    rho : float, default=0.0
        Forgetting rate: each sample multiplies all coefficients by 1 - eta rho. If rho is positive, the model
        forgets old samples and tracks a drifting stream.
    reduction : str, default="fklms"
        Method of removing vectors: a projection and a metric, named as in Mitchinson et al. (2003). The
        numbers in brackets are equations of that report.

        ==================  ==========  ================  ===========================================
        reduction           projection  metric            effect
        ==================  ==========  ================  ===========================================
        "fklms"             "fklms"     "fklms"           removes the newer of the closest pair,
                                                          (16), (17); O(N)
        "fmklms"            "fklms"     "fmklms"          the same, but prefers small coefficients,
                                                          (18)
        "klms"              "klms"      "klms"            preserves the outputs at the retained
                                                          vectors, (12)
        "mklms"             "klms"      "mklms"           the same, and removes the vector whose
                                                          removal changes the model least
        "ls"                "ls"        "ls"              fits the outputs at all vectors by least
                                                          squares, (14)
        "ls_regularised"    "ls"        "ls_regularised"  the same, with a penalty on alpha, (20)
        "nt", "mt"          "none"      "magnitude"       discards the smallest coefficient
        "at"                "none"      "age"             discards the oldest vector
        "none"                                            does not remove vectors
        ==================  ==========  ================  ===========================================

        KLMS and LS cost O(N^2) per sample, "ls_regularised" costs O(N^3), and truncations cost O(N).
    projection, metric : str, optional
        Replace the projection or the metric of the reduction; the metrics of section 5 are "fast_klms" and
        "fast_mklms".
    quantise : float, optional
        Threshold of quantised KLMS (QKLMS), above 0 and below 1; start with 0.8. If the kernel value of a
        sample and its nearest vector is at least this, the sample updates the coefficient of that vector and
        is not stored. The stored vectors are then far from each other, as FKLMS assumes.
    linear : "rls", "nlms" or None, default=None
        Add a linear part w.(1, x) to the model. Recursive least squares (O(D^2) time and memory) or
        normalised LMS (O(D)) fits w to y, and the expansion learns the error of the sum of both parts.
    linear_forgetting : float, default=0.999
        Forgetting factor of the linear part: after t more samples, a sample has this weight to the power t.
    linear_ridge : float, default=1e-3
        Penalty on the squares of w, in squared units of `X`; it does not decrease with time.
    linear_step : float, default=0.1
        Step size of "nlms", which needs inputs of about 1 in magnitude.
    joint : bool, default=False
        Fit the linear part to the error of the expansion instead of y, which is slightly better if the
        relation does not drift.
    gate : bool, default=False
        Scale the expansion in predictions by g, from 0 to 1, according to how much it has reduced the
        error of the linear part over about the last 64 samples.  It has no effect without `linear`.
    last_errors : int, optional
        Number of previous errors, 2 to 16, from which the next error is predicted and added to the
        prediction. Use it for samples in order of time whose errors are correlated. :meth:`predict` then
        predicts the sample that follows the last one learned. It has no effect without `linear`.
    truncation : float, optional
        Discard every coefficient of at most this magnitude (MT). It can be combined with any reduction, and
        saves projections.
    budget : int or None, default=100
        N_max, the dictionary size: before a vector is added to a full dictionary, the vector with the
        smallest deterioration is evicted. None means no limit; the reduction "none" ignores the budget.
    max_deterioration : float, optional
        lambda_max, in the unit of the metric: every vector whose deterioration is at most this value is
        removed. "mt" requires it; the metric "age" uses `max_age` instead. A value outside the range of the
        metric removes either no vector or every vector.
    max_age : int, optional
        Discard each vector this many samples after it was added (AT).  It can be combined with any reduction.
    ls_penalty : float, default=1e-6
        C of (20), for "ls_regularised".
    newest_only : bool, default=False
        Consider only the newest vector for removal, which is faster (section 4); this requires
        max_deterioration. If the dictionary is full, the newest vector is removed regardless of its
        deterioration, and `status_` is "full".
    guard : bool, default=False
        Stop a projection of "fklms" or "fmklms" at the vector at which the sum of the squared kernel values
        exceeds 2; `status_` is then "inaccurate". This keeps the learner stable if stored vectors are close
        to each other.
    presentations : int, default=10
        Number of passes of `fit` over the samples, in the given order.  `partial_fit` makes one pass.
    verbose : bool, default=False
        Show the number of samples processed, and samples per second, on stderr.

    Attributes
    ----------
    support_vectors_ : ndarray of shape (N, D)
        The expansion vectors, in the order of their slots in memory.
    dual_coef_ : ndarray of shape (N,)
        The coefficients alpha.
    intercept_ : float
        Intercept of the linear part, w_0; 0.0 without one.
    coef_ : ndarray of shape (D,), or None
        w of the linear part.
    gain_ : ndarray of shape ()
        Factor of the expansion if there is a linear part, from 0 to 1; 1 without `gate`.
    next_error_ : float
        The predicted error that is added to the next prediction; 0.0 without `last_errors`.
    status_ : str
        "ok": no problem. "diverged": learning stopped with a warning. "full": with `newest_only`, the
        dictionary was full and the newest vector was removed; raise `budget` or `max_deterioration`.
        "inaccurate": the guard stopped a projection.
    residual_ : float
        2-norm of the prediction errors e_p of equation (2) in the last pass; each error is computed before
        its sample is learned.
    history_ : History
        Three arrays with an entry per sample of the last call of `fit` or `partial_fit`: ``error`` is e_p,
        ``N`` is the number of vectors after the sample, and ``deterioration`` is that of the removed vector
        (NaN if none was removed).
    sigma_ : float
        The width of the kernel that was used.
    n_features_in_ : int
        D, the number of columns.

    Notes
    -----
    FKLMS assumes that the retained vectors are orthogonal (K_RR = I). If they are far from orthogonal, it is
    **unstable, not merely inexact**: if the sum of k(v_j, v_r)^2 over the other vectors v_j is well above 2,
    each removal of a vector v_r adds more error than it removes. Do not combine a wide kernel with a large
    budget; on a one-dimensional interval of length L, the sum is about 1.8 budget sigma / L. A large eta
    increases the error. Sorted inputs do so too, because they fill the dictionary with close neighbours
    before the rest of the range appears: shuffle the samples. `guard` stops such projections.

    FKLMS uses distances only. If the inputs of a stream drift, combine rho > 0 with `truncation` or
    `max_age`; otherwise outdated vectors stay in the dictionary. FMKLMS, MKLMS, LS and NT use the
    coefficients and therefore remove outdated vectors.

    References
    ----------
    B. Mitchinson, T. J. Dodd, R. F. Harrison, "Reduction of Kernel Models", ACSE Research Report 836,
    University of Sheffield, 2003: learning rule (2) to (6); truncation and strategies, section 2;
    projections and metrics, section 2.1.

    B. Chen, S. Zhao, P. Zhu, J. C. Principe, "Quantized Kernel Least Mean Square Algorithm", IEEE Trans.
    Neural Networks and Learning Systems 23(1), 2012: `quantise`.

    Examples
    --------
    >>> import numpy as np
    >>> from kerncast import KernelLMSRegressor
    >>> X = np.random.default_rng(0).uniform(-3, 3, (100, 1))
    >>> model = KernelLMSRegressor(sigma=0.5, budget=24).fit(X, np.sinc(X[:, 0]))
    >>> model.support_vectors_.shape, str(model.status_)
    ((24, 1), 'ok')
    """


class KernelLMSClassifier(OnlineClassifier, _KernelLMS):
    """Kernel LMS classifier, one-vs-rest, with targets +1 and -1.

    :class:`KernelLMSRegressor` explains the parameters and most attributes; its Notes apply here too. All
    classes share the expansion vectors. Metrics that depend on the coefficients use the 2-norm of a vector's
    coefficients over the classes.

    Parameters
    ----------
    sigma : float or "auto", default="auto"
        Width of the Gaussian kernel, in the unit of `X`.
    eta : float, default=0.1
        Learning rate, > 0.
    rho : float, default=0.0
        Forgetting rate: each sample multiplies all coefficients by 1 - eta rho.
    reduction : str, default="fklms"
        Method of removing vectors.
    projection, metric : str, optional
        Replace the projection or the metric of the reduction.
    quantise : float, optional
        Threshold of quantised KLMS: smallest kernel value at which a sample updates its nearest vector and is
        not stored.
    linear, linear_forgetting, linear_ridge, linear_step, joint, gate, last_errors : optional
        Options of the linear part of the model.
    truncation : float, optional
        Coefficients of at most this magnitude are discarded.
    budget : int or None, default=100
        N_max, the dictionary size.
    max_deterioration : float, optional
        lambda_max: a vector is removed if its deterioration is at most this value.
    max_age : int, optional
        Number of samples after which a vector is discarded.
    ls_penalty : float, default=1e-6
        C of (20).
    newest_only : bool, default=False
        Consider only the newest vector for removal; this requires max_deterioration.
    guard : bool, default=False
        Stop a projection if the sum of its squared kernel values exceeds 2.
    presentations : int, default=10
        Number of passes of `fit` over the samples.
    verbose : bool, default=False
        Show progress on stderr.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        The labels, sorted.
    dual_coef_ : ndarray of shape (N,) for two classes, (N, K) for more
        The coefficients alpha.
    """
