"""sim.reference.online: the linear part of a learner, by RLS or NLMS.

RLS stores the normal equations of (1, x) as their Cholesky factor R, which Givens rotations update:
S. Haykin, "Adaptive Filter Theory", 5th edition, 2014, chapter 15 (QR-RLS). NLMS is chapter 7.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from ..._arrays import Array
from ..._checks import is_real
from ...errors import fail


class SquareRootRLS:
    """Linear model w.(1, x) by least squares with forgetting and a constant ridge.

    Each sample rotates the row ``(1, x)`` with its target into ``R w = z``, scaled by ``sqrt(forgetting)``.
    Then it rotates in one row of the ridge, ``sqrt((1 - forgetting) M ridge) e_j`` with target 0, for the
    columns j in turn.  Therefore the ridge does not decay if a column is not excited, and w cannot wind up.

    Parameters
    ----------
    columns : int
        D.
    outputs : tuple of int
        () for scalar targets, (K,) for K.
    forgetting : float
        lambda, above 0 and below 1: after t more samples, a sample has the weight lambda^t.
    ridge : float
        Penalty on the squares of w, > 0, in squared units of x (for the intercept, of 1).

    Attributes
    ----------
    R : ndarray of shape (M, M)
        Upper triangular factor, M = D + 1.
    z : ndarray of shape (M,) or (M, K)
    w : ndarray of shape (M,) or (M, K)
        The solution of ``R w = z``; the intercept comes first.

    Raises
    ------
    KerncastError
        E258 if a parameter is out of range.
    """

    def __init__(self, columns: int, outputs: tuple[int, ...], forgetting: float, ridge: float) -> None:
        if not is_real(forgetting) or not 0.0 < forgetting < 1.0:
            raise fail("E258", "linear_forgetting is out of range", where="linear_forgetting",
                       value=forgetting, allowed="a number above 0 and below 1", remedy="start with 0.999")
        if not is_real(ridge) or not 0.0 < ridge < np.inf:
            raise fail("E258", "linear_ridge is out of range", where="linear_ridge", value=ridge,
                       allowed="a number above 0", remedy="start with 0.001 of the squared range of x")
        order = columns + 1
        self.R: Array = np.eye(order) * sqrt(ridge)
        self.z: Array = np.zeros((order, *outputs))
        self.w: Array = np.zeros((order, *outputs))
        self._root, self._fading = sqrt(forgetting), sqrt((1.0 - forgetting) * order * ridge)
        self._next = 0

    def predict(self, X: Array) -> Array:
        """Return w.(1, x) for one sample (D,) or for all rows of (m, D)."""
        return np.asarray(self.w[0] + X @ self.w[1:])

    def learn(self, x: Array, target: Array | float) -> None:
        """Learn one sample (D,) and its target, a number or (K,)."""
        from .rotations import rotate  # loads numba

        self.R *= self._root
        self.z *= self._root
        z = self.z.reshape(len(self.z), -1)  # a view
        rotate(self.R, z, np.concatenate(([1.0], x)), np.array(target, dtype=float).reshape(-1), 0)
        ridge = np.zeros(len(self.w))
        ridge[self._next] = self._fading
        rotate(self.R, z, ridge, np.zeros(z.shape[1]), self._next)
        self._next = (self._next + 1) % len(self.w)
        for i in range(len(self.w) - 1, -1, -1):
            self.w[i] = (self.z[i] - self.R[i, i + 1:] @ self.w[i + 1:]) / self.R[i, i]


class NormalisedLMS:
    """Linear model w.(1, x) by normalised LMS, in O(D) time and memory per output.

    A sample with error e changes w along its features phi = (1, x / scale), by step e phi / phi.phi.

    Parameters
    ----------
    columns : int
        D.
    outputs : tuple of int
        () for scalar targets, (K,) for K.
    step : float
        Above 0 and below 2.
    scale : float
        Unit of the inputs, > 0: about their largest value.

    Attributes
    ----------
    w : ndarray of shape (M,) or (M, K)
        The intercept comes first; M = D + 1.

    Raises
    ------
    KerncastError
        E258 if the step is out of range.
    """

    def __init__(self, columns: int, outputs: tuple[int, ...], step: float, scale: float = 1.0) -> None:
        if not is_real(step) or not 0.0 < step < 2.0:
            raise fail("E258", "linear_step is out of range", where="linear_step", value=step,
                       allowed="a number above 0 and below 2", remedy="start with 0.1")
        self.w: Array = np.zeros((columns + 1, *outputs))
        self._step, self._scale = step, scale

    def predict(self, X: Array) -> Array:
        """Return w.(1, x) for one sample (D,) or for all rows of (m, D)."""
        return np.asarray(self.w[0] + X @ self.w[1:])

    def learn(self, x: Array, target: Array | float) -> None:
        """Learn one sample (D,) and its target, a number or (K,)."""
        phi = np.concatenate(([1.0], x / self._scale))
        change = np.multiply.outer(phi, self._step * (target - self.predict(x)) / (phi @ phi))
        self.w[0] += change[0]
        self.w[1:] += change[1:] / self._scale


#: A linear part.
LinearPart = SquareRootRLS | NormalisedLMS


def linear_part(kind: str | None, columns: int, outputs: tuple[int, ...], forgetting: float,
                ridge: float, step: float) -> LinearPart | None:
    """Create the linear part by its name, or None; raise E258 for another."""
    if kind == "rls":
        return SquareRootRLS(columns, outputs, forgetting, ridge)
    if kind == "nlms":
        return NormalisedLMS(columns, outputs, step)
    if kind is None:
        return None
    raise fail("E258", "this linear part is not supported", where="linear", value=repr(kind),
               allowed="\"rls\", \"nlms\" or None", remedy="use \"rls\"")
