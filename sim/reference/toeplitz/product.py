"""sim.reference.toeplitz: products with a Toeplitz matrix and its inverse.

FFTs compute the products in O(n log n) time. The inverse is determined by two vectors, as in the formula of
I. Gohberg and A. Semencul, 1972. The version of G. Heinig, K. Rost, "Algebraic Methods for Toeplitz-like
Matrices and Operators", 1984, is used, because it also applies if T_{n-1} is singular.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..._arrays import Array
from ..compiled import compiled

# From this size upwards residuals use FFTs: row by row they would cost as much as the solver.
_FFT_FROM = 4096


def _as_columns(X: Array) -> Array:
    return X.reshape(len(X), -1)


def fft_size(n: int) -> int:
    """Return a fast FFT length for products with n rows, which is at least 2n - 1."""
    from scipy.fft import next_fast_len

    return int(next_fast_len(2 * n - 1, real=True))


def _rfft(values: Array, size: int | None = None) -> NDArray[np.complex128]:
    """Return the spectra of the columns of `values`, which are zero-padded to `size`."""
    from scipy.fft import rfft  # imported on first use, as it loads slowly

    return np.asarray(rfft(values, size, axis=0))


def _irfft(spectrum: NDArray[np.complex128], size: int) -> Array:
    """Return the columns that have these spectra; the spectra are overwritten."""
    from scipy.fft import irfft

    return np.asarray(irfft(spectrum, size, axis=0, overwrite_x=True))


class ToeplitzProduct:
    """Operator for products with a Toeplitz matrix T.

    T is embedded in a circulant matrix of at least twice its size.

    Parameters
    ----------
    r : ndarray of shape (n,)
        First column of T.
    r_row : ndarray of shape (n,), optional
        First row of T; `r` for a symmetric T.
    """

    def __init__(self, r: Array, r_row: Array | None = None) -> None:
        self.n = len(r)
        self._size = fft_size(self.n)
        column = np.zeros(self._size)
        column[: self.n] = r
        column[self._size - self.n + 1:] = (r if r_row is None else r_row)[:0:-1]
        eigenvalues = _rfft(column[:, np.newaxis])
        self._eigenvalues = eigenvalues.real.copy() if r_row is None else eigenvalues  # symmetric: real

    def __matmul__(self, X: Array) -> Array:
        """Return T X for `X` of shape (n,) or (n, m)."""
        spectrum = _rfft(_as_columns(X), self._size)
        spectrum *= self._eigenvalues
        return _irfft(spectrum, self._size)[: self.n].reshape(X.shape)


class ToeplitzInverse:
    """Operator for products with the inverse of a symmetric Toeplitz matrix T.

    The inverse is T^-1 = L(g) U(1, w) - L(Jw) U(0, Jg). L(v) is the lower triangular Toeplitz matrix with
    first column v, U(v) is the upper triangular one with first row v (cut to n entries), and J reverses a
    vector. The formula follows from T Z - Z T = e_1 rho' - J rho e_n', where Z is the down shift. It holds
    for every nonsingular T, even if T_{n-1} is singular.

    Parameters
    ----------
    g : ndarray of shape (n,)
        First column of T^-1.
    w : ndarray of shape (n,)
        -T^-1 rho, where rho = (r_1, ..., r_{n-1}, c) for any number c.
    """

    def __init__(self, g: Array, w: Array) -> None:
        self.n = len(g)
        self._size = fft_size(self.n)
        self._g, self._Jw = self._spectrum(g), self._spectrum(w[::-1])
        self._1w = self._spectrum(np.concatenate(([1.0], w[:-1])))
        self._0Jg = self._spectrum(np.concatenate(([0.0], g[:0:-1])))

    def _spectrum(self, v: Array) -> NDArray[np.complex128]:
        return _rfft(_as_columns(v), self._size)

    def _lower(self, column: NDArray[np.complex128], V: Array) -> Array:
        """Return L(column) V for the spectrum of a column; U(column) V is J L(column) J V."""
        return _irfft(column * self._spectrum(V), self._size)[: self.n]

    def __matmul__(self, Y: Array) -> Array:
        """Return T^-1 Y for `Y` of shape (n,) or (n, m)."""
        JY = _as_columns(Y)[::-1]
        first = self._lower(self._g, self._lower(self._1w, JY)[::-1])
        second = self._lower(self._Jw, self._lower(self._0Jg, JY)[::-1])
        return np.asarray((first - second).reshape(Y.shape), dtype=np.float64)


def residual(r: Array, x: Array, Y: Array, r_row: Array | None = None) -> Array:
    """Return Y - T x, row by row for small systems and by FFT for large ones.

    Parameters
    ----------
    r : ndarray of shape (n,)
        First column of T.
    X
    """
    n = len(r)
    if n >= _FFT_FROM:
        return np.asarray(Y - ToeplitzProduct(r, r_row) @ x, dtype=np.float64)
    diagonals = np.concatenate((r[:0:-1], r if r_row is None else np.append(r[0], r_row[1:])))
    if compiled(n):
        from .levinson_sweeps import subtract_product

        rest = np.array(_as_columns(Y).T, order="C")
        subtract_product(diagonals, np.array(_as_columns(x).T, order="C"), rest)
        return rest.T.reshape(Y.shape)
    # Row i of T is diagonals[n-1-i : 2n-1-i].
    return np.array([Y[i] - diagonals[n - 1 - i: 2 * n - 1 - i] @ x for i in range(n)])


def largest_norm(Y: Array) -> float:
    """Return the largest 2-norm of a column of Y, without overflow or underflow."""
    size = float(np.max(np.abs(Y)))
    if not 0.0 < size < np.inf:
        return size
    return size * float(np.max(np.linalg.norm(Y / size, axis=0)))


def residual_norm(r: Array, x: Array, Y: Array) -> float:
    """Return the largest 2-norm of a column of Y - T x; see :func:`residual`."""
    return largest_norm(residual(r, x, Y))
