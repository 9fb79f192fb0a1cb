"""sim.reference.wavelet: sparse elimination of the columns of one level.

    [ A_j ]   [ L_j ]
    [ C_j ] = [ X_j ] L_j'      A_j = L_j L_j',  C_j = X_j L_j'

The elimination is left-looking: each column is computed from the earlier ones, and is not changed afterwards.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..._arrays import Array
from ...jit import jit_real
from .basis import Sparse

Numbers = NDArray[np.int64]


class NotPositiveDefinite(ArithmeticError):
    """Error that is raised if a pivot is not positive."""


def eliminate(A: Sparse, C: Sparse, fill: float) -> tuple[Sparse, Sparse, int]:
    """Compute the factors L and X of one level, and the number of multiplications.

    Parameters
    ----------
    A : sparse array of shape (m, m)
        Symmetric matrix; only its lower triangle is read.
    C : sparse array of shape (s, m)
        Matrix below A.
    fill : float
        Entries of smaller magnitude are discarded; 0 retains all entries.

    Raises
    ------
    NotPositiveDefinite
        If a pivot is not positive.
    """
    panel = sparse.csc_array(sparse.vstack([A, C]))
    n, m = panel.shape
    columns, rows = panel.indptr.astype(np.int64), panel.indices.astype(np.int64)
    begin, head = np.zeros(m + 1, dtype=np.int64), np.full(m, -1)
    work, marks, pattern = np.zeros(n), np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    index, owner, link = (np.empty(2 * panel.nnz + n, dtype=np.int64) for _ in range(3))
    value, operations = np.empty(len(index)), np.zeros(1, dtype=np.int64)
    done = 0
    while True:
        marks[:] = -1
        done = _columns(done, fill, columns, rows, panel.data, begin, head, index, owner, link, value,
                        work, marks, pattern, operations)
        if done < 0:
            raise NotPositiveDefinite(f"pivot {-done} of {m} is not positive")
        if done == m:
            break
        index, owner, link, value = (np.concatenate((part, np.empty_like(part)))
                                     for part in (index, owner, link, value))
    used = begin[m]
    F = sparse.csc_array((value[:used], index[:used], begin), shape=(n, m))
    return F[:m], F[m:], int(operations[0])


@jit_real
def _columns(start: int, fill: float, columns: Numbers, rows: Numbers, entries: Array, begin: Numbers,
             head: Numbers, index: Numbers, owner: Numbers, link: Numbers, value: Array, work: Array,
             marks: Numbers, pattern: Numbers, operations: Numbers) -> int:
    """Eliminate the columns from `start` on; return the number of completed columns.

    The result is -(k + 1) if pivot k is not positive. The function stops early if the array `value` is full;
    the caller then enlarges it and continues. The entries of row k in the earlier columns form a linked list
    that begins at ``head[k]``; `owner` contains the column of each entry.
    """
    m = len(head)
    for k in range(start, m):
        count = taken = 0
        for p in range(columns[k], columns[k + 1]):
            i = rows[p]
            if i >= k:
                marks[i], pattern[count], work[i] = k, i, entries[p]
                count += 1
        if marks[k] != k:
            return -(k + 1)
        p = head[k]
        while p >= 0:
            factor = value[p]
            for q in range(begin[owner[p]], begin[owner[p] + 1]):
                i = index[q]
                if i >= k:
                    if marks[i] != k:
                        marks[i], pattern[count], work[i] = k, i, 0.0
                        count += 1
                    work[i] -= factor * value[q]
                    taken += 1
            p = link[p]
        if not work[k] > 0.0:
            return -(k + 1)
        if begin[k] + count > len(value):
            return k
        root, used = np.sqrt(work[k]), begin[k] + 1
        index[used - 1], value[used - 1] = k, root
        for c in range(count):
            i = pattern[c]
            if i == k or not abs(work[i] / root) >= fill:
                continue
            index[used], value[used] = i, work[i] / root
            if i < m:
                owner[used], link[used] = k, head[i]
                head[i] = used
            used += 1
        begin[k + 1] = used
        operations[0] += taken + count
    return m
