"""sim.planner: constants of the certified bound.

The residual is computed in steps of ``2**-(W - 1 - residual_shift)`` LSB of alpha. These steps are so small
that the rounding errors of its products are negligible, and so large that no sum overflows.

The bound applies to the solution of the quantised system. It does not include the errors caused by rounding
the kernel values and the targets (W204 warns of large rounding errors of the targets).
"""

from __future__ import annotations

from fractions import Fraction

from .log2 import ceil_log2, floor_log2

#: The bound in the model structure: name, C type, elements and meaning.
BOUND_FIELD = ("bound", "int64_t", "1",
               "|alpha - solution of the system after rounding|_2 is at most this, in LSB of alpha")
#: The sum of squares of the residual while its rows are computed.
NORM_FIELDS = (("squares", "int64_t", "1", "sum of squares so far: of the residual, then of alpha"),
               ("squares_shift", "int32_t", "1", "its shift"),
               ("slack", "int64_t", "1", "rounding error of a row of the residual, at most"))
#: Steps by which a word of the first row may miss its kernel value, tail beyond the last included; of the
#: Gaussian and Laplacian kernels.
ROW_ERROR = {16: 2, 24: 4, 32: 4}


def row_loss(word: int, nonzero: int, error: int) -> Fraction:
    """Bound how far the smallest eigenvalue of T is below 0 after rounding.

    The exact T is positive semidefinite. The rounding errors e_j of its first row form a symmetric Toeplitz
    matrix E, and ``|E|_2 <= 2 sum_j |e_j|`` bounds the change of each eigenvalue.

    Parameters
    ----------
    word : int
        Word length W.
    nonzero : int
        Number of nonzero entries other than r[0].
    error : int
        Largest error of an entry, in LSB.

    Returns
    -------
    Fraction
        The bound, in units of r.
    """
    return Fraction(2 * error * nonzero, 1 << (word - 1))


def norm_bits(n: int) -> int:
    """Return the largest number of bits for which n squares do not overflow.

    The sum of n squares of integers with this number of bits is below ``2**61``.
    """
    return (61 - ceil_log2(n)) // 2


def residual_shift(word: int, n: int, alpha_frac: int, alpha_exp_min: int) -> int:
    """Return the right shift of the products that form the residual.

    With this shift, the sum of n + 1 products and y is below ``2**61``.
    """
    return max(0, 2 * word - 2 + ceil_log2(n + 1) - 61, word - 1 + alpha_frac - alpha_exp_min - 59)


def certify_constants(word: int, n: int, lam: Fraction, loss: Fraction, shift: int,
                      tolerance: float) -> dict[str, int]:
    """Return the constants for the residual and the certified bound.

    :mod:`..model.bound` explains the constants of the bound.

    Parameters
    ----------
    word : int
        Word length W.
    n : int
        Number of samples.
    lam : Fraction
        Regulariser lambda.
    loss : Fraction
        Bound on how far the smallest eigenvalue of T / (1 + lambda) is below 0.
    shift : int
        Result of :func:`residual_shift`.
    tolerance : float
        Largest bound, relative to |alpha|, with which a solution is reported as accurate.

    Returns
    -------
    dict of str to int
        The constants by name; `bound_gain` is 0 if no bound exists.
    """
    least = lam / (1 + lam) - loss
    gain = up = 0
    if least > 0:
        up = 30 - floor_log2(1 / least)
        gain = -(-Fraction(2) ** up // least)
        if gain == 2**31:  # rounded up to the next power of two
            up, gain = up - 1, 2**30
    return {
        "residual_shift": shift, "residual_slack": n + 1 if shift else 0,
        "norm_bits": norm_bits(n), "no_bound": 1 << 62,
        "bound_gain": int(gain), "bound_shift": up + word - 1 - shift,
        "tolerance": max(1, int(Fraction(tolerance) * 2**16)),
    }
