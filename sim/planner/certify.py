"""sim.planner: constants of the certified bound.

The residual is computed in steps of ``2**-(W - 1 - residual_shift)`` LSB of alpha: fine enough that rounding
its products is negligible, and coarse enough that no sum overflows.

The bound is for the quantised system: it excludes the errors of rounding kernel values and targets (W204
warns of large errors of the targets).
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
    """Bound the change of T's smallest eigenvalue due to rounding of the first row.

    T is positive semidefinite, and ``|E|_2 <= 2 sum_j |e_j|`` for the symmetric Toeplitz matrix E of the
    errors.

    Parameters
    ----------
    word : int
        Word length W.
    nonzero : int
        Number of nonzero entries other than r[0].
    error : int
        Largest error of an entry, in LSB.
    """
    return Fraction(2 * error * nonzero, 1 << (word - 1))


def norm_bits(n: int) -> int:
    """Return the number of bits of a component for the norm.

    With this number of bits the sum of n squares stays below ``2**61``.
    """
    return (61 - ceil_log2(n)) // 2


def residual_shift(word: int, n: int, alpha_frac: int, alpha_exp_min: int) -> int:
    """Return the right shift for the products of the residual.

    With this shift the sum of n + 1 products and y stays below ``2**61``.
    """
    return max(0, 2 * word - 2 + ceil_log2(n + 1) - 61, word - 1 + alpha_frac - alpha_exp_min - 59)


def certify_constants(word: int, n: int, lam: Fraction, loss: Fraction, shift: int,
                      tolerance: float) -> dict[str, int]:
    """Return the constants of :mod:`..model.bound` and of the residual.

    Parameters
    ----------
    word, n : int
    lam : Fraction
        Regulariser.
    loss : Fraction
        Bound on how far the smallest eigenvalue of T / (1 + lambda) is below 0.
    shift : int
        :func:`residual_shift`.
    tolerance : float
        Maximum bound, relative to |alpha|, of an accurate solution.

    Returns
    -------
    dict of str to int
        `bound_gain` is 0 if there is no bound.
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
