"""sim.planner.toeplitz: memory and constants of look-ahead Levinson.

Formats, kernel, first row and prediction are those of the other solvers; only the solver computes with
32-bit values and block exponents, or in float32.  T need not be positive definite, so its vectors have no
bound: their exponents follow the data.
"""

from __future__ import annotations

from fractions import Fraction

from ...choices import LOOKAHEAD_BLOCK

#: Largest exponent of alpha: 65,536 full scales of y.  What is larger counts as a breakdown.
ALPHA_EXP_MAX = 16

#: Multiplications and divisions, at most: each block of two rows and more corrects g and a
#: (two residuals and two products with the inverse, 6 m**2), and the answer is corrected four times.
MULTIPLICATIONS, DIVISIONS = "n**3 + 30*n**2 + 600*n", "n**2//2 + 300*n"


def lookahead_constants(solver: str, lam: Fraction, n: int) -> dict[str, int]:
    """Return constants of the first row, and the shift of products of 32-bit values."""
    shift = {"lookahead_shift": n.bit_length()} if solver == "lookahead" else {}
    return {"ridge_scale": min(round(2**31 / (1 + lam)), 2**31 - 1)} | shift


def _tasks() -> list[tuple[str, str, str, str]]:
    """Return the members that state which row of a correction comes next."""
    return [(name, "uint16_t", "1", meaning) for name, meaning in (
        ("task", "product of the correction in progress; 0: none"),
        ("task_of", "vector that is corrected: inverse, predictor, solution or corrected solution"),
        ("task_row", "next row of the product"),
        ("turn", "number of corrections of the solution so far"))]


def _scalars(entry: str) -> list[tuple[str, str, str, str]]:
    """Return the scalar members that carry the state from step to step."""
    recent = str(LOOKAHEAD_BLOCK)
    if entry == "float":
        return [*_tasks(), ("found", entry, "1", "1-norm of the residual y - T x"),
                ("eps", entry, "1", "prediction error power after the last step"),
                ("level", entry, "1", "largest magnitude of the first row"),
                ("recent", entry, recent, "magnitudes of eps after the last steps")]
    return [("wide", "int64_t", "n+1", "scratch vector before its cast"),
            *_tasks(),
            ("found_q", entry, "1", "mantissa of the 1-norm of the residual y - T x"),
            ("found_e", entry, "1", "its exponent"),
            ("correction_exps", entry, recent, "block exponents of the columns during a correction"),
            *((f"{name}_{part}", entry, "1", f"{text}: {meaning}")
              for name, text in (("eps", "prediction error power after the last step"),
                                 ("level", "bound of the magnitudes of the first row"))
              for part, meaning in (("q", "mantissa"), ("e", "exponent"))),
            ("recent_q", entry, recent, "mantissas of the magnitudes of eps after the last steps"),
            ("recent_e", entry, recent, "their exponents"),
            ("a_exp", entry, "1", "block exponent of the predictor"),
            ("g_exp", entry, "1", "block exponent of the inverse"),
            ("x_exp", entry, "1", "block exponent of the solution")]


def lookahead_fields(solver: str) -> list[tuple[str, str, str, str]]:
    """Return the members of the trainer structure that only look-ahead has."""
    entry = "float" if solver == "lookahead_f32" else "int32_t"
    return [*_scalars(entry),
            ("row", entry, "n+1", "first row, and space for a zero"),
            ("target", entry, "n", "right-hand side"),
            ("predictor", entry, "n+1", "predictor polynomial"),
            ("inverse", entry, "n", "first column of the inverse"),
            ("columns", entry, f"{LOOKAHEAD_BLOCK}*n", "columns of a block, and space for corrections"),
            ("solution", entry, "n", "expansion coefficients over 1 + lambda"),
            ("blocks", "uint16_t", "n", "number of rows of each step"),
            ("steps", "uint16_t", "1", "number of steps"),
            ("positive", "uint16_t", "1", "1 where T + lambda I is positive definite")]
