"""sim.reference.systems: interpolation of one column from a uniform grid.

K is approximated by W T W'.  T is the Toeplitz kernel matrix of a uniform grid, which is exact (Lemma 1 of
S. Decherchi, P. Gastaldo, R. Zunino, "Efficient Approximate Regularized Least Squares by Toeplitz Matrix").
W interpolates from the grid to the samples, with 2 or 4 weights per row.  A product costs O(n + M log M) for
M nodes, and O(n + M) memory.

A. G. Wilson, H. Nickisch, "Kernel Interpolation for Scalable Structured Gaussian Processes (KISS-GP)",
ICML 2015, equation (5).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ..._arrays import Array
from ...errors import fail
from ...kernels import NEEDS, Kernel, require
from ..first_row import uniform_first_row
from .system import Cost, Rows, System, ToeplitzSystem, refuse_beyond_memory

Weights = Literal["linear", "cubic"]
WEIGHTS: tuple[Weights, ...] = get_args(Weights)

#: Steps of the grid per sigma.  The largest error of an entry of a Gaussian K is then 4e-3 with linear
#: and 6e-4 with cubic weights; half the step reduces it 4 and 16 times.
STEPS_IN_WIDTH: dict[Weights, int] = {"linear": 8, "cubic": 4}

# Peak memory of the grid: the spectrum of T, and the vectors of a product with it.
_BYTES_PER_NODE = 96
_BYTES_PER_TAP = 16
_ENDLESS = 2.0**62  # more nodes than any memory holds


def interpolation(u: Array, weights: Weights) -> tuple[NDArray[np.int64], Array]:
    """Return nodes and weights of Lagrange interpolation from the integers to `u`.

    Parameters
    ----------
    u : ndarray of shape (n,)
        Positions, in steps of the grid.
    weights : {"linear", "cubic"}
        Interpolation from the two or four nearest nodes, exact for polynomials of degree 1 or 3.

    Returns
    -------
    nodes : ndarray of int64, shape (n, 2) or (n, 4)
    weights : ndarray of shape (n, 2) or (n, 4)
        The sum of each row is 1.
    """
    left = np.floor(u)
    s = u - left
    if weights == "linear":
        taps, w = np.arange(2), [1 - s, s]
    else:
        taps = np.arange(-1, 3)
        w = [-s * (s - 1) * (s - 2) / 6, (s + 1) * (s - 1) * (s - 2) / 2,
             -(s + 1) * s * (s - 2) / 2, (s + 1) * s * (s - 1) / 6]
    return left.astype(np.int64)[:, np.newaxis] + taps, np.stack(w, axis=1)


@dataclass(frozen=True, eq=False)
class GridSystem(System):
    """Matrix W T W' + lambda I for samples of one column, in any order.

    Parameters
    ----------
    kernel : Kernel
        Translation invariant.
    x : ndarray of shape (n,)
        Samples; finite.
    lam : float
        lambda >= 0.
    step : float
        Distance between adjacent nodes, in the unit of `x`; > 0.
    weights : {"linear", "cubic"}

    Raises
    ------
    KerncastError
        E222 weights, E231 kernel, E237 if the grid does not fit in memory.

    Notes
    -----
    The solution alpha belongs to W T W', not to K: f(x) = sum_i alpha_i k(x_i, x) amplifies their
    difference by |alpha|, up to |y| / lambda.  An expansion in the nodes, with the coefficients of
    :meth:`at_nodes`, does not, and is 10 to 1000 times closer to the f of K.
    """

    kernel: Kernel
    x: Array
    lam: float
    step: float
    weights: Weights

    def __post_init__(self) -> None:
        if self.weights not in WEIGHTS:
            raise fail("E222", "these interpolation weights are not supported", where="weights",
                       value=repr(self.weights), allowed=", ".join(WEIGHTS), remedy="use cubic")
        require(self.kernel, "interpolation to a grid", *NEEDS["toeplitz_rls"])
        refuse_beyond_memory(_BYTES_PER_NODE * self.node_count, f"a grid of {self.node_count:,} nodes")

    @property
    def n(self) -> int:
        """Return the number of rows."""
        return len(self.x)

    @property
    def regulariser(self) -> float:
        """Return lambda, because W T W' is positive semidefinite."""
        return self.lam

    @property
    def product_cost(self) -> Cost:
        """Return the cost of ``A @ v``: that of T on the nodes, and W twice."""
        on_nodes = self._T.product_cost
        return Cost(on_nodes.multiplications + 2 * self._taps[1].size + self.n, 0,
                    on_nodes.bytes + _BYTES_PER_TAP * self._taps[1].size)

    @property
    def node_count(self) -> int:
        """Return M, the nodes from one step before the first sample to two after the last."""
        return node_count(self.x, self.step)

    @cached_property
    def nodes(self) -> Array:
        """Return the grid, shape (M, 1), in the unit of the samples."""
        return np.asarray(self.x.min() + self.step * np.arange(-1.0, self.node_count - 1.0)[:, np.newaxis])

    @cached_property
    def _taps(self) -> tuple[NDArray[np.int64], Array]:
        """Return node numbers and weights of each sample, shape (n, 2) or (n, 4)."""
        nodes, w = interpolation((self.x - self.x.min()) / self.step, self.weights)
        return nodes + 1, w

    @cached_property
    def _W(self) -> Any:
        """Return the weights as a sparse matrix, shape (n, M)."""
        from scipy.sparse import csr_array  # imported on first use

        nodes, w = self._taps
        starts = np.arange(0, nodes.size + 1, nodes.shape[1])
        return csr_array((w.ravel(), nodes.ravel(), starts), shape=(self.n, self.node_count))

    @cached_property
    def _T(self) -> ToeplitzSystem:
        """Return the kernel matrix of the nodes."""
        return ToeplitzSystem(uniform_first_row(self.node_count, self.step, self.kernel))

    def block(self, rows: Rows, columns: Rows) -> Array:
        """Compute A[rows, columns], tap by tap; the result is symmetric to the last bit."""
        numbers = np.arange(self.n)
        block = np.asarray(self.lam * (numbers[rows, np.newaxis] == numbers[columns]))
        for tap, other in combinations_with_replacement(range(self._taps[1].shape[1]), 2):
            pair = self._term(rows, tap, columns, other)
            block += pair if tap == other else pair + self._term(rows, other, columns, tap)
        return block

    def _term(self, rows: Rows, tap: int, columns: Rows, other: int) -> Array:
        """Return the contribution of one row tap and one column tap to A[rows, columns]."""
        nodes, w = self._taps
        distance = np.abs(nodes[rows, tap, np.newaxis] - nodes[columns, other])
        return np.asarray(w[rows, tap, np.newaxis] * w[columns, other] * self._T.r[distance])

    def diagonal(self) -> Array:
        """Return w_i' T w_i + lambda for each row w_i of W, shape (n,)."""
        _, w = self._taps
        taps = np.arange(w.shape[1])
        near = self._T.r[np.abs(taps[:, np.newaxis] - taps)]
        return np.asarray(np.einsum("ia,ab,ib->i", w, near, w) + self.lam)

    def __matmul__(self, V: Array) -> Array:
        """Return A V for `V` of shape (n,) or (n, m), by FFT."""
        return np.asarray(self._W @ (self._T @ (self._W.T @ V)) + self.lam * V)

    def at_nodes(self, alpha: Array) -> Array:
        """Return the node coefficients W' alpha, shape (M,) or (M, m)."""
        return np.asarray(self._W.T @ alpha)


def node_count(x: Array, step: float) -> int:
    """Return the number of nodes of a grid for the samples `x`, shape (n,)."""
    with np.errstate(over="ignore"):
        return int(min(np.ptp(x) / step, _ENDLESS)) + 4
