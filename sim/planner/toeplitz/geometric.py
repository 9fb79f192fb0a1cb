"""sim.planner.toeplitz: tables and formats for a geometric first row.

On a uniform grid, the first row of the Laplacian kernel is ``rho^j``. Column j of L below the diagonal is
then ``g_j rho^(i-j)`` (:mod:`...reference.toeplitz.geometric`), so that each substitution is a recursion with
one running value, and no row is truncated. rho is rounded to 31 fraction bits first: L, D and the certificate
are those of the rounded rho, for which the matrix is positive definite as well.

Ranges, in LSB of a block of W bits: the value that a row gives fits W bits, and its target W bits, or W + 1
bits in the forward recursion, whose exponent starts one below that of y. Their difference is the running
value, which is therefore at most ``2**W``, or ``3 * 2**(W-1)``, and a rounding. With ``g z`` it is at most
``3 * 2**(W-1)``, or ``2**(W+1)``. Only the backward recursion multiplies this by the ratio of two generators,
at most 2. All values are below ``2**(W+2)``.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from ...formats import Format
from ...plan import ConstantTable
from ...spec import Spec
from ...tables import CONTEXT, decimal, rounded
from ..certify import certify_constants
from ..log2 import ceil_log2
from .banded import BAND, value_at
from .levinson import ALPHA_EXP_MIN

#: Fraction bits of the running values below the LSB of a block, by word length; at 16 bits they fit 32 bits.
STATE_FRAC = {16: 13, 24: 24, 32: 24}
#: Fraction bits of rho and of the generators, and of the ratio of two generators.
RHO_FRAC, RATIO_FRAC = 31, 30
#: Rows of the product K alpha in a step of the certificate; one running value of it is stored for each step.
BLOCK_ROWS = 16
#: Largest reach ``1 / (1 - rho)`` for which the certificate of 16 bits has running values of 32 bits, with a
#: rounding of at most half an LSB per row.
NARROW_ROWS = 64
# The rows end where the pivots change by less than this.
_SETTLED = Decimal(2) ** -80


def has_geometric_factor(spec: Spec) -> bool:
    """Return whether the plan of a banded solver uses the geometric columns of L."""
    t = spec.toeplitz
    assert t is not None
    if t.factor is not None:
        return t.factor == "geometric"
    plain = not t.bias and t.refine == 0 and t.candidates is None and t.lambda_range is None
    return spec.kernel.type == "laplacian" and plain and spec.output.targets == 1


def rho_word(spec: Spec, lsb: Fraction, step: int) -> int:
    """Return rho as an integer with 31 fraction bits."""
    exact = value_at("laplacian", step * lsb / Fraction(spec.kernel.parameters["sigma"]))
    return min(_word(exact, RHO_FRAC), 2**31 - 1)


def _word(value: Decimal, frac: int) -> int:
    return rounded(CONTEXT.multiply(value, Decimal(2) ** frac))


def factorise(rho: Decimal, lam: Decimal, n: int, word: int) -> tuple[list[Decimal], list[Decimal]]:
    """Return the generators of L and the pivots that differ from the last ones.

    Differences below half an LSB of the word length are relative: a factor of a wide kernel is small.
    """
    square = CONTEXT.multiply(rho, rho)
    excess, generators, pivots = Decimal(1), list[Decimal](), list[Decimal]()
    while True:
        pivots.append(CONTEXT.add(excess, lam))
        generators.append(CONTEXT.divide(excess, pivots[-1]))
        following = CONTEXT.fma(CONTEXT.multiply(lam, square), generators[-1], CONTEXT.subtract(1, square))
        if len(pivots) == n or CONTEXT.abs(CONTEXT.subtract(following, excess)) <= CONTEXT.multiply(
                _SETTLED, excess):
            break
        excess = following
    near, rows = CONTEXT.add(1, Decimal(2) ** -(word + 1)), len(pivots)
    while rows > 1 and generators[rows - 2] <= CONTEXT.multiply(near, generators[-1]) and (
            pivots[rows - 2] <= CONTEXT.multiply(near, pivots[-1])):
        rows -= 1
    return [*generators[: rows - 1], generators[-1]], [*pivots[: rows - 1], pivots[-1]]


def geometric_tables(spec: Spec, rho: int) -> tuple[dict[str, int], dict[str, ConstantTable]]:
    """Return constants and tables of the factor, for rho with 31 fraction bits."""
    assert spec.toeplitz is not None
    exact, lam = Fraction(rho, 1 << RHO_FRAC), Fraction(spec.toeplitz.lam)
    generators, pivots = factorise(decimal(exact), decimal(lam), spec.toeplitz.n, spec.numbers.word)
    inverse = [CONTEXT.divide(1, d) for d in pivots]
    pivot_frac = 31 - ceil_log2(Fraction(max(inverse)))
    while _word(max(inverse), pivot_frac) >= 1 << 31:
        pivot_frac -= 1
    ratios = [CONTEXT.divide(g, following) for g, following in
              zip(generators, [*generators[1:], generators[-1]], strict=True)]
    assert max(ratios) < 2
    generator, ratio = Format(True, 32, RHO_FRAC), Format(True, 32, RATIO_FRAC)
    tables = {
        "generator": ConstantTable(generator, tuple(generator.fit(_word(g, RHO_FRAC)) for g in generators)),
        "ratio": ConstantTable(ratio, tuple(_word(v, RATIO_FRAC) for v in ratios)),
        "pivot": ConstantTable(Format(True, 32, pivot_frac), tuple(_word(p, pivot_frac) for p in inverse))}
    return {"rho": rho, "rows": len(pivots), "state_frac": STATE_FRAC[spec.numbers.word],
            "state_bits": 32 if spec.numbers.word == 16 else 64, "pivot_frac": pivot_frac}, tables


def geometric_certificate(spec: Spec, rho: int, ridge: int, alpha_frac: int) -> dict[str, int]:
    """Return the constants of the certificate.

    It is that of the matrix ``(1 - c) I + c [rho^|i-j|]`` with the rounded rho, where c = ridge / 2**31 is
    1 / (1 + lambda). No eigenvalue of the Toeplitz matrix is below the minimum of its symbol,
    ``(1 - rho) / (1 + rho)``. Each of two running values is the sum of ``c alpha`` over at most
    ``min(n, 1 / (1 - rho))`` rows; each row adds two roundings, both less than 1.
    """
    assert spec.toeplitz is not None
    word, n, lam = spec.numbers.word, spec.toeplitz.n, Fraction(spec.toeplitz.lam)
    exact, c = Fraction(rho, 1 << RHO_FRAC), Fraction(ridge, 1 << 31)
    rows = min(n, -(-1 // (1 - exact)))
    least = 1 - c + c * (1 - exact) / (1 + exact)
    narrow = word == 16 and rows <= NARROW_ROWS
    products = BAND.frac + word - 1 + ceil_log2(2 * rows + 2)
    shift = max(products - (31 if narrow else 61), BAND.frac + alpha_frac - ALPHA_EXP_MIN - 59, 0)
    assert shift <= BAND.frac
    found = certify_constants(BAND.bits, n, lam, lam / (1 + lam) - least, shift, spec.toeplitz.tolerance)
    return found | {"residual_slack": 4 * rows + 2, "block_rows": BLOCK_ROWS,
                    "sum_bits": 32 if narrow else 64}
