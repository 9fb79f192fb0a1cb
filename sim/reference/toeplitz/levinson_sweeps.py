"""sim.reference.toeplitz: compiled Levinson recursions.

The recursion of :mod:`.levinson` is limited by memory bandwidth and by sums that depend on each other. Here
the symmetric recursion computes two orders per pass, called a sweep: each vector is loaded once for two
orders, and the sums for the next two orders are computed while the vectors are written. With a and b of order
m, b_i = a_{m-i}, and r_j = 0 for j >= n:
    delta_1 = sum r_{m+1-i} a_i,   delta_2 = sum r_{m+2-i} a_i,   delta_3 = sum r_{i+1} a_i
    xi_1 = -delta_1 / eps,         xi_2 = -(delta_2 + xi_1 delta_3) / (eps (1 - xi_1^2))
    a'_i = a_i + xi_1 b_{i-1},     b'_i = b_{i-1} + xi_1 a_i         of order m + 1
    a"_i = a'_i + xi_2 b'_{i-1},   b"_i = b'_{i-1} + xi_2 a'_i       of order m + 2
    x"_i = x_i + mu_1 b'_i + mu_2 b"_i
Only the first halves of a and b are stored, A_i = a_i and B_i = b_i for i <= m/2; the second half of each is
the first half of the other, reversed. x is also stored in two halves, the second one reversed, so that all
loops run forward.
"""

from __future__ import annotations

import numpy as np

from ..._arrays import Array
from ...jit import jit_sums

# Pairs of entries per block, which then fits in the first-level cache (about 20 kB).
_BLOCK = 512


@jit_sums
def _advance(a: Array, a_1: Array, b_1: Array, b_2: Array, xi_1: float, xi_2: float, A: Array,
             B: Array) -> None:
    """Compute a" and b" from a_i, a_{i-1}, b_{i-1}, b_{i-2}."""
    for i in range(a.shape[0]):
        a_next = a[i] + xi_1 * b_1[i]
        b_next = b_2[i] + xi_1 * a_1[i]  # b'_{i-1}
        A[i] = a_next + xi_2 * b_next
        B[i] = b_next + xi_2 * a_next


@jit_sums
def _sums(A: Array, B: Array, far_1: Array, far_2: Array, near_1: Array, near_2: Array,
          delta: Array) -> None:
    """Add the contributions of a block and its mirror image to delta_1 to delta_3."""
    d_1 = d_2 = d_3 = e_1 = e_2 = e_3 = 0.0
    for i in range(A.shape[0]):
        d_1 += far_1[i] * A[i]
        e_1 += near_1[i] * B[i]
        d_2 += far_2[i] * A[i]
        e_2 += near_2[i] * B[i]
        d_3 += near_1[i] * A[i]
        e_3 += far_1[i] * B[i]
    delta[0] += d_1 + e_1
    delta[1] += d_2 + e_2
    delta[2] += d_3 + e_3


@jit_sums
def _advance_x(x: Array, b: Array, a: Array, B: Array, xi_1: float, mu: Array, r_1: Array,
               r_2: Array) -> None:
    """Compute x" from x_i, b_{i-1}, a_i and b".

    Also compute its terms in the sums of the next two orders.
    """
    sum_1 = sum_2 = 0.0
    on_b, on_a, on_B = mu[0], mu[0] * xi_1, mu[1]
    for i in range(x.shape[0]):
        x_i = x[i] + on_b * b[i] + on_a * a[i] + on_B * B[i]
        x[i] = x_i
        sum_1 += r_1[i] * x_i
        sum_2 += r_2[i] * x_i
    mu[2] += sum_1
    mu[3] += sum_2


@jit_sums
def _sweep(m: int, r: Array, k: Array, old: Array, new: Array, xi_1: float, xi_2: float, x: Array, mu: Array,
           delta: Array) -> None:
    """Advance from order m to m + 2.

    The layout of `old` and `new` is that of :func:`sweeps`: old[0, i+1] is A_i, and old[1, i+2] is B_i.
    """
    n = x.shape[2] - 2
    h, s, o = m // 2 + 1, n - m - 2, n - m - 3
    A, B, A_new, B_new = old[0], old[1], new[0], new[1]
    A[h + 1] = B[h] if h > 1 else 0.0  # a_h = b_{m-h}, the second half's first
    for start in range(0, h, _BLOCK):
        i, j = start, min(h, start + _BLOCK)
        _advance(A[i + 1: j + 1], A[i:j], B[i + 1: j + 1], B[i:j], xi_1, xi_2, A_new[i + 1: j + 1],
                 B_new[i + 2: j + 2])
        _sums(A_new[i + 1: j + 1], B_new[i + 2: j + 2], k[s + i: s + j], k[s - 1 + i: s - 1 + j],
              r[i + 1: j + 1], r[i + 2: j + 2], delta)
        for c in range(x.shape[0]):
            _advance_x(x[c, 0, i:j], B[i + 1: j + 1], A[i + 1: j + 1], B_new[i + 2: j + 2], xi_1, mu[c],
                       k[s + i: s + j], k[s - 1 + i: s - 1 + j])
            _advance_x(x[c, 1, o + i: o + j], A[i:j], B[i:j], A_new[i + 1: j + 1], xi_1, mu[c],
                       r[i + 1: j + 1], r[i + 2: j + 2])
    i = h  # the middle, its own mirror image
    _advance(A[i + 1: i + 2], A[i: i + 1], B[i + 1: i + 2], B[i: i + 1], xi_1, xi_2, A_new[i + 1: i + 2],
             B_new[i + 2: i + 3])
    middle = A_new[i + 1]
    delta[0] += r[i + 1] * middle
    delta[1] += r[i + 2] * middle
    delta[2] += r[i + 1] * middle
    for c in range(x.shape[0]):
        x[c, 0, i] = x[c, 1, n - 1 - i]  # now part of the first half
        _advance_x(x[c, 0, i: i + 1], B[i + 1: i + 2], A[i + 1: i + 2], B_new[i + 2: i + 3], xi_1, mu[c],
                   r[i + 1: i + 2], r[i + 2: i + 3])


@jit_sums
def sweeps(r: Array, k: Array, Y: Array, ab: Array, x: Array, mu: Array, delta: Array, xi: Array) -> int:
    """Run the recursion by pairs of orders, to the end or to the first |xi| >= 1.

    Parameters
    ----------
    r : ndarray of shape (n+2,)
        First column, followed by two zeros.
    k, Y : ndarray of shape (n+2,), (columns, n)
        `r` reversed, and the right-hand sides.
    ab : ndarray of shape (2, 2, n // 2 + 6)
        Zeros, which are replaced by the halves of a and b, alternately for two orders.
    x : ndarray of shape (columns, 2, n+2)
        Zeros, which are replaced by the first half of x, and the second half in reverse order.
    mu : ndarray of shape (columns, 4)
        mu / eps of two orders, and the sums of r and x that the next two orders need.
    delta : ndarray of shape (4,)
        Work space: delta_1, delta_2, delta_3 and eps.
    xi : ndarray of shape (n-1,)
        The reflection coefficients.

    Returns
    -------
    m : int
        The final order, which is n-1 or n-2; or -m if the m-th xi is the first with |xi| >= 1.
    """
    n, m, eps = Y.shape[1], 0, r[0]
    ab[0, 0, 1] = ab[0, 1, 2] = 1.0
    delta[0], delta[1], delta[2] = r[1], r[2], r[1]
    for c in range(Y.shape[0]):
        x[c, 0, 0] = Y[c, 0] / eps
        mu[c, 2], mu[c, 3] = r[1] * x[c, 0, 0], r[2] * x[c, 0, 0]
    while m + 2 < n:
        xi_1 = -delta[0] / eps
        between = eps * ((1.0 - xi_1) * (1.0 + xi_1))
        xi_2 = -(delta[1] + xi_1 * delta[2]) / between
        xi[m], xi[m + 1] = xi_1, xi_2
        if not abs(xi_1) < 1.0 or not abs(xi_2) < 1.0:  # also if NaN
            return -m - (2 if abs(xi_1) < 1.0 else 1)
        eps = between * ((1.0 - xi_2) * (1.0 + xi_2))
        for c in range(Y.shape[0]):
            mu[c, 0] = (Y[c, m + 1] - mu[c, 2]) / between
            mu[c, 1] = (Y[c, m + 2] - mu[c, 3] - mu[c, 0] * (delta[2] + xi_1 * delta[1])) / eps
            mu[c, 2] = mu[c, 3] = 0.0
        delta[0] = delta[1] = delta[2] = 0.0
        turn = m // 2 % 2
        _sweep(m, r, k, ab[turn], ab[1 - turn], xi_1, xi_2, x, mu, delta)
        m += 2
    delta[3] = eps
    return m


def two_orders(r: Array, Y: Array) -> tuple[Array, Array, float, bool, int]:
    """Run the recursion over all rows, with two orders per sweep.

    Parameters
    ----------
    r : ndarray of shape (n,)
        First column.
    Y : ndarray of shape (n, columns)
        Right-hand sides.

    Returns
    -------
    x : ndarray of shape (n, columns)
        The unknowns; valid only if `well` is true.
    xi : ndarray
        Reflection coefficients, shape (n-1,), or up to the first one with magnitude 1 or more.
    eps : float
        The last prediction error power.
    well : bool
        Whether all |xi| < 1.
    bytes : int
        Memory of the work space.
    """
    n, columns = Y.shape
    padded = np.append(r, (0.0, 0.0))
    work = (padded, padded[::-1].copy(), np.ascontiguousarray(Y.T), np.zeros((2, 2, n // 2 + 6)),
            np.zeros((columns, 2, n + 2)), np.zeros((columns, 4)), np.zeros(4), np.zeros(n - 1))
    m = sweeps(*work)
    _, _, _, ab, halves, mu, delta, xi = work
    held = sum(array.nbytes for array in work)
    x, eps = np.zeros_like(Y), float(delta[3])
    if m >= 0:
        h = m // 2 + 1
        x[:h], x[h: m + 1] = halves[:, 0, :h].T, halves[:, 1, n - 1 - m: n - h].T[::-1]
    if m >= 0 and m == n - 2:  # one order is left
        now = ab[m // 2 % 2]
        a = np.append(now[0, 1: h + 1], now[1, 2: m - h + 3][::-1])
        xi[m] = -delta[0] / eps
        b = np.append(0.0, a[::-1]) + xi[m] * np.append(a, 0.0)
        eps *= (1.0 - xi[m]) * (1.0 + xi[m])
        x += np.multiply.outer(b, (Y[m + 1] - mu[:, 2]) / eps)
        m = n - 1 if abs(xi[m]) < 1.0 else 1 - n
    return x, xi[:abs(m)].copy(), eps, m >= 0, held


@jit_sums
def _inner(u: Array, v: Array) -> float:
    total = 0.0
    for i in range(u.shape[0]):
        total += u[i] * v[i]
    return total


@jit_sums
def _cross(a: Array, b: Array, xi: float, nu: float) -> None:
    for i in range(a.shape[0]):
        a_i = a[i]
        a[i] += xi * b[i]
        b[i] += nu * a_i


@jit_sums
def recursion_by_entries(c: Array, r: Array, y: Array, least: float, a: Array, b: Array,
                         x: Array) -> tuple[int, float]:
    """Run the unsymmetric recursion in compiled loops; see :mod:`.levinson_general`."""
    n, eps = y.shape[1], c[c.shape[0] - 1]
    a[0] = b[n] = 1.0
    for m in range(n):
        gamma, now = c[n - 1 - m: n - 1], b[n - m: n + 1]
        if m > 0:
            xi, nu = -_inner(gamma, a[:m]) / eps, -_inner(r[1: m + 1], now[1:]) / eps
            _cross(a[: m + 1], now, xi, nu)
            eps *= 1.0 - xi * nu
        if not abs(eps) > least:
            return m, eps
        for k in range(y.shape[0]):
            _add(x[k, : m + 1], now, (y[k, m] - _inner(gamma, x[k, :m])) / eps)
    return n, eps


@jit_sums
def _add(x: Array, b: Array, mu: float) -> None:
    for i in range(x.shape[0]):
        x[i] += mu * b[i]


@jit_sums
def subtract_product(diagonals: Array, x: Array, Y: Array) -> None:
    """Subtract T x from Y in place.

    `x` and `Y` have shape (columns, n). `diagonals`, of shape (2n-1,), contains those of T, from the first
    row to the first column.
    """
    n = x.shape[1]
    for k in range(x.shape[0]):
        for i in range(n):
            Y[k, i] -= _inner(diagonals[n - 1 - i: 2 * n - 1 - i], x[k])
