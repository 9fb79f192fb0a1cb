"""sim.estimators: online kernel RLS in float64, in fixed memory and constant time.

Y. V. Zakharov, G. P. White, J. Liu, "Low-Complexity RLS Algorithms Using Dichotomous Coordinate Descent
Iterations", IEEE Trans. Signal Processing 56(7), 2008.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, OutlierMixin

from .._arrays import Array
from .._checks import is_real, positive
from ..errors import fail
from ..reference.online.kernel_rls import OnlineKernelRLS
from ..reference.selection.width import grid_or_spread_width
from ._common import check_inputs, check_training_inputs, gaussian_kernel, restored_on_error
from ._online import OnlineClassifier, OnlineEstimator, OnlineRegressor


class _OnlineKernelRLS(OnlineEstimator):
    """Base class of the two online kernel RLS estimators."""

    def __init__(self, sigma: float | str = "auto", features: int = 100, forgetting: float = 0.999,
                 ridge: float = 1e-3, linear: bool = True, *, steps: int = 16, seed: int = 0,
                 presentations: int = 1) -> None:
        self.sigma = sigma
        self.features = features
        self.forgetting = forgetting
        self.ridge = ridge
        self.linear = linear
        self.steps = steps
        self.seed = seed
        self.presentations = presentations

    def _create_learner(self, X: Array, outputs: tuple[int, ...]) -> None:
        """Create an untrained learner and store it in `_learner`."""
        self.sigma_ = gaussian_kernel(self.sigma, lambda: grid_or_spread_width(X)).sigma
        self._learner = OnlineKernelRLS(X.shape[1], self.sigma_, self.features, self.forgetting, self.ridge,
                                        self.linear, self.steps, self.seed, outputs)

    def _present(self, X: Array, Y: Array, times: int = 1) -> None:
        """Learn the samples in order, `times` times; update the fitted attributes."""
        for _ in range(times):
            self.error_ = self._learner.learn(X, Y)
        self.coef_ = self._learner.w.copy()

    def leverage(self, X: ArrayLike) -> Array:
        """Compute the leverage phi'R^-1 phi of each row of `X`, shape (m, D).

        The leverage is large for inputs that are unlike those learned, and does not depend on the targets. R
        is the matrix of the normal equations, with the ridge; older samples have less weight in it. On the
        device, ``[rls] novelty`` compares a lower bound of the leverage with a threshold.

        Parameters
        ----------
        X : array_like
            Samples.

        Returns
        -------
        ndarray of shape (m,)
        """
        X = check_inputs(self, X)
        return self._learner.leverage(X)

    def _output(self, X: ArrayLike) -> Array:
        """Evaluate the model w.phi(x) at each row of `X`, for the features phi."""
        X = check_inputs(self, X)
        return self._learner.predict(X)


class OnlineKernelRLSRegressor(OnlineRegressor, _OnlineKernelRLS):
    """Online kernel RLS regressor with constant time per sample.

    RLS means recursive least squares. The kernel is approximated by random Fourier features. The normal
    equations of the features, in which older samples have less weight, are solved by dichotomous coordinate
    descent: a bounded number of steps per sample, whose sizes are powers of two. This method converges in
    fewer samples than kernel LMS; memory and time grow with the square of `features`.

    The corresponding algorithm on the device is ``online_kernel_rls``, which scales the features to at most
    1.

    Parameters
    ----------
    sigma : float or "auto", default="auto"
        Width of the Gaussian kernel exp(-|u - v|^2 / (2 sigma^2)), in the unit of `X`. "auto" computes it
        from the samples of `fit`, or of the **first** call of `partial_fit`; pass a number for a stream.
    features : int, default=100
        M, the number of random features, which are cosines.
    forgetting : float, default=0.999
        lambda: after t more samples, a sample has the weight lambda^t.
    ridge : float, default=1e-3
        Penalty on the squares of the coefficients, > 0.  It does not decrease with time.
    linear : bool, default=True
        Whether to use the inputs, divided by sigma, as additional features.
    steps : int, default=16
        Maximum number of coefficients that change per sample.
    seed : int, default=0
        Seed of the random features.
    presentations : int, default=1
        Number of passes of `fit` over the samples.

    Attributes
    ----------
    coef_ : ndarray of shape (P,)
        The intercept, then the coefficients of the inputs if `linear` is true, then those of the cosines.
    sigma_ : float
        The width of the kernel that was used.
    error_ : ndarray of shape (m,)
        Prediction errors of the last pass; each error is computed before its sample is learned.

    References
    ----------
    A. Rahimi, B. Recht, "Random Features for Large-Scale Kernel Machines", NIPS 2007.

    Y. V. Zakharov, G. P. White, J. Liu, "Low-Complexity RLS Algorithms Using Dichotomous Coordinate Descent
    Iterations", IEEE Trans. Signal Processing 56(7), 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from kerncast import OnlineKernelRLSRegressor
    >>> X = np.random.default_rng(0).uniform(-3, 3, (500, 1))
    >>> model = OnlineKernelRLSRegressor(sigma=1.0, features=50).fit(X, np.sinc(X[:, 0]))
    >>> model.score(X, np.sinc(X[:, 0])) > 0.99
    True
    """


class OnlineKernelRLSClassifier(OnlineClassifier, _OnlineKernelRLS):
    """One-vs-rest online kernel RLS classifier, with targets +1 and -1.

    :class:`OnlineKernelRLSRegressor` explains the parameters and attributes. All classes share the features
    and the matrix of the normal equations.

    Parameters
    ----------
    sigma : float or "auto", default="auto"
        Width of the Gaussian kernel, in the unit of `X`.
    features : int, default=100
        M, the number of random features, which are cosines.
    forgetting : float, default=0.999
        lambda: after t more samples, a sample has the weight lambda^t.
    ridge : float, default=1e-3
        Penalty on the squares of the coefficients.
    linear : bool, default=True
        Whether to use the inputs as additional features.
    steps : int, default=16
        Maximum number of coefficients that change per sample and class.
    seed : int, default=0
        Seed of the random features.
    presentations : int, default=1
        Number of passes of `fit` over the samples.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        The labels, sorted.
    coef_ : ndarray of shape (P,) for two classes, (P, K) for more
        The coefficients of the P features.
    """


class OnlineKernelRLSDetector(OutlierMixin, BaseEstimator):
    """Detect inputs unlike those learned, by the leverage of online kernel RLS.

    The leverage of a sample is phi'R^-1 phi, for the features phi of
    :class:`OnlineKernelRLSRegressor` and the matrix R of its normal equations. It needs no targets, constant
    memory and constant time per sample. Older samples have less weight in R.

    On the device, ``[rls] novelty`` compares a lower bound of the leverage with a threshold, before each
    sample is learned.

    Parameters
    ----------
    sigma : float or "auto", default="auto"
        Width of the Gaussian kernel, in the unit of `X`. "auto" computes it from the samples of `fit`, or of
        the **first** call of `partial_fit`.
    features : int, default=100
        M, the number of random features, which are cosines.
    forgetting : float, default=0.999
        lambda: after t more samples, a sample has the weight lambda^t.
    ridge : float, default=1e-3
        Added to the diagonal of R, > 0. It does not decrease with time.
    linear : bool, default=True
        Whether to use the inputs, divided by sigma, as additional features.
    contamination : float, default=0.01
        Fraction of the learned samples that are outliers, above 0 and up to 0.5.
    threshold : float, default=None
        Leverage above which a sample is an outlier, > 0. None computes it from `contamination` and the
        samples of `fit`, or of the first call of `partial_fit`; pass a number for a stream.
    seed : int, default=0
        Seed of the random features.

    Attributes
    ----------
    offset_ : float
        Minus the leverage above which a sample is an outlier.
    sigma_ : float
        The width of the kernel that was used.

    Examples
    --------
    >>> import numpy as np
    >>> from kerncast import OnlineKernelRLSDetector
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> OnlineKernelRLSDetector(sigma=1.0).fit(X).predict([[0.0, 0.1], [8.0, 8.0]])
    array([ 1, -1])
    """

    def __init__(self, sigma: float | str = "auto", features: int = 100, forgetting: float = 0.999,
                 ridge: float = 1e-3, linear: bool = True, *, contamination: float = 0.01,
                 threshold: float | None = None, seed: int = 0) -> None:
        self.sigma = sigma
        self.features = features
        self.forgetting = forgetting
        self.ridge = ridge
        self.linear = linear
        self.contamination = contamination
        self.threshold = threshold
        self.seed = seed

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Reset the model, learn the samples once and in order, and compute the threshold.

        `X` has shape (n, D); `y` is ignored.

        Raises
        ------
        KerncastError
            E220 for sigma, E233 for the data, E258 for any other parameter.
        """
        with restored_on_error(self):
            self._begin(check_training_inputs(self, X))
        return self

    def partial_fit(self, X: ArrayLike, y: object = None) -> Self:
        """Learn the samples `X`, shape (m, D), once and in order; `y` is ignored.

        Learning continues from the current model. The first call also computes the threshold, which later
        calls do not change. The errors are those of `fit`; if the data are rejected, the model is unchanged.
        """
        first = not hasattr(self, "_learner")
        with restored_on_error(self):
            X = check_training_inputs(self, X, reset=first)
            if first:
                self._begin(X)
            else:
                self._learner.learn(X, np.zeros(len(X)))
        return self

    def score_samples(self, X: ArrayLike) -> Array:
        """Return minus the leverage of each row of `X`, shape (m, D): low for outliers."""
        X = check_inputs(self, X)
        return -self._learner.leverage(X)

    def decision_function(self, X: ArrayLike) -> Array:
        """Return `score_samples` minus `offset_`, shape (m,): negative for outliers."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return -1 for each outlier in `X`, shape (m, D), and 1 for other rows."""
        return np.where(self.decision_function(X) < 0.0, -1, 1)

    def _begin(self, X: Array) -> None:
        """Create a learner, learn the samples, and set the threshold."""
        if not is_real(self.contamination) or not 0.0 < self.contamination <= 0.5:
            raise fail("E258", "`contamination` is out of range", where="contamination",
                       value=self.contamination, allowed="a number above 0, up to 0.5",
                       remedy="start with 0.01")
        threshold = None if self.threshold is None else positive(
            self.threshold, "threshold", "E258", "omit it: it is then computed from `contamination`")
        self.sigma_ = gaussian_kernel(self.sigma, lambda: grid_or_spread_width(X)).sigma
        self._learner = OnlineKernelRLS(X.shape[1], self.sigma_, self.features, self.forgetting, self.ridge,
                                        self.linear, seed=self.seed)
        self._learner.learn(X, np.zeros(len(X)))  # without targets, only R is learned
        self.offset_ = float(np.quantile(-self._learner.leverage(X), self.contamination)
                             if threshold is None else -threshold)
