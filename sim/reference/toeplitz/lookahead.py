"""sim.reference.toeplitz: look-ahead Levinson for indefinite symmetric matrices.

The algorithm follows T. F. Chan, P. C. Hansen, "A look-ahead Levinson algorithm for general Toeplitz
systems", IEEE Trans. Signal Processing 40(5), 1992. If a leading minor is zero or almost zero, the recursion
processes p rows in one step, by means of the p by p Schur complement of the last regular leading block.

An order m is called regular if T_m, the leading block of order m, is well conditioned. After each step, m is
regular, and the state is
    a    (m+1)   predictor: T_{m+1} a = eps e_1, a_0 = 1; b, its reversal, solves T_{m+1} b = eps e_{m+1}
    g    (m)     first column of T_m^-1
    x    (m, k)  T_m x = y, the first m equations.
**A step of one row is the ordinary Durbin update.** A step of several rows computes eps and g from the rows
instead of updating them. a and g then become inconsistent, and each such step multiplies the errors of the
previous one. Therefore steps of several rows are used only if necessary, and each is followed by one
refinement.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ..._arrays import Array
from ..check import check_solution
from ..result import Solution, Status
from ..systems.system import ToeplitzSystem, fft_multiplications
from .product import ToeplitzInverse, ToeplitzProduct, fft_size, largest_norm

#: Largest number of rows per step.
MAX_BLOCK = 16

# A single step is taken while |eps| is at least this part of its recent level ...
_GOOD = 0.01
# ... otherwise the shortest block whose smallest singular value is at least this part of the largest.
_NEAR_BEST = 0.1
# A block whose smallest singular value is below this part of T's typical eigenvalue is singular.
_SINGULAR = 1e-14

_REFINEMENTS = 10


@dataclass
class _Regular:
    """State at a regular order m; the module's docstring states the shapes."""

    a: Array
    eps: float
    g: Array
    x: Array

    @property
    def m(self) -> int:
        return len(self.g)


def lookahead(r: Array, Y: Array, max_block: int = MAX_BLOCK) -> Solution:
    """Solve T x = y for any symmetric Toeplitz T in O(n^2) time and O(n) memory.

    Parameters
    ----------
    r : ndarray of shape (n,)
        First column of T; finite.
    Y : ndarray of shape (n,) or (n, m)
        Right-hand sides; finite.
    max_block : int
        Maximum number of rows per step; the memory is proportional to max_block n.

    Returns
    -------
    Solution
        Solution with `blocks`, the numbers of rows of the steps. The status is ``breakdown`` if no step of up
        to `max_block` rows leads to a regular order (T itself may be singular), or if the residual is too
        large after refinement.

    Notes
    -----
    `a` and `g` give T_m^-1 in closed form (:class:`ToeplitzInverse`). It is used to refine the steps of
    several rows and the final x, in O(n log n) time each. This recovers the accuracy that ill-conditioned
    leading blocks lose, so that the error is that of a dense solver. For a positive definite T, a step of one
    row is always best conditioned, so the steps are those of Levinson's recursion.

    The authors choose p by an estimate of the condition number of T_{m+p}. Here the criterion, for all
    allowed p, is the smallest singular value of its Schur complement S, because |S^-1| <= |T_{m+p}^-1|.
    """
    n = len(r)
    columns = Y.reshape(n, -1)
    k = np.append(r, 0.0)  # r_n enters the last predictor only, where T^-1 allows any value
    with np.errstate(all="ignore"):  # check_solution rejects overflow
        typical = _typical_eigenvalue(r)
        state = _Regular(np.ones(1), float(r[0]), np.empty(0), np.empty((0, columns.shape[1])))
        blocks: list[int] = []
        recent = [typical]  # |eps| at the last regular m, one per row that a block may skip
        while state.m < n and np.isfinite(state.eps):
            p = 1
            if not abs(state.eps) > max(_GOOD * max(recent), _SINGULAR * typical):
                B, S = _schur_complement(k, state, min(max_block, n - state.m))
                p = _block_size(S, _SINGULAR * typical)
                if p == 0:
                    break
            state = (_single_step(k, columns, state) if p == 1 else
                     _block_step(k, columns, state, B[:, :p], S[:p, :p]))
            blocks.append(p)
            recent = [*recent, abs(state.eps)][-max_block:]
        return _answer(r, Y, state, tuple(blocks), max_block)


def _typical_eigenvalue(r: Array) -> float:
    """Return |T|_F / sqrt(n), the root mean square of the eigenvalues."""
    n = len(r)
    weight = 2.0 * (1.0 - np.arange(n) / n)
    weight[0] = 1.0
    return largest_norm(r * np.sqrt(weight))


def _schur_complement(k: Array, state: _Regular, p: int) -> tuple[Array, Array]:
    """Return B = T_m^-1 C and S = T_p - C'B.

    Here T_{m+p} = [[T_m, C], [C', T_p]] and C_ij = k_{m+j-i}. Each column of B is computed from the previous
    one: with the down shift Z and rho = (k_1, ..., k_m), b_{j+1} = Z b_j + (b_j)_{m-1} b_0 + (k_{m+j+1} -
    rho' b_j) g.

    Parameters
    ----------
    k : ndarray of shape (n+1,)
        First column of T, followed by 0.
    state : _Regular
        State at order m.
    p : int
        Number of rows.

    Returns
    -------
    B : ndarray of shape (m, p)
    S : ndarray of shape (p, p)
        The Schur complement.
    """
    m, rows = state.m, np.arange(p)
    T_p = k[np.abs(np.subtract.outer(rows, rows))]
    B = np.empty((m, p), order="F")
    if m == 0:
        return B, T_p
    B[:, 0] = -state.a[:0:-1]
    for j in range(p - 1):
        B[1:, j + 1] = B[:-1, j]
        B[0, j + 1] = 0.0
        B[:, j + 1] += B[m - 1, j] * B[:, 0] + (k[m + j + 1] - k[1: m + 1] @ B[:, j]) * state.g
    S = T_p - _coupling(k, m, p).T @ B
    S[0, 0] = state.eps  # its exact value, without the rounding of a long sum
    return B, (S + S.T) / 2.0


def _coupling(k: Array, m: int, p: int) -> Array:
    """Return C of shape (m, p), C_ij = k_{m+j-i}, as a view."""
    return sliding_window_view(k, p)[m:0:-1]


def _block_size(S: Array, singular: float) -> int:
    """Return the size of the best conditioned leading block of S.

    The size is 0 if all leading blocks are singular.
    """
    if not np.all(np.isfinite(S)):
        return 0
    sizes = range(1, len(S) + 1)
    smallest = np.array([np.abs(np.linalg.eigvalsh(S[:p, :p])).min() for p in sizes])
    good = (smallest >= _NEAR_BEST * smallest.max()) & (smallest > singular)
    return int(good.argmax()) + 1 if good.any() else 0


def _single_step(k: Array, Y: Array, state: _Regular) -> _Regular:
    """Advance from order m to m+1 by Durbin's update, as :func:`levinson`, for any xi."""
    m, a, eps = state.m, state.a, state.eps
    mu = Y[m] - k[m:0:-1] @ state.x
    x = np.vstack((state.x, np.zeros_like(mu)))
    x += np.multiply.outer(a[::-1], mu / eps)               # x_i += (mu / eps) b_i
    xi = -float(k[m + 1: 0: -1] @ a) / eps                  # xi = -delta / eps
    longer = np.append(a, 0.0)
    longer[1:] += xi * a[::-1]                              # a_i += xi b_{i-1}
    return _Regular(longer, eps * (1.0 - xi) * (1.0 + xi), a / eps, x)


def _block_step(k: Array, Y: Array, state: _Regular, B: Array, S: Array) -> _Regular:
    """Advance from order m to m+p.

    A solution v of T_m v = c becomes [v - B z; z], where z solves S z = (new rows of c) - C'v. `B` (m, p) and
    `S` (p, p) are the result of :func:`_schur_complement`.
    """
    m, p = B.shape
    old = np.column_stack((state.g, state.a[1:], state.x))
    new_rows = np.column_stack((np.zeros(p), -k[m + 1: m + p + 1], Y[m: m + p]))
    if m:
        new_rows = new_rows - _coupling(k, m, p).T @ old
    else:
        new_rows[0, 0] = 1.0  # g: the first row of T g = e_1 is a new row
    z = np.linalg.solve(S, new_rows)
    both = np.vstack((old - B @ z, z))
    g, w = _corrected(k[: m + p + 1], both[:, :2]).T
    return _Regular(np.append(1.0, w), float(k[0] + k[1: m + p + 1] @ w), g, both[:, 2:])


def _corrected(k: Array, gw: Array) -> Array:
    """Refine the solutions of T g = e_1 and T w = -(k_1, ..., k_m) by one iteration.

    `gw` contains g and w and has shape (m, 2). Without refinement, g and w become inconsistent, and each step
    of several rows multiplies the errors of the previous one.
    """
    wanted = np.column_stack((np.zeros(len(gw)), -k[1:]))
    wanted[0, 0] = 1.0
    T, inverse = ToeplitzProduct(k[:-1]), ToeplitzInverse(gw[:, 0], gw[:, 1])
    return np.asarray(gw + inverse @ (wanted - T @ gw))


def _answer(r: Array, Y: Array, state: _Regular, blocks: tuple[int, ...], max_block: int) -> Solution:
    """Refine and check the solution; return it with its status and operation counts."""
    n, m = len(r), state.m
    status, x, why = Status.OK, np.zeros_like(Y), ""
    if m < n:
        status = Status.BREAKDOWN
        why = (f"from row {m} of {n} every block of up to {max_block} rows is singular: the matrix is "
               "singular, or max_block is too small")
    else:
        x = _refined(r, Y, state)
    columns = Y.size // n
    solution = check_solution(ToeplitzSystem(r), Y, x, status, method="lookahead", iterations=len(blocks),
                              why=why, blocks=blocks, operations=_multiplications(blocks, columns),
                              bytes=8 * (n * (2 * max(blocks, default=1) + 2 * columns + 6)
                                         + 6 * fft_size(n)))
    if status is Status.OK and not solution.ok:
        solution = replace(solution, why="the residual stays large: the matrix is nearly singular")
    return solution


def _multiplications(blocks: tuple[int, ...], columns: int) -> int:
    """Return the approximate number of multiplications of the steps.

    The refinement of x is not included.
    """
    count = m = 0
    for p in blocks:
        count += (2 * columns + 3) * m if p == 1 else p * m * (p + 3 + 2 * (columns + 2))
        m += p
        count += 30 * fft_multiplications(fft_size(m)) if p > 1 else 0
    return count


def _refined(r: Array, Y: Array, state: _Regular) -> Array:
    """Add T^-1 (y - T x) to x repeatedly, as long as the residual at least halves."""
    T, inverse = ToeplitzProduct(r), ToeplitzInverse(state.g, state.a[1:])
    x = state.x.reshape(Y.shape)
    rest = np.asarray(Y - T @ x)
    for _ in range(_REFINEMENTS):
        better = x + inverse @ rest
        left = np.asarray(Y - T @ better)
        if not largest_norm(left) < 0.5 * largest_norm(rest):  # also if NaN
            break
        x, rest = better, left
    return x
