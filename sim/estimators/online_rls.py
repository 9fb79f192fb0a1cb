"""sim.estimators: online kernel RLS in float64, in fixed memory and constant time.

Y. V. Zakharov, G. P. White, J. Liu, "Low-Complexity RLS Algorithms Using Dichotomous Coordinate Descent
Iterations", IEEE Trans. Signal Processing 56(7), 2008.
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from .._arrays import Array
from ..reference.online.kernel_rls import OnlineKernelRLS
from ..reference.selection.width import grid_or_spread_width
from ._common import check_inputs, gaussian_kernel
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
