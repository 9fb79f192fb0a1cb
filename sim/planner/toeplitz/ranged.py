"""sim.planner.toeplitz: a banded solver whose lambda can change at run time.

The device computes the factor of ``T + lambda I`` by Schur's recursion (:mod:`...model.toeplitz.ranged`), so
the plan contains the first row of T, but no factor. One unit of the fixed-point matrix is ``2**s``, a power
of two above 1 + lambda for every lambda of the range: with ``F = 31 - s`` fraction bits, lambda and the
first row are integers, and so is their sum on the diagonal. No value is divided by 1 + lambda.

All formats hold for the whole range:

* b, the ranges of the exponents, and the smallest eigenvalue are those of the smallest lambda.
* The pivot d_i increases with lambda, because the Schur complement of ``T + lambda I`` does, so 1 / d_i is
  largest at the smallest lambda, in the last row.
* An entry l of column i changes by less than ``|d lambda| / (lambda sqrt(d_i))``: it is ``c' w``, where
  w is the last column of the inverse of the leading minor, and c a row of T; so ``dl / d lambda = -p' w``,
  where p predicts a sample from the first i + 1, ``|p| <= lambda**-1/2`` and ``|w| <= (lambda d_i)**-1/2``.
  The largest entry is therefore found on a geometric grid of lambda (:func:`survey`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ..._arrays import Array
from ...errors import fail
from ...formats import Format
from ...plan import ConstantTable
from ...spec import Spec
from ...tables import CONTEXT, decimal
from ..certify import norm_bits
from ..log2 import ceil_log2, floor_log2
from .banded import BAND, Band, band_loss, band_table, factor_shift, head_lags, rest_table
from .levinson import ALPHA_EXP_MIN

#: Ratio of neighbours on the grid of lambda.
_RATIO = Fraction(33, 32)
#: Least bound of the error of an entry of L and of the relative error of a pivot in 32-bit integers.
_ERROR = Fraction(1, 1 << 12)
#: The bound in LSBs of the smallest lambda, for each column: some roundings of the generators.
_ROUNDINGS = 4
#: The rounding of the first row may change the smallest eigenvalue by this part of the smallest lambda.
_LOSS_RATIO = 128
#: The smallest lambda has at least this many LSBs.
_LSBS = 1 << 14


@dataclass(frozen=True)
class Survey:
    """Properties of the factors over the whole range of lambda.

    Attributes
    ----------
    entries : ndarray of shape (b,)
        No entry of L at lag j + 1 is larger than ``entries[j]``.
    pivot : float
        No pivot of ``T + lambda I`` is smaller.
    length : int
        Number of columns after which they no longer change.
    """

    entries: Array
    pivot: float
    length: int
    _row: Array
    _lams: Array

    def rows(self, frac: int, word: int) -> int:
        """Return the number of rows until the factors are constant within half an LSB.

        Every eighth lambda is tried. The certified bound includes the error of the rows that are not stored.
        """
        half, found, some = 2.0 ** -(frac + 1), 2, self._lams[::8]  # 1 / d is an array
        *_, (last, pivot) = _columns(self._row, some, self.length)
        for i, (column, d) in enumerate(_columns(self._row, some, self.length)):
            if np.abs(column - last).max() > half or (np.abs(d - pivot) > pivot * 2.0**-word).any():
                found = i + 2
        return found


def _generators(row: Array, lams: Array, count: int) -> Iterator[tuple[Array, Array]]:
    """Yield the generators of `count` columns: u (lambdas, b + 1), v (lambdas, b)."""
    u = np.column_stack([1.0 + lams, np.broadcast_to(row, (len(lams), len(row)))])
    v = np.broadcast_to(row, (len(lams), len(row))).copy()
    for _ in range(count):
        yield u, v
        k = v[:, :1] / u[:, :1]
        following = np.column_stack([v[:, 1:] - k * u[:, 1:-1], -k * u[:, -1:]])
        u[:, :-1] -= k * v
        v = following


def _columns(row: Array, lams: Array, count: int) -> Iterator[tuple[Array, Array]]:
    """Yield the first `count` columns of L (lambdas, b), and the pivots (lambdas,)."""
    for u, _ in _generators(row, lams, count):
        yield u[:, 1:] / u[:, :1], u[:, 0].copy()


def survey(row: Array, lo: Fraction, hi: Fraction, n: int, bits: int) -> Survey:
    """Bound the factors of all lambdas from `lo` to `hi`.

    Only additions, multiplications and divisions of float64 are used, so that every machine computes the
    same values.

    Parameters
    ----------
    row : ndarray of shape (b,)
        The first row of T from lag 1.
    lo, hi : Fraction
    n : int
        Number of rows of the matrix.
    bits : int
        The recursion ends when columns change by less than ``2**-bits``.
    """
    grid = [lo]
    while grid[-1] * _RATIO < hi:
        grid.append(Fraction(float(grid[-1] * _RATIO)))
    lams = np.array([float(lam) for lam in (*grid, hi)])
    length = _settled(row, float(lo), n, bits)
    entries, pivot = np.zeros(len(row)), np.inf
    step = float(_RATIO - 1)  # above the logarithm of the ratio
    for column, d in _columns(row, lams, length):
        entries = np.maximum(entries, (np.abs(column) + (step / np.sqrt(d))[:, np.newaxis]).max(axis=0))
        pivot = min(pivot, float(d.min()))
    return Survey(entries, pivot, length, row, lams)


def _settled(row: Array, lam: float, n: int, bits: int) -> int:
    """Return the number of columns after which the columns no longer change."""
    for i, (u, v) in enumerate(_generators(row, np.array([lam]), n - 1)):
        if float(np.abs(v).max()) ** 2 * (len(row) + 1) <= 2.0**-bits * float(u[0, 0]) ** 2:
            return i + 1
    return n


def _half_up(value: Fraction) -> int:
    """Round to an integer, as the macro of the header rounds a constant."""
    return int((2 * value + 1) // 2)


def scale_bits(spec: Spec) -> int:
    """Return s, where ``2**s`` exceeds 1 + lambda in the whole range."""
    assert spec.toeplitz is not None and spec.toeplitz.lambda_range is not None
    return floor_log2(1 + Fraction(spec.toeplitz.lambda_range[1])) + 1


def lowest(spec: Spec) -> Spec:
    """Return the spec with the smallest lambda of the range.

    Without a range, return the spec itself.
    """
    assert spec.toeplitz is not None
    if spec.toeplitz.lambda_range is None:
        return spec
    return spec.model_copy(update={"toeplitz": spec.toeplitz.model_copy(
        update={"lam": spec.toeplitz.lambda_range[0]})})


def ranged_band(spec: Spec, band: Band) -> Band:
    """Return the first row in units of ``2**s``.

    `band` is the row over 1 + the smallest lambda.
    """
    assert spec.toeplitz is not None and spec.toeplitz.lambda_range is not None
    scale = decimal((1 + Fraction(spec.toeplitz.lambda_range[0])) / (1 << scale_bits(spec)))
    return Band((band.row[0], *(CONTEXT.multiply(entry, scale) for entry in band.row[1:])),
                CONTEXT.multiply(band.tail, scale))


def ranged_constants(spec: Spec, band: Band) -> tuple[dict[str, int], dict[str, ConstantTable]]:
    """Return constants and tables of the solver, without its certificate.

    Parameters
    ----------
    spec : Spec
    band : Band
        The first row in units of ``2**s``.

    Raises
    ------
    KerncastError
        E205 if the smallest lambda is too small for the first row in 32 bits.
    """
    assert spec.toeplitz is not None and spec.toeplitz.lambda_range is not None
    word, s, (lo, hi) = spec.numbers.word, scale_bits(spec), map(Fraction, spec.toeplitz.lambda_range)
    frac = BAND.frac - s
    min_lambda = max(_LOSS_RATIO * band_loss(band) * (1 << s), Fraction(_LSBS, 1 << frac))
    if lo < min_lambda:
        raise fail("E205", "lambda_range: the smallest lambda is too small for a first row of 32 bits",
                   where="[toeplitz] lambda_range", value=float(lo),
                   allowed=f"at min_lambda {float(min_lambda):.2g}",
                   remedy="raise the smallest lambda, or lower the largest one")
    row = np.array([float(entry) for entry in band.row[1:]]) * float(1 << s)
    max_lambda = 2**31 - 1 - 2**frac  # of lambda: 1 + lambda has 31 bits
    words = {name: min(_half_up(lam * 2**frac), max_lambda) for name, lam in (
        ("lambda_word", Fraction(spec.toeplitz.lam)), ("lambda_lo", lo), ("lambda_hi", hi))}
    seen = survey(row, min(lo, Fraction(words["lambda_lo"], 1 << frac)), hi, spec.toeplitz.n, word + 8)
    long = word > 16  # the generators have 31 bits more than lambda
    error = max(_ERROR, Fraction(_ROUNDINGS * seen.length, words["lambda_lo"] << (31 if long else 0)))
    entries = [Fraction(float(entry)) + error for entry in seen.entries]
    factor_frac = word - 1
    while max(entries) * 2**factor_frac > Format(True, word, 0).hi:
        factor_frac -= 1
    inverse = (1 + error) / Fraction(seen.pivot)
    top = ceil_log2(inverse)
    pivot_frac = 61 - frac if long else min(  # the largest one of a block, or that of the smallest lambda
        31 - top - (top == floor_log2(inverse)), 60 - frac, 63 - word + factor_frac - frac)
    return {"band": len(band.row) - 1, "rows": seen.rows(factor_frac, word), "factor_frac": factor_frac,
            **_factor_sums(entries, factor_frac, word), "pivot_frac": pivot_frac, "lambda_frac": frac,
            "diagonal_lack": (1 << 31) - (1 << frac), "ridge_scale": 1 << frac,
            **words}, {"band": band_table(band), **({"band_rest": rest_table(band)} if long else {})}


def _factor_sums(entries: list[Fraction], frac: int, word: int) -> dict[str, int]:
    """Return the shift of the products of L, and the number of its lags.

    No entry at lag j + 1 is larger than ``entries[j]``.
    """
    words = [int(entry * 2**frac) + 1 for entry in entries]
    shift = factor_shift(sum(words), len(words), frac, word)
    return {"factor_shift": shift, "factor_head": head_lags(words, word, 2) if shift else 0}


def ranged_certificate(spec: Spec, c: dict[str, int], loss: Fraction, shift: int, head: int
                       ) -> dict[str, int]:
    """Return the constants of the certified bound.

    The smallest eigenvalue is at least ``(lambda - lambda_loss) / 2**s``, in integers.  The device divides
    ``2**gain_shift`` by this number, and rounds up; for the smallest lambda, the quotient has 31 bits.

    `shift` is the right shift of the products, one by one at the first `head` lags. The product of the
    diagonal consists of two, which are shifted one by one.
    """
    assert spec.toeplitz is not None
    whole_loss = int(-(-loss * 2**BAND.frac // 1))
    up = 30 - floor_log2(Fraction(2**BAND.frac, c["lambda_lo"] - whole_loss))
    up = min(up, 60 - BAND.frac)  # the primitive divides numbers below 2**61
    gain_shift, divisor = BAND.frac + up, c["lambda_word"] - whole_loss
    return {"residual_shift": shift, "residual_slack": head + 3 if shift else 0, "band_head": head,
            "norm_bits": norm_bits(spec.toeplitz.n), "no_bound": 1 << 62,
            "lambda_loss": whole_loss, "gain_shift": gain_shift, "bound_shift": up + BAND.bits - 1 - shift,
            "bound_gain": (2**(gain_shift + 1) + divisor) // (2 * divisor) + 1,  # rounded, then up
            "tolerance": max(1, int(Fraction(spec.toeplitz.tolerance) * 2**16))}


def ranged_fitted(spec: Spec, y: Format, alpha_frac: int, alpha_exp_max: int, c: dict[str, int]
                  ) -> dict[str, int]:
    """Return the constants of the fitted values.

    They are those of :mod:`.fitted`, with an exact lambda.
    """
    assert spec.toeplitz is not None and spec.toeplitz.lambda_range is not None
    shift = c["lambda_frac"] + alpha_frac - y.frac
    if Fraction(spec.toeplitz.lambda_range[1]) * Fraction(2) ** (ALPHA_EXP_MIN - alpha_frac) > y.lsb \
            or shift < alpha_exp_max:
        return {}
    return {"fitted_scale": c["lambda_word"], "fitted_shift": shift}
