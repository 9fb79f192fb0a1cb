"""sim.reference.wavelet: one level of a wavelet transform as a sparse matrix.

The matrix is W = [G | H]. The columns of G are wavelets: the details G'x of a vector x are zero if x is a
polynomial of low degree. The columns of H are scaling functions: H'x is a coarse version of x, which the next
level transforms.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import norm

from ..._arrays import Array
from ..._optional import from_package
from ...errors import fail

Sparse = Any  # scipy.sparse has no type annotations

LIFTING = "lifting"
DAUBECHIES = "db10"  # ten vanishing moments, filters of length 20

# The lifting basis: number of samples that predict the one between them (vanishing moments), and number of
# neighbours that share a detail, to preserve the mean.  The condition number of four levels is then 13; with
# ten samples, 47.
_PREDICT, _UPDATE = 8, 2


@dataclass(frozen=True, eq=False)
class TwoScale:
    """Transform W = [G | H] of one level, which is square: n = details + scales.

    Parameters
    ----------
    G : sparse array of shape (n, details)
        Wavelets, by column.
    H : sparse array of shape (n, scales)
        Scaling functions, by column.
    """

    G: Sparse
    H: Sparse

    @property
    def nnz(self) -> int:
        """Return the number of multiplications to transform one vector."""
        return int(self.G.nnz + self.H.nnz)


def transforms(n: int, levels: int, basis: str) -> Iterator[TwoScale]:
    """Yield W_1, ..., W_J for vectors of length `n`, the finest first.

    Parameters
    ----------
    n : int
        Length of the vectors; if it is odd, the unpaired sample is part of the next level unchanged.
    levels : int
        Number of levels J.
    basis : str
        ``lifting``, or the name of an orthogonal wavelet of PyWavelets.

    Raises
    ------
    KerncastError
        E238 for an unknown basis, E501 if PyWavelets is not installed.
    """
    if basis == LIFTING:
        yield from _lifting(n, levels)
        return
    wavelet = from_package("pywt", "PyWavelets", lambda pywt: basis in pywt.wavelist(kind="discrete")
                           and pywt.Wavelet(basis), "orthogonal wavelets need", "basis")
    if not wavelet or not wavelet.orthogonal:
        raise fail("E238", "no such wavelet basis", where="basis", value=repr(basis),
                   allowed=f"{LIFTING}, or an orthogonal wavelet of PyWavelets, db1 .. db38 and others",
                   remedy=f"use {DAUBECHIES}")
    for _ in range(levels):
        yield (W := _periodic(n, wavelet))
        n = W.H.shape[1]


# ---- orthogonal, periodic ----
def _periodic(n: int, wavelet: Any) -> TwoScale:
    """Return the orthogonal W of a periodic wavelet.

    Column k of G and of H contains the filter, shifted to sample 2k. If `n` is odd, the last sample is a
    separate column of H, so that W is orthogonal.
    """
    pairs = n // 2
    h, g = np.array(wavelet.rec_lo), np.array(wavelet.rec_hi)
    k = np.repeat(np.arange(pairs), len(h))
    at = (2 * k + np.tile(np.arange(len(h)), pairs)) % max(2 * pairs, 1)
    G = sparse.csc_array((np.tile(g, pairs), (at, k)), shape=(n, pairs))
    H = sparse.csc_array((np.tile(h, pairs), (at, k)), shape=(n, pairs))
    if n % 2:
        last = sparse.csc_array(([1.0], ([n - 1], [0])), shape=(n, 1))
        H = sparse.csc_array(sparse.hstack([H, last]))
    return TwoScale(G, H)


# ---- biorthogonal, on the interval, by lifting ----
def _lifting(n: int, levels: int) -> Iterator[TwoScale]:
    """Yield the transforms of W. Sweldens' lifting scheme, one per level.

    The scheme is described in W. Sweldens, "The lifting scheme: a construction of second generation
    wavelets", SIAM J. Math. Anal. 29(2), 1998, sections 4 to 6 and 8. Every second sample, and the last one,
    are coarse samples e. The polynomial through the nearest coarse samples *predicts* each of the other
    samples o; the prediction error is the detail d = o - P e. The *update* s = e + U d adds part of every
    detail to its neighbours, which preserves the mean of the vector (one vanishing moment of the dual
    wavelet). At the ends, the polynomials are not used for extrapolation, which would make the basis
    ill-conditioned.
    """
    position, moment = np.arange(n, dtype=np.float64), np.ones(n)
    for _ in range(levels):
        n = len(position)
        other = np.arange(1, n - 1, 2)
        stay = np.delete(np.arange(n), other)
        P = _predict(position[stay], position[other])
        shared = moment[stay] + P.T @ moment[other]
        U = _update(shared, moment[other])
        unit = sparse.eye_array(n, format="csr")
        G = (unit[other] - P @ unit[stay]).T
        H = unit[stay].T + G @ U.T
        lengths = norm(G, axis=0)
        length = norm(H, axis=0)[len(stay) // 2]  # one length for all, so that polynomials remain polynomials
        yield TwoScale(sparse.csc_array(G @ sparse.diags_array(1 / lengths)), sparse.csc_array(H / length))
        position, moment = position[stay], shared * length


def _nearest(count: int, of: int, wanted: int) -> NDArray[np.int64]:
    """Return the indices of the `wanted` samples that are nearest to each gap.

    There are `of` samples, with `count` gaps between them.
    """
    wanted = min(wanted, of)
    first = np.clip(np.arange(count) - wanted // 2 + 1, 0, of - wanted)
    return np.asarray(first[:, np.newaxis] + np.arange(wanted))


def _predict(stay: Array, other: Array) -> Sparse:
    """Return the matrix P, which predicts the other samples from the coarse samples.

    Each prediction is a Lagrange interpolation of the nearest coarse samples.
    """
    near = _nearest(len(other), len(stay), _PREDICT)
    nodes, weights = stay[near], np.ones(near.shape)
    for a in range(near.shape[1]):
        for b in range(near.shape[1]):
            if a != b:
                weights[:, a] *= (other - nodes[:, b]) / (nodes[:, a] - nodes[:, b])
    rows = np.repeat(np.arange(len(other)), near.shape[1])
    return sparse.csr_array((weights.ravel(), (rows, near.ravel())), shape=(len(other), len(stay)))


def _update(shared: Array, moment: Array) -> Sparse:
    """Return the matrix U with the smallest weights for which each wavelet has mean 0."""
    near = _nearest(len(moment), len(shared), _UPDATE)
    weights = moment[:, np.newaxis] * shared[near] / (shared[near] ** 2).sum(axis=1, keepdims=True)
    columns = np.repeat(np.arange(len(moment)), near.shape[1])
    return sparse.csr_array((weights.ravel(), (near.ravel(), columns)), shape=(len(shared), len(moment)))
