"""sim.reference.first_row: diagonal sums of a kernel matrix in O(n) memory.

The upper triangle of the matrix is divided into bands of rows. A band is computed tile by tile, and only its
diagonal sums are stored. The sums of the bands are added in order. Bands, tiles and order are fixed, so the
result has the same bits for any number of workers, and for a resumed run. This requires the same number of
BLAS threads, on which the last bits can depend (OMP_NUM_THREADS; each worker of dask uses one thread).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from hashlib import sha256
from pathlib import Path

import numpy as np

from ..._arrays import Array
from ...kernels import DistanceKernel
from ..compiled import compiled
from ..systems.kernel_blocks import KernelBlocks, add_diagonals
from ..systems.system import refuse_beyond_memory
from .checkpoint import SumsState, load, save
from .cluster import on_cluster

#: Progress callback: kernel values done, and their total.
Progress = Callable[[int, int], None]

# Rows of a band, of a stripe of it, and columns of a tile; a tile fits in the second-level cache.
_BAND, _STRIPE, _COLUMNS = 1024, 256, 512
# Kernel values between two writes of the checkpoint: some seconds of work.
_SAVE_EVERY = 1 << 30
# Peak number of vectors of n values: sums, their successor, a band's, a stripe's.
_VECTORS = 4


def diagonal_sums(X: Array, kernel: DistanceKernel, dtype: str = "float64", progress: Progress | None = None,
                  scheduler: str | None = None, checkpoint: str | Path | None = None) -> Array:
    """Sum each diagonal j of K.

    Parameters
    ----------
    X : ndarray of shape (n, D)
        Samples; finite.
    kernel : DistanceKernel
    dtype : {"float64", "float32"}
        Type of the kernel values. At most 256 values are added in float32, and these sums are added in
        float64, so the relative error is about 1e-6.
    progress : callable, optional
        Callback ``progress(done, total)`` that is called after every band, with numbers of kernel values.
    scheduler : str, optional
        Address of a dask.distributed scheduler whose workers have kerncast installed; by default this process
        computes the sums.
    checkpoint : path, optional
        File for the state, which is written every few seconds and when the run is interrupted. A run with the
        same samples, kernel and dtype resumes from it; any other run rejects it.

    Returns
    -------
    sums : ndarray of shape (n,)
        The sum of each diagonal.

    Raises
    ------
    KerncastError
        E237 for too little memory, E260 and E261 for the checkpoint, E262 for the scheduler, E501 if
        dask.distributed is not installed.
    """
    n = len(X)
    refuse_beyond_memory(n * (_VECTORS * 8 + X.shape[1] * (8 + np.dtype(dtype).itemsize)),
                         f"a first row of {n:,} samples")
    key = _key(X, kernel, dtype)
    state = SumsState(0, np.zeros(n)) if checkpoint is None else load(checkpoint, key, n, _BAND)
    parts = _parts(X, kernel, dtype, scheduler, state.bands)
    sums = _added(state, parts, progress, None if checkpoint is None else partial(save, checkpoint, key))
    sums[0] = n  # k(x, x) = 1
    return sums


def _added(state: SumsState, parts: Iterator[Array], progress: Progress | None,
           keep: Callable[[SumsState], None] | None) -> Array:
    """Add the sums of the bands in order.

    The state is saved periodically, and when the run is interrupted.
    """
    n, kept = len(state.sums), state.bands
    try:
        for part in parts:
            # A single assignment: an interruption leaves either the old state or the new one.
            state = SumsState(state.bands + 1, state.sums + np.append(part, np.zeros(n - len(part))))
            if progress is not None:
                progress(_values(n, state.bands), n * (n + 1) // 2)
            if keep is not None and _values(n, state.bands) - _values(n, kept) >= _SAVE_EVERY:
                keep(state)
                kept = state.bands
    finally:
        if keep is not None and state.bands > kept:
            keep(state)
    return state.sums.copy()


def _parts(X: Array, kernel: DistanceKernel, dtype: str, scheduler: str | None, done: int) -> Iterator[Array]:
    """Yield the sums of the remaining bands, in order."""
    bands = range(done, -(-len(X) // _BAND))
    if not bands:
        return iter(())
    if scheduler is not None:
        return on_cluster(scheduler, KernelBlocks, (kernel, X, np.dtype(dtype)), band_sums, bands)
    blocks = KernelBlocks(kernel, X, dtype)
    return (band_sums(blocks, band) for band in bands)


def band_sums(blocks: KernelBlocks, band: int) -> Array:
    """Return the diagonal sums over the rows of one band, shape (n - first row,)."""
    n, start = blocks.n, band * _BAND
    sums, room = np.zeros(n - start), np.empty((_STRIPE, _COLUMNS), dtype=blocks.precision)
    for first in range(start, min(start + _BAND, n), _STRIPE):
        rows = slice(first, min(first + _STRIPE, start + _BAND, n))
        stripe = np.zeros(n - first, dtype=blocks.dtype)
        for column in range(first, n, _COLUMNS):
            columns = slice(column, min(column + _COLUMNS, n))
            tile = blocks.tile(rows, columns, room[: rows.stop - rows.start, : columns.stop - column])
            add_diagonals(tile.astype(blocks.dtype, copy=False), stripe, column - first, blocks.fast)
        sums[: n - first] += stripe
    return sums


def _values(n: int, bands: int) -> int:
    """Return the number of kernel values on and above the diagonal in `bands` bands."""
    left = max(n - bands * _BAND, 0)
    return n * (n + 1) // 2 - left * (left + 1) // 2


def _key(X: Array, kernel: DistanceKernel, dtype: str) -> str:
    """Return a digest that identifies the computation.

    The digest does not depend on the scheme, because both kinds of means are computed from the same sums.
    """
    digest = sha256(repr((kernel, dtype, X.shape, _BAND, _STRIPE, _COLUMNS, compiled(len(X)))).encode())
    digest.update(np.ascontiguousarray(X).data)
    return digest.hexdigest()
