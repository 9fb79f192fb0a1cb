"""sim.planner.toeplitz: weights of the banded solver's intercept.

From ``(T + lambda I) alpha + b 1 = y`` and ``1'alpha = 0`` follows ``b = w'y`` with ``w = A^-1 1 / 1'A^-1 1``
and A = T + lambda I (T. Schouten, J. A. K. Suykens and B. De Moor, "Multi resolution least squares SVM
solver", 2000, equation 8). w is a constant of the plan. It is symmetric, and constant except near both ends,
so that only the first weights are stored; the last one of the table applies to all samples between the ends.

b is limited so that y - b fits the word length, which changes it for extreme targets only.
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from operator import mul

from ...formats import Format
from ...plan import ConstantTable
from ...spec import Spec
from ...tables import CONTEXT, rounded
from ..log2 import ceil_log2
from ..words import Affine
from .banded import Factor

#: Bits of a weight, at every word length, and the largest number of its fraction bits.
_BITS, _MOST_FRAC = 32, 45
#: Bits of the sum of products.
_SUM_BITS = 61


def _forward(factor: Factor, n: int, settled: Decimal) -> list[Decimal]:
    """Solve ``L z = 1`` for n rows.

    The result is shorter if all later rows are equal to the last one.
    """
    columns, b, z, same = factor.columns, len(factor.columns[0]), list[Decimal](), 0
    for i in range(n):
        value = Decimal(1)
        for j in range(1, min(i, b) + 1):
            value -= columns[min(i - j, len(columns) - 1)][j - 1] * z[i - j]
        same = same + 1 if z and i >= len(columns) and abs(value - z[-1]) <= settled else 0
        z.append(value)
        if same > b:
            break
    return z


def _solution(factor: Factor, n: int, bits: int) -> list[Decimal]:
    """Return the first values of A^-1 1, with a relative error of about ``2**-bits``.

    The values end in the middle, or where all values up to the middle are equal.
    """
    columns, b = factor.columns, len(factor.columns[0])
    z = _forward(factor, n, Decimal(2) ** -bits)
    last, count = len(columns) - 1, len(z)
    if n < 2 * count:  # both ends affect every value
        z += [z[-1]] * (n - count)
        x = [Decimal(0)] * b
    else:  # at this row, and beyond, the value that does not change
        x = [z[-1] / (factor.pivots[-1] * (1 + sum(columns[-1])))] * b
    after = x  # the values at the next rows, nearest first
    found: list[Decimal] = []
    for i in range(len(z) - 1, -1, -1):
        row = min(i, last)
        value = z[i] / factor.pivots[row] - sum(map(mul, columns[row], after))
        found.append(value)
        after = [value, *after[:-1]]
    return found[::-1][: (n + 1) // 2]


def weights(factor: Factor, n: int, bits: int = 56) -> list[Decimal]:
    """Return the weights w of the first half of the samples.

    The last value applies to all further samples of this half.

    Parameters
    ----------
    factor : Factor
    n : int
    bits : int
        The relative error is about ``2**-bits``.
    """
    half = (n + 1) // 2
    with localcontext(CONTEXT):
        x = _solution(factor, n, bits)
        total = 2 * (sum(x) + (half - len(x)) * x[-1]) - (x[-1] if n % 2 else 0)
        return [value / total for value in x]


def _target_range(spec: Spec, y: Affine) -> tuple[int, int]:
    """Return the smallest and the largest y."""
    raw = spec.output.scores
    word, unit = y.signal.format, y.signal.format.lsb * y.gain[0] / (1 << y.shift)
    lo, hi = (word.quantise((end - y.offset[0]) * unit, y.signal.rounding) for end in (raw.lo, raw.hi))
    return lo, hi


def intercept_plan(spec: Spec, factor: Factor, y: Affine) -> tuple[dict[str, int], ConstantTable]:
    """Return the constants and the table of the intercept.

    A sum of products is shifted right by `weight_shift`, product by product, and then by `intercept_shift`.

    Parameters
    ----------
    spec : Spec
    factor : Factor
    y : Affine
        Conversion and format of the targets.
    """
    assert spec.toeplitz is not None
    n, word = spec.toeplitz.n, y.signal.format
    w = weights(factor, n)
    frac = min(_BITS - 1 - ceil_log2(Fraction(max(map(abs, w)))), _MOST_FRAC)
    unit = Decimal(2) ** frac
    words = [Format(True, _BITS, 0).fit(rounded(CONTEXT.multiply(value, unit))) for value in w]
    count = len(words)
    while count > 1 and words[count - 2] == words[-1]:
        count -= 1
    rest = ((n + 1) // 2 - count) * abs(words[-1])
    products = 2 * (sum(map(abs, words[:count])) + rest) << (word.bits - 1)
    shift = max(0, products.bit_length() - _SUM_BITS)
    lo, hi = _target_range(spec, y)
    return {"weights": count, "weight_shift": shift, "intercept_shift": frac - shift,
            "intercept_lo": max(word.lo, hi - word.hi), "intercept_hi": min(word.hi, lo - word.lo),
            }, ConstantTable(Format(True, _BITS, frac), tuple(words[:count]))
