"""sim.planner.toeplitz: the symmetric FIR filter of a stream of fitted values.

Away from the edges of a long record, the fitted value y - lambda alpha is the same weighted sum of the
samples: its taps are a row of ``I - lambda A^-1``, A = T + lambda I without edges.  With the spectral factor
(l, d) of A, the last column of Schur's recursion, the row of the inverse is

    h_0 = 1,  h_k = - sum_j l_j h_(k-j);    g_j = sum_m h_m h_(m+j) / d;    taps delta_j - lambda g_j

(F. L. Bauer, "Ein direktes Iterationsverfahren zur Hurwitz-Zerlegung eines Polynoms", 1955).  This is
computed in integers with 128 fraction bits, from a first row in decimal arithmetic.  The residual bounds the
error of g, ``|g - found|_1 <= |A found - delta|_1 |found|_1 / (1 - |A found - delta|_1)``, so that the bound
of the filter does not depend on how the taps were found.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from operator import mul
from typing import Any

from ...errors import fail
from ...formats import Format, Rounding
from ...plan import ConstantTable, Signal
from ...spec import Spec
from ...tables import CONTEXT
from .banded import decaying_row, factorise

#: Fraction bits of the inverse and of its factor.
_FRAC = 128
#: The response of the factor ends where it is below ``2**-_END``.
_END = 96
#: Bits of the sum of products.
_SUM_BITS = 62


@dataclass(frozen=True)
class StreamFilter:
    """Taps of a stream at lags 0 to L, and bounds of their errors.

    Attributes
    ----------
    format : Format
        Format of a tap.
    taps : tuple of int
        Taps at lags 0 to L.
    truncation, rounding : Fraction
        Upper bounds of the sums of two magnitudes: of the omitted taps, and of the rounding errors of the
        other taps. The sums cover both sides.
    enough : int
        Smallest lag at which the omitted taps change a value by at most one LSB.
    """

    format: Format
    taps: tuple[int, ...]
    truncation: Fraction
    rounding: Fraction
    enough: int

    @property
    def both_sides(self) -> tuple[int, ...]:
        """Return all 2 L + 1 taps."""
        return (*self.taps[:0:-1], *self.taps)


def _response(column: list[int], length: int) -> list[int]:
    """Return the impulse response of the inverse of the spectral factor.

    Parameters
    ----------
    column : list of int
        Limit of the columns of the factor L below its unit diagonal, with 128 fraction bits.
    length : int
        Largest number of values; the response ends earlier if it stays below ``2**-_END``.
    """
    h = [1 << _FRAC]
    quiet = 0
    while len(h) < length and quiet <= len(column):
        h.append(-sum(map(mul, column, reversed(h[-len(column):]))) >> _FRAC)
        quiet = quiet + 1 if abs(h[-1]) >> (_FRAC - _END) == 0 else 0
    return h


def _error(row: list[int], inverse: list[int]) -> Fraction:
    """Bound the error of the inverse of a Toeplitz operator in the 1-norm.

    Parameters
    ----------
    row, inverse : list of int
        Entries at lags 0, 1, ..., zero beyond, with 128 fraction bits.
    """
    a, g = [*row[:0:-1], *row], [*inverse[:0:-1], *inverse]
    count, padded = len(a), [0] * (len(a) - 1) + g + [0] * (len(a) - 1)
    product = [sum(map(mul, a, padded[i: i + count])) for i in range(len(padded) - count + 1)]
    product[len(product) // 2] -= 1 << (2 * _FRAC)
    residual = Fraction(sum(map(abs, product)), 1 << (2 * _FRAC))
    norm = Fraction(sum(map(abs, g)), 1 << _FRAC)
    return residual * norm / (1 - residual) if residual < 1 else Fraction(1 << 62)


def _whole(value: Decimal) -> int:
    return int(CONTEXT.multiply(value, Decimal(1 << _FRAC)).to_integral_value())


def _ideal(spec: Spec, lsb: Fraction, step: int, bits: int) -> tuple[list[Fraction], Fraction]:
    """Return the taps of the exact filter, and a bound of their 1-norm error."""
    assert spec.toeplitz is not None
    n, lam = spec.toeplitz.n, Fraction(spec.toeplitz.lam)
    band = decaying_row(spec, lsb, step, bits + 8)
    if n < 2 * (len(band.row) - 1):
        raise fail("E205", f"stream_lag: the kernel spans {len(band.row) - 1} samples, more than half of n",
                   where="[toeplitz] n", value=n, allowed=f"at least {2 * (len(band.row) - 1)}",
                   remedy="lower sigma, raise n, or remove [toeplitz] stream_lag")
    factor = factorise(band.row, 1 << 14, _FRAC)
    column = [_whole(entry) for entry in factor.columns[-1]]
    h = _response(column, 1 << 14)
    d = Fraction(factor.pivots[-1])
    raw = [sum(map(mul, h, h[j:])) >> _FRAC for j in range(len(h))]
    g = [value * d.denominator // d.numerator for value in raw]
    row = [_whole(entry) for entry in band.row]
    # The rounding of a row entry, and the entries beyond the band, change the product with g.
    loss = Fraction(band.tail) + Fraction(2 * len(row), 1 << _FRAC)
    norm = Fraction(2 * sum(map(abs, g)), 1 << _FRAC)
    error = _error(row, g)
    scale = lam / (1 + lam)  # of the scaled A
    taps = [Fraction(int(j == 0)) - scale * Fraction(value, 1 << _FRAC) for j, value in enumerate(g)]
    return taps, scale * (error + loss * (norm + error) ** 2)


def _format(taps: list[Fraction], word: int) -> Format:
    """Return the finest format of the taps for which the sums of products fit."""
    top, total = max(map(abs, taps)), 2 * sum(map(abs, taps), Fraction(0))
    frac = word - 1
    while round(top * Fraction(2) ** (frac + 1)) <= Format(True, word, 0).hi and frac < word + 13:
        frac += 1
    while (total * Fraction(2) ** frac + 2 * len(taps)) * 2 ** (word - 1) >= 1 << _SUM_BITS:
        frac -= 1
    return Format(True, word, frac)


def stream_filter(spec: Spec, lsb: Fraction, step: int, word: int) -> StreamFilter:
    """Return the filter of a spec with ``stream_lag``.

    Parameters
    ----------
    spec : Spec
    lsb : Fraction
        Real value of the LSB of x.
    step : int
        Step of the grid in LSBs of x.
    word : int
        Word length of y and of the taps.

    Raises
    ------
    KerncastError
        E205 if the kernel reaches more than half of the samples.
    """
    assert spec.toeplitz is not None and spec.toeplitz.stream_lag is not None
    lag = spec.toeplitz.stream_lag
    ideal, error = _ideal(spec, lsb, step, word)
    ideal += [Fraction(0)] * (lag + 1 - len(ideal))
    kept = ideal[: lag + 1]
    fmt = _format(kept, word)
    taps = tuple(round(tap * Fraction(2) ** fmt.frac) for tap in kept)
    off = [abs(fmt.value(stored) - tap) for stored, tap in zip(taps, kept, strict=True)]
    rest, limit, enough = Fraction(0), Fraction(1, 1 << (word - 2)), len(ideal)
    while enough > 1 and rest + 2 * abs(ideal[enough - 1]) <= limit:
        enough -= 1
        rest += 2 * abs(ideal[enough])
    return StreamFilter(fmt, taps, 2 * sum(map(abs, ideal[lag + 1:]), error),
                        2 * sum(off[1:], Fraction(0)) + off[0], max(enough - 1, 1))


def stream_plan(spec: Spec, lsb: Fraction, step: int, word: int, f: Signal, y_shift: int
                ) -> tuple[dict[str, int], dict[str, ConstantTable], dict[str, Any]]:
    """Return constants, tables and evidence of a stream.

    A value is ``requantise(sum_j tap_j y_(i+j), stream_shift)``: the sum is exact.

    The evidence states bounds of the difference from the fitted values of the exact solution of a long
    record, in LSBs of y, for samples within the ADC format; full scale of y is half of its word length. The
    bounds are those of the omitted taps, of the rounding errors of taps and result, and of y, if ADC counts
    are shifted right by `y_shift` > 0.
    """
    found = stream_filter(spec, lsb, step, word)
    full, gain = 1 << (f.format.bits - 2), sum(map(abs, found.both_sides)) * found.format.lsb
    last = Fraction(1, 1 if f.rounding is Rounding.FLOOR else 2)
    parts = {"truncation": found.truncation * full, "taps": found.rounding * full, "result": last,
             "y": gain if y_shift else Fraction(0)}
    lag = len(found.taps) - 1
    return ({"stream_lag": lag, "stream_shift": found.format.frac},
            {"taps": ConstantTable(found.format, found.both_sides)},
            {"stream": {"lag": lag, "taps": [float(found.format.value(tap)) for tap in found.taps],
                        "format": str(found.format), "enough": found.enough,
                        "bound": {name: float(part) for name, part in parts.items()}}})
