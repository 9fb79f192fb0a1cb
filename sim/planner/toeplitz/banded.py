"""sim.planner.toeplitz: tables and formats of the banded solver.

The kernel decays, so the first row is truncated at a lag b. The error of the truncation relative to alpha
is at most ``2 sum_{j > b} r_j / lambda``; b is chosen so that this is below ``2**-W``.  L and D of the
scaled matrix come from Schur's recursion (:mod:`...reference.toeplitz.banded`) on the exact r, in decimal
arithmetic, because the condition number of the matrix would amplify a rounding of r.

Rows of L converge geometrically; those within half an LSB of the last row are not stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from ...choices import MATERN
from ...errors import fail
from ...formats import Format
from ...plan import ConstantTable
from ...spec import Spec
from ...tables import CONTEXT, decimal, rounded
from ..log2 import ceil_log2, ceil_log2_sqrt
from ..matern import profile, two_nu_root
from .levinson import ALPHA_EXP_MIN, power

#: Format of the first row: 32 bits at every word length, as is that of 1 / d_i.
BAND = Format(True, 32, 31)
#: Format of the lower bits of a first row.
REST = Format(True, 32, 62)
#: Bits of accumulators.
_SUM_BITS = 60
#: Kernels whose first row ends.
DECAYING = ("gaussian", "laplacian", *MATERN)


@dataclass(frozen=True)
class Band:
    """Exact first row of A up to a lag, and the error of the truncation.

    Attributes
    ----------
    row : tuple of Decimal
        a_0 = 1, ..., a_b.
    tail : Decimal
        Upper bound of ``2 sum_{j > b} a_j``.
    """

    row: tuple[Decimal, ...]
    tail: Decimal


@dataclass(frozen=True)
class Factor:
    """Columns of L (rows, b) and 1 / d_i (rows,); the last row repeats."""

    columns: list[list[Decimal]]
    pivots: list[Decimal]


def first_row(spec: Spec, lsb: Fraction, step: int) -> Band:
    """Return the first row, truncated with an error below ``2**-W`` of alpha.

    Raises
    ------
    KerncastError
        E205 if the kernel does not decay, or the band is wider than half of the samples.
    """
    assert spec.toeplitz is not None
    n = spec.toeplitz.n
    if spec.kernel.type not in DECAYING:
        raise _refusal(spec, f"the {spec.kernel.type} kernel does not decay", "[kernel] type",
                       spec.kernel.type, ", ".join(DECAYING))
    band = decaying_row(spec, lsb, step, spec.numbers.word)
    if len(band.row) == 2 and spec.toeplitz.lambda_range is not None:
        band = Band((*band.row, Decimal(0)), band.tail)  # the factor in the trainer consists of arrays
    b = len(band.row) - 1
    if n < 2 * b:
        raise _refusal(spec, f"the band of {b} diagonals is wider than half of the {n} samples",
                       "[toeplitz] n", n, f"at least {2 * b}")
    return band


def decaying_row(spec: Spec, lsb: Fraction, step: int, bits: int) -> Band:
    """Return the first row, truncated with an error below ``2**-bits`` of alpha.

    A row that is longer than the grid is truncated there, with a larger error.
    """
    assert spec.toeplitz is not None
    n, lam = spec.toeplitz.n, Fraction(spec.toeplitz.lam)
    unit = Fraction(spec.kernel.parameters["sigma"])
    min_rest = decimal(lam / Fraction(2) ** (bits + 12))
    entries, rest = [Decimal(1)], Decimal(1)
    while rest > min_rest:  # 2**-11 of what the cut may cost
        entries.append(value_at(spec.kernel.type, Fraction(len(entries) * step) * lsb / unit))
        ratio = CONTEXT.divide(entries[-1], entries[-2])  # no later one is larger
        rest = CONTEXT.divide(CONTEXT.multiply(entries[-1], ratio), 1 - ratio)
        if len(entries) > n:
            break
    b, tail = len(entries) - 1, rest
    limit = decimal(lam / Fraction(2) ** (bits + 1))
    while b > 1 and tail + entries[b] <= limit:  # tables of C have one entry at least
        tail += entries[b]
        b -= 1
    over = decimal(1 / (1 + lam))
    row = (Decimal(1), *(CONTEXT.multiply(entry, over) for entry in entries[1: b + 1]))
    return Band(row, CONTEXT.multiply(2 * tail, over))


def refined_row(spec: Spec, lsb: Fraction, step: int, bits: int) -> Band:
    """Return the first row for residuals of `bits` bits.

    It is longer than that of the factor, but not longer than the grid.
    """
    assert spec.toeplitz is not None
    band = decaying_row(spec, lsb, step, bits)
    return Band(band.row[: spec.toeplitz.n], band.tail)


def value_at(kernel: str, lag: Fraction) -> Decimal:
    """Return the kernel of a difference, divided by sigma; its logarithm is concave."""
    if kernel in MATERN:
        return profile(kernel, CONTEXT.multiply(decimal(lag), two_nu_root(kernel)))
    return profile(kernel, decimal(lag * lag / 2 if kernel == "gaussian" else lag))


def _refusal(spec: Spec, why: str, where: str, value: object, allowed: str) -> Exception:
    assert spec.toeplitz is not None
    remedy = 'set [toeplitz] solver = "levinson" or "schur", which need no band'
    if spec.toeplitz.lambda_range is not None:  # only this solver supports it, or several outputs
        remedy = "lower sigma, raise n, or remove `lambda_range` and set solver = \"levinson\""
    elif spec.output.targets > 1:
        remedy = "lower sigma, raise n, or write one spec per output with solver = \"levinson\""
    return fail("E205", f"solver banded: {why}", where=where, value=value, allowed=allowed, remedy=remedy)


def factorise(row: tuple[Decimal, ...], n: int, bits: int) -> Factor:
    """Factorise by Schur's recursion until rows change by less than ``2**-bits``."""
    u, v = list(row), [*row[1:], Decimal(0)]
    columns, pivots, settled = [], [], Decimal(2) ** -bits
    while True:
        columns.append([CONTEXT.divide(entry, u[0]) for entry in u[1:]])
        pivots.append(u[0])
        rest = max((abs(entry) for entry in v), default=Decimal(0))
        if len(pivots) == n or rest * rest * len(v) <= settled * u[0] * u[0]:
            return Factor(columns, pivots)
        k = CONTEXT.divide(v[0], u[0])
        following = [CONTEXT.subtract(q, CONTEXT.multiply(k, p)) for p, q in zip(u, v, strict=True)]
        u = [CONTEXT.subtract(p, CONTEXT.multiply(k, q)) for p, q in zip(u, v, strict=True)]
        v = [*following[1:], Decimal(0)]


def _word(value: Decimal, frac: int) -> int:
    return rounded(CONTEXT.multiply(value, Decimal(2) ** frac))


def _rows(factor: Factor, frac: int, word: int) -> int:
    """Return the number of rows that differ from the last by more than half an LSB."""
    half, last, pivot = Decimal(2) ** -(frac + 1), factor.columns[-1], factor.pivots[-1]
    for i in range(len(factor.pivots) - 1, 0, -1):
        move = max((abs(p - q) for p, q in zip(factor.columns[i - 1], last, strict=True)), default=Decimal(0))
        if move > half or abs(factor.pivots[i - 1] - pivot) > pivot * Decimal(2) ** -word:
            return i + 1
    return 1


def banded_tables(spec: Spec, band: Band, factor: Factor) -> tuple[dict[str, int], dict[str, ConstantTable]]:
    """Return constants and tables of the factor.

    1 / d_i is divided by 1 + lambda, except for refinement: the residual is already divided.
    """
    assert spec.toeplitz is not None
    word, lam = spec.numbers.word, Fraction(spec.toeplitz.lam)
    b, over = len(band.row) - 1, decimal(Fraction(1) if spec.toeplitz.refine else 1 / (1 + lam))
    max_entry = max((abs(entry) for column in factor.columns for entry in column), default=Decimal(0))
    frac: int = word  # entries below 1/2 have one more bit than a fraction
    while _word(max_entry, frac) > Format(True, word, 0).hi:
        frac -= 1
    rows = _rows(factor, frac, word)
    kept = [*factor.columns[: rows - 1], factor.columns[-1]]
    inverse = [CONTEXT.divide(over, d) for d in (*factor.pivots[: rows - 1], factor.pivots[-1])]
    pivot_frac = 31 - ceil_log2(Fraction(max(inverse)))
    while _word(max(inverse), pivot_frac) >= 1 << 31:
        pivot_frac -= 1
    words = [_word(entry, frac) for column in kept for entry in column]
    most_words = [max(abs(words[i * b + j]) for i in range(rows)) for j in range(b)]
    shift = factor_shift(sum(most_words), b, frac, word)
    tables = {"factor": ConstantTable(Format(True, word, frac), tuple(words)),
              "pivot": ConstantTable(Format(True, 32, pivot_frac),
                                     tuple(_word(p, pivot_frac) for p in inverse)),
              "band": band_table(band)}
    return {"band": b, "rows": rows, "factor_frac": frac,
            "factor_shift": shift, "factor_head": head_lags(most_words, word, 2) if shift else 0,
            "pivot_frac": pivot_frac}, tables


def band_table(band: Band) -> ConstantTable:
    """Return the table of the first row from lag 1."""
    return ConstantTable(BAND, _band_words(band))


def rest_table(band: Band) -> ConstantTable:
    """Return the table of the lower 31 bits of the first row.

    An entry plus ``2**31`` times that of :func:`band_table` has 62 fraction bits.
    """
    frac = BAND.frac + REST.bits - 1
    return ConstantTable(REST, tuple(_word(entry, frac) - (word << (REST.bits - 1)) for entry, word in zip(
        band.row[1:], _band_words(band), strict=True)))


def factor_shift(sums: int, b: int, frac: int, word: int) -> int:
    """Return the right shift of two products of L, so that sums of b fit.

    y, at an exponent of z one below that at which it fills its word, is below ``2**61``, and the products are
    below ``2**60``. The shift is 0, or at least log2(b), so that the sum of the lower halves of b shifted
    products fits 32 bits.
    """
    shift = max(sums.bit_length(), frac) + word - 1 - _SUM_BITS
    return 0 if shift <= 0 else max(shift, ceil_log2(max(b, 2)), 2)


def head_lags(entries: Sequence[int], word: int, step: int) -> int:
    """Return the number of first lags after which the sum of products fits 63 bits.

    The number is a multiple of `step`.
    """
    head = 0
    while sum(entries[head:]) << (word - 1) >= 1 << 63:
        head += step
    return head


def band_head(table: ConstantTable, word: int) -> int:
    """Return the number of first lags after which a row's sum fits 63 bits.

    A row has products on both sides of the diagonal.
    """
    return head_lags([2 * entry for entry in table.values], word, 1)


def banded_constants(spec: Spec) -> dict[str, int]:
    """Return the ranges of both exponents, from the bounds of z and z / d."""
    assert spec.toeplitz is not None
    n, p = spec.toeplitz.n, power(spec)
    return {"ridge_scale": min(round(Fraction(2**31) / (1 + Fraction(spec.toeplitz.lam))), 2**31 - 1),
            "z_exp_max": ceil_log2_sqrt(n * p) + 3, "x_exp_max": ceil_log2_sqrt(n * p**3) + 3}


def band_loss(band: Band) -> Fraction:
    """Bound the eigenvalue error due to rounding and truncation of the first row.

    The exact T is positive semidefinite, so the symbol of the table, and every eigenvalue for every n, is at
    least ``lambda / (1 + lambda)`` minus this bound.
    """
    exact = (Fraction(entry) for entry in band.row[1:])
    return 2 * sum((abs(v - BAND.value(w)) for v, w in zip(exact, _band_words(band), strict=True)),
                   Fraction(0)) + Fraction(band.tail)


def _band_words(band: Band) -> tuple[int, ...]:
    """Return the entries from lag 1 as integers."""
    return tuple(BAND.fit(_word(entry, BAND.frac)) for entry in band.row[1:])


def band_residual_shift(word: int, b: int, alpha_frac: int) -> int:
    """Return the right shift that keeps a residual's products, and y, below ``2**61``.

    The shift is 0 or at least log2(b), as for the products of L.
    """
    products = BAND.frac + word - 1 + ceil_log2(2 * b + 2)
    shift = max(products - 61, BAND.frac + alpha_frac - ALPHA_EXP_MIN - 59)
    return 0 if shift <= 0 else max(shift, ceil_log2(max(b, 2)), 2)
