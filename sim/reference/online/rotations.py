"""sim.reference: the Givens rotations of square-root RLS, compiled."""

from __future__ import annotations

from math import hypot

from ..._arrays import Array
from ...jit import jit


@jit
def rotate(R: Array, z: Array, row: Array, target: Array, first: int) -> None:
    """Rotate a row and its targets into R and z.

    Parameters
    ----------
    R, z : ndarray of shape (M, M) and (M, K)
        Changed in place.
    row, target : ndarray of shape (M,) and (K,)
        Overwritten.
    first : int
        The row is zero before this column.
    """
    for i in range(first, len(row)):
        h = hypot(R[i, i], row[i])
        c, s = R[i, i] / h, row[i] / h
        for j in range(i, len(row)):
            upper = R[i, j]
            R[i, j] = c * upper + s * row[j]
            row[j] = c * row[j] - s * upper
        for k in range(len(target)):
            above = z[i, k]
            z[i, k] = c * above + s * target[k]
            target[k] = c * target[k] - s * above
