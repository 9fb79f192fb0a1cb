"""sim.reference.wavelet: one level of a wavelet transform as a sparse matrix, W = [G | H].

The columns of G are wavelets: what G'x keeps of a vector x, its details, is nothing where x is a polynomial
of low degree.  The columns of H are scaling functions: H'x is a coarse version of x.  The next level
transforms that.
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

Sparse = Any  # scipy.sparse carries no types

LIFTING = "lifting"
DAUBECHIES = "db10"  # ten vanishing moments, filters of length 20

# Of the lifting basis: samples that predict the one between them, which is the number of vanishing moments;
# and neighbours among whom a detail is shared out, to keep the mean.  Four levels then have condition 13;
# ten samples, 47.
_PREDICT, _UPDATE = 8, 2


@dataclass(frozen=True, eq=False)
class TwoScale:
    """W = [G | H] of one level, n = details + scales.

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
        """Multiplications that the transform of one vector takes."""
        return int(self.G.nnz + self.H.nnz)


def transforms(n: int, levels: int, basis: str) -> Iterator[TwoScale]:
    """W_1 .. W_J for vectors of length `n`, the finest first.

    Parameters
    ----------
    n : int
        Any length: a sample that finds no partner is handed down as it is.
    levels : int
        J.
    basis : str
        ``lifting``, or the name of an orthogonal wavelet of PyWavelets.

    Raises
    ------
    KerncastError
        E238 where there is no such basis, E501 where PyWavelets is not installed.
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
    """Orthogonal W: column k of G and H is the filter, placed at sample 2k and wrapped around at the end.

    Of an odd `n` the last sample is a column of H by itself, which keeps W orthogonal.
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
    """The lifting scheme of W. Sweldens, SIAM J. Math. Anal. 29(2), 1998, sections 4 to 6 and 8.

    Every second sample and the last one stay; each sample between is *predicted* from those nearest to it,
    by the polynomial through them, and what the prediction misses is its detail: d = o - P e.  The *update*
    s = e + U d shares every detail out among its neighbours, so that the mean of the vector stays, which
    is one vanishing moment of the other, the dual wavelet.  No polynomial is asked for a value outside
    its samples, which on the interval is what would make the basis ill conditioned.
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
        length = norm(H, axis=0)[len(stay) // 2]  # one for all, or polynomials stay none
        yield TwoScale(sparse.csc_array(G @ sparse.diags_array(1 / lengths)), sparse.csc_array(H / length))
        position, moment = position[stay], shared * length


def _nearest(count: int, of: int, wanted: int) -> NDArray[np.int64]:
    """For each of `count` gaps, the numbers of the `wanted` samples around it, out of `of`."""
    wanted = min(wanted, of)
    first = np.clip(np.arange(count) - wanted // 2 + 1, 0, of - wanted)
    return np.asarray(first[:, np.newaxis] + np.arange(wanted))


def _predict(stay: Array, other: Array) -> Sparse:
    """P: Lagrange's polynomial through the samples nearest to each other one, at its place."""
    near = _nearest(len(other), len(stay), _PREDICT)
    nodes, weights = stay[near], np.ones(near.shape)
    for a in range(near.shape[1]):
        for b in range(near.shape[1]):
            if a != b:
                weights[:, a] *= (other - nodes[:, b]) / (nodes[:, a] - nodes[:, b])
    rows = np.repeat(np.arange(len(other)), near.shape[1])
    return sparse.csr_array((weights.ravel(), (rows, near.ravel())), shape=(len(other), len(stay)))


def _update(shared: Array, moment: Array) -> Sparse:
    """U: the smallest weights with which the scaling functions give each wavelet the mean zero."""
    near = _nearest(len(moment), len(shared), _UPDATE)
    weights = moment[:, np.newaxis] * shared[near] / (shared[near] ** 2).sum(axis=1, keepdims=True)
    columns = np.repeat(np.arange(len(moment)), near.shape[1])
    return sparse.csr_array((weights.ravel(), (near.ravel(), columns)), shape=(len(shared), len(moment)))
