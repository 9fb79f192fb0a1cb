"""sim.reference.systems: interpolation of one column from a uniform grid.

The kernel matrix K of samples of one column is approximated by W T W' (A. G. Wilson, H. Nickisch, "Kernel
Interpolation for Scalable Structured Gaussian Processes (KISS-GP)", ICML 2015, equation (5)). T is the kernel
matrix of a uniform grid, which is a Toeplitz matrix (Lemma 1 of S. Decherchi, P. Gastaldo, R. Zunino,
"Efficient Approximate Regularized Least Squares by Toeplitz Matrix"). W interpolates from the grid to the
samples, with 2 or 4 weights per row. A product with W T W' needs O(n + M log M) time and O(n + M) memory for
M grid nodes.
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
    """Return the nodes and weights of Lagrange interpolation at the positions `u`.

    The nodes are integers.

    Parameters
    ----------
    u : ndarray of shape (n,)
        Positions, in steps of the grid.
    weights : {"linear", "cubic"}
        Interpolation from the two or four nearest nodes, which is exact for polynomials of degree 1 or 3.

    Returns
    -------
    nodes : ndarray of int64, shape (n, 2) or (n, 4)
        The nearest nodes.
    weights : ndarray of shape (n, 2) or (n, 4)
        Their weights; the sum of each row is 1.
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
        Translation-invariant kernel.
    x : ndarray of shape (n,)
        Samples; finite.
    lam : float
        lambda >= 0.
    step : float
        Distance between adjacent nodes, in the unit of `x`; > 0.
    weights : {"linear", "cubic"}
        Kind of interpolation.

    Raises
    ------
    KerncastError
        E222 for weights, E231 for the kernel, E237 if the grid does not fit in memory.

    Notes
    -----
    alpha is the solution for W T W', not for K. Therefore f(x) = sum_i alpha_i k(x_i, x) amplifies the
    difference between the two matrices by |alpha|, which can be as large as |y| / lambda. An expansion in the
    grid nodes, with the coefficients of :meth:`at_nodes`, does not have this error: it is 10 to 1000 times
    closer to the f that K gives.
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
        """Return lambda; W T W' is positive semidefinite."""
        return self.lam

    @property
    def product_cost(self) -> Cost:
        """Return the cost of ``A @ v``, which needs a product with T and two with W."""
        on_nodes = self._T.product_cost
        return Cost(on_nodes.multiplications + 2 * self._taps[1].size + self.n, 0,
                    on_nodes.bytes + _BYTES_PER_TAP * self._taps[1].size)

    @property
    def node_count(self) -> int:
        """Return the number of nodes M.

        The grid extends from one step before the first sample to two steps after the last one.
        """
        return node_count(self.x, self.step)

    @cached_property
    def nodes(self) -> Array:
        """Return the grid nodes, shape (M, 1), in the unit of the samples."""
        return np.asarray(self.x.min() + self.step * np.arange(-1.0, self.node_count - 1.0)[:, np.newaxis])

    @cached_property
    def _taps(self) -> tuple[NDArray[np.int64], Array]:
        """Return the node indices and the weights of each sample, shape (n, 2) or (n, 4)."""
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
        """Compute A[rows, columns]; a block on the diagonal is exactly symmetric."""
        numbers = np.arange(self.n)
        block = np.asarray(self.lam * (numbers[rows, np.newaxis] == numbers[columns]))
        for tap, other in combinations_with_replacement(range(self._taps[1].shape[1]), 2):
            pair = self._term(rows, tap, columns, other)
            block += pair if tap == other else pair + self._term(rows, other, columns, tap)
        return block

    def _term(self, rows: Rows, tap: int, columns: Rows, other: int) -> Array:
        """Return the part of A[rows, columns] due to one weight per row and per column."""
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
        """Compute A V by FFT, for `V` of shape (n,) or (n, m)."""
        return np.asarray(self._W @ (self._T @ (self._W.T @ V)) + self.lam * V)

    def at_nodes(self, alpha: Array) -> Array:
        """Return the coefficients W'alpha of the nodes, shape (M,) or (M, m)."""
        return np.asarray(self._W.T @ alpha)


def node_count(x: Array, step: float) -> int:
    """Return the number of grid nodes for the samples `x`, shape (n,)."""
    with np.errstate(over="ignore"):
        return int(min(np.ptp(x) / step, _ENDLESS)) + 4
