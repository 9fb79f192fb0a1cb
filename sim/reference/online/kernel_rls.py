"""sim.reference.online: recursive least squares on random features, float64.

The time per sample is constant. Features: A. Rahimi, B. Recht, "Random Features for Large-Scale Kernel
Machines", NIPS 2007.  Solver: Y. V. Zakharov, G. P. White, J. Liu, "Low-Complexity RLS Algorithms Using
Dichotomous Coordinate Descent Iterations", IEEE Trans. Signal Processing 56(7), 2008.
"""

from __future__ import annotations

from math import frexp
from statistics import NormalDist

import numpy as np

from ..._arrays import Array
from ..._checks import is_integer, is_real, positive
from ...errors import fail


def random_directions(columns: int, count: int, seed: int) -> tuple[Array, Array]:
    """Draw the directions and phases of random Fourier features.

    The features are those of a Gaussian kernel of width 1.

    Parameters
    ----------
    columns, count : int
        D and M.
    seed : int

    Returns
    -------
    directions : ndarray of shape (M, D)
        Normally distributed directions.
    phases : ndarray of shape (M,)
        Phases, uniform in [0, 2 pi).

    Raises
    ------
    KerncastError
        E258 for a count or a seed that is not an integer in the allowed range.
    """
    for name, given, least in (("features", count, 1), ("seed", seed, 0)):
        if not is_integer(given) or given < least:
            raise fail("E258", f"{name} is out of range", where=name, value=given,
                       allowed=f"an integer >= {least}", remedy="start with 100 features and seed 0")
    # The integers of PCG64 are the same in every version of NumPy, unlike its distributions.
    words = np.random.PCG64(seed).random_raw(count * (columns + 1)) >> np.uint64(11)
    uniform = ((words.astype(float) + 0.5) * 2.0**-53).reshape(count, columns + 1)
    normal = NormalDist()
    directions = np.array([[normal.inv_cdf(float(u)) for u in row] for row in uniform[:, 1:]])
    return directions.reshape(count, columns), 2.0 * np.pi * uniform[:, 0]


class OnlineKernelRLS:
    """Least squares with exponential forgetting on random features.

    The time per sample is constant.  The features phi are 1, the inputs if `linear`, and M cosines
    ``sqrt(2 / M) cos(v_j.x / sigma + b_j)``, whose products approximate the Gaussian kernel.  For each
    sample, with e = y - w.phi before the step:

    1. R <- lambda R + phi phi', and so the residual of ``(R + ridge I) w = p`` becomes
       beta <- lambda beta + e phi - (1 - lambda) ridge w.
    2. `steps` times: the coefficient with the largest ``|beta_i|`` changes by the power of two that is 4/5
       to 8/5 of ``beta_i / (R_ii + ridge)``, and beta by that multiple of a column of R + ridge I.

    Each step decreases ``(w - w*)' (R + ridge I) (w - w*)``, where w* is the solution, because the step is
    less than twice the step to the minimum.  Steps that are longer than to the minimum on average
    (over-relaxation) need fewer of them.  In fixed point, a step of a power of two needs only shifts and
    additions.

    Parameters
    ----------
    columns : int
        D.
    sigma : float
        Width of the Gaussian kernel, in the unit of x.
    features : int
        M.
    forgetting : float
        lambda, above 0 and up to 1.
    ridge : float
        Penalty on the squares of w, which does not decrease with time.
    linear : bool
        Whether the inputs are features too, divided by `sigma`.
    steps : int
        Maximum number of coefficients that change per sample.
    seed : int
        Seed of directions and phases.
    outputs : tuple of int
        () for scalar targets, (K,) for K; R is shared.

    Attributes
    ----------
    R : ndarray of shape (P, P)
        Weighted sum of ``phi phi'`` plus the ridge; P = 1 + M, or 1 + D + M with `linear`.
    beta : ndarray of shape (P,) or (P, K)
        Residual of the normal equations.
    w : ndarray of shape (P,) or (P, K)

    Raises
    ------
    KerncastError
        E220 sigma, E258 another parameter.
    """

    def __init__(self, columns: int, sigma: float, features: int = 100, forgetting: float = 0.999,
                 ridge: float = 1e-3, linear: bool = True, steps: int = 16, seed: int = 0,
                 outputs: tuple[int, ...] = ()) -> None:
        if not is_real(forgetting) or not 0.0 < forgetting <= 1.0:
            raise fail("E258", "`forgetting` is out of range", where="forgetting", value=forgetting,
                       allowed="a number above 0, up to 1", remedy="start with 0.999")
        if not is_integer(steps) or steps < 1:
            raise fail("E258", "`steps` is out of range", where="steps", value=steps,
                       allowed="an integer >= 1", remedy="start with 16")
        sigma = positive(sigma, "sigma", "E220", "start with the median distance of samples")
        directions, self._phases = random_directions(columns, features, seed)
        self._directions, self._linear = directions / sigma, np.eye(columns) / sigma if linear else None
        self._forgetting, self._steps = float(forgetting), steps
        self._ridge = positive(ridge, "ridge", "E258", "start with 0.001")
        size = 1 + features + (columns if linear else 0)
        self.R: Array = np.eye(size) * self._ridge
        self.beta: Array = np.zeros((size, *outputs))
        self.w: Array = np.zeros((size, *outputs))

    def features(self, X: Array) -> Array:
        """Return phi of every row of `X`, shape (m, P)."""
        cosines = np.sqrt(2.0 / len(self._phases)) * np.cos(X @ self._directions.T + self._phases)
        inputs = () if self._linear is None else (X @ self._linear,)
        return np.hstack([np.ones((len(X), 1)), *inputs, cosines])

    def predict(self, X: Array) -> Array:
        """Return w.phi for every row of `X`; shape (m,) or (m, K)."""
        return np.asarray(self.features(X) @ self.w)

    def leverage(self, X: Array) -> Array:
        """Return phi' R^-1 phi for every row of `X`, shape (m,).

        Large values mean inputs that are unlike those learned. ``R`` includes the ridge.
        """
        phi = self.features(X)
        return np.asarray(np.einsum("ij,ji->i", phi, np.linalg.solve(self.R, phi.T)))

    def learn(self, X: Array, y: Array) -> Array:
        """Learn the rows of `X`, (m, D), in order; return each error before learning."""
        errors = np.zeros_like(y)
        for m, (phi, target) in enumerate(zip(self.features(X), y, strict=True)):
            errors[m] = error = target - phi @ self.w
            self._add(phi, error)
            for column in range(self.w[0].size):
                self._descend(*(a.reshape(len(phi), -1)[:, column] for a in (self.w, self.beta)))
        return errors

    def _add(self, phi: Array, error: Array) -> None:
        """Add a sample to the normal equations."""
        fading = (1.0 - self._forgetting) * self._ridge
        self.R *= self._forgetting
        self.R += np.outer(phi, phi)
        self.R[np.diag_indices_from(self.R)] += fading
        self.beta *= self._forgetting
        self.beta += np.multiply.outer(phi, error) - fading * self.w

    def _descend(self, w: Array, beta: Array) -> None:
        """Change up to `steps` coefficients of one output."""
        for _ in range(self._steps):
            i = int(np.argmax(np.abs(beta)))
            ratio = abs(beta[i]) / self.R[i, i]
            if ratio == 0.0:
                return
            size = np.copysign(2.0 ** (frexp(1.6 * ratio)[1] - 1), beta[i])
            w[i] += size
            beta -= size * self.R[i]
