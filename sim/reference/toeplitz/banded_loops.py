"""sim.reference.toeplitz: compiled recursions for banded matrices, four rows each.

Each row depends on the previous one, so a loop over single rows would wait for each sum and for the storage
of each result. The sums of four rows over the earlier rows are independent of each other, so they are
computed together. The terms between the four rows are added afterwards.
"""

from __future__ import annotations

from ..._arrays import Array
from ...jit import jit_sums


@jit_sums
def _four_sums(z: Array, c_0: Array, c_1: Array, c_2: Array, c_3: Array) -> tuple[float, float, float, float]:
    """Return the inner products of z with four rows of coefficients."""
    s_0 = s_1 = s_2 = s_3 = 0.0
    for i in range(z.shape[0]):
        s_0 += z[i] * c_0[i]
        s_1 += z[i] * c_1[i]
        s_2 += z[i] * c_2[i]
        s_3 += z[i] * c_3[i]
    return s_0, s_1, s_2, s_3


@jit_sums
def recur(z: Array, first: int, last: int, c: Array) -> None:
    """Subtract the weighted sum of the b previous elements from each z_i, in place.

    The sum is c_{b+2-j} z_{i-j} over j = 1 to b.

    Parameters
    ----------
    z : ndarray of shape (length,)
        The vector.
    first, last : int
        Range of the elements z_i, with b <= first; `last` is exclusive.
    c : ndarray of shape (b + 6,)
        Three zeros, the coefficients of lags b to 1, and three zeros.
    """
    b = c.shape[0] - 6
    near_1, near_2, near_3 = c[b + 2], c[b + 1], c[b]
    i = first
    while i + 4 <= last:
        s_0, s_1, s_2, s_3 = _four_sums(z[i - b: i], c[3: b + 3], c[2: b + 2], c[1: b + 1], c[0: b])
        z_0 = z[i] - s_0
        z_1 = z[i + 1] - s_1 - near_1 * z_0
        z_2 = z[i + 2] - s_2 - near_2 * z_0 - near_1 * z_1
        z_3 = z[i + 3] - s_3 - near_3 * z_0 - near_2 * z_1 - near_1 * z_2
        z[i], z[i + 1], z[i + 2], z[i + 3] = z_0, z_1, z_2, z_3
        i += 4
    while i < last:
        s_0, s_1, s_2, s_3 = _four_sums(z[i - b: i], c[3: b + 3], c[3: b + 3], c[3: b + 3], c[3: b + 3])
        z[i] -= s_0
        i += 1


@jit_sums
def subtract_band(x: Array, c: Array, rest: Array) -> None:
    """Subtract sum_j c_{j+3} x_{i+j}, j = 0 to w - 1, from each element of `rest`.

    Parameters
    ----------
    x : ndarray of shape (n + w - 1,)
        The vector that is multiplied.
    c : ndarray of shape (w + 6,)
        Three zeros, w coefficients, and three zeros.
    rest : ndarray of shape (n,)
        The vector that is changed in place.
    """
    n, w = rest.shape[0], c.shape[0] - 6
    i = 0
    while i + 4 <= n:
        s_0, s_1, s_2, s_3 = _four_sums(x[i: i + w + 3], c[3: w + 6], c[2: w + 5], c[1: w + 4], c[0: w + 3])
        rest[i] -= s_0
        rest[i + 1] -= s_1
        rest[i + 2] -= s_2
        rest[i + 3] -= s_3
        i += 4
    while i < n:
        s_0, s_1, s_2, s_3 = _four_sums(x[i: i + w], c[3: w + 3], c[3: w + 3], c[3: w + 3], c[3: w + 3])
        rest[i] -= s_0
        i += 1


@jit_sums
def first_rows(z: Array, columns: Array, edge: int) -> None:
    """Perform forward elimination in place in the rows before L becomes constant.

    Parameters
    ----------
    z : ndarray of shape (b + n,)
        b zeros, followed by the right-hand side.
    columns : ndarray of shape (rows, b)
        Columns of L; all later columns are equal to the last one.
    edge : int
        The number of rows to process.
    """
    rows, b = columns.shape
    for i in range(1, edge):
        total = 0.0
        for j in range(1, min(i, b) + 1):
            total += columns[min(i - j, rows - 1), j - 1] * z[b + i - j]
        z[b + i] -= total


@jit_sums
def last_rows(x: Array, columns: Array) -> None:
    """Perform backward elimination in place in the rows before L becomes constant."""
    rows, b = columns.shape
    for i in range(rows - 2, -1, -1):
        total = 0.0
        for j in range(b):
            total += columns[i, j] * x[i + 1 + j]
        x[i] -= total


@jit_sums
def generator_step(u: Array, v: Array, k: float) -> float:
    """Advance the generators by one column, in place; return the sum of squares of v.

    The array v contains v_{j+1} at index j, and its last entry is 0.
    """
    total, last = 0.0, u.shape[0] - 1
    for j in range(last):
        u[j] -= k * v[j]
        v[j] = v[j + 1] - k * u[j + 1]
        total += v[j] * v[j]
    return total
