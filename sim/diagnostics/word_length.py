"""sim.diagnostics: word-length advice from the conditioning of a Toeplitz system.

Rounding errors of the recursion reach alpha amplified by about the condition number of T + lambda I.  So
at a word length of W bits

    |alpha - alpha_float|_2 / |alpha_float|_2  ~  (6 + condition) * 2^-(W - 1):

the 6 LSB are the rounding of r, y and alpha, which is the error at condition number 1.  It is an estimate,
not a bound (the bound is certified after each training).  Measured over sigma, lambda, n, W and rough and
smooth targets, it is accurate within a factor of 4 (7 in one case of two hundred), for targets that fill
their format, block scaling, and errors below 0.1.  A refinement multiplies the error by a rate, down to
the resolution of the stored values.  The rate is that of the least accurate direction, so it grows with
the largest eigenvalue divided by r_0 + lambda, the *peak*:

    error  ~  (6 + condition / 4) * 2^-31 + error(W) * rate^refine,   rate = error(W) * max(1/2, peak / 10),

accurate within a factor of 4 for each of the refine + 1 solves.

The estimate is for Levinson's recursion.  Schur's recursion and look-ahead in integers have errors of at
most that size (5 times as large in one case of the same systems), often up to 35 times smaller: for them the
estimate is conservative.  It does not cover look-ahead in float32, or an indefinite system.

The condition number is estimated from Rayleigh quotients.  The reflection coefficients of the Levinson
recursion give eps = prod (1 - xi^2), and with the predictor a the quotient eps / |a|^2 >= the smallest
eigenvalue. The eigenvalues of T. Chan's circulant are the quotients of the Fourier vectors and bound both
ends (T. Chan, "An Optimal Circulant Preconditioner for Toeplitz Systems", SIAM J. Sci. Stat. Comput. 9(4),
1988).

Targets that use a small part of their format have larger relative rounding errors.  The error of alpha due to
this rounding is computed in float64 and added.

For conjugate gradients nothing is predicted, because their error depends on the targets and a run is cheap.
Instead, the integer model runs on the data at every word length.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log2

import numpy as np

from .._arrays import Array
from ..backend import Raw
from ..errors import KerncastError, fail
from ..plan import Plan
from ..planner import make_plan
from ..primitives import requantise
from ..reference.backend import FloatReference
from ..reference.toeplitz.levinson import levinson
from ..spec import Spec
from .simulate import relative_error, simulate

#: Errors of a well conditioned system, in lsb.
_WORDS = 6
_LONG = 32
#: Candidates: word length and refinements.
VARIANTS = ((16, 0), (16, 1), (16, 2), (24, 0), (24, 1), (24, 2), (32, 0))
#: Word lengths for conjugate gradients.
WORDS = (16, 24, 32)


@dataclass(frozen=True)
class Conditioning:
    """Amplification of rounding errors by a Toeplitz system.

    Parameters
    ----------
    xi : float
        The largest ``|xi|``; at 1 a leading minor is singular.
    eps : float
        Prediction error power after the last step, divided by r_0 + lambda.
    condition : float
        Estimated condition number of T + lambda I; infinite unless it is positive definite.
    peak : float
        The largest eigenvalue divided by r_0 + lambda.
    """

    xi: float
    eps: float
    condition: float
    peak: float

    @property
    def bits_lost(self) -> float:
        """Return how many bits of a value are lost to the amplified rounding errors."""
        return log2(_WORDS + self.condition)


@dataclass(frozen=True)
class NumbersChoice:
    """Word length with its cost and its accuracy.

    Parameters
    ----------
    word, refine : int
    error : float
        Relative error of alpha, predicted or measured; infinite if training failed.
    bytes : int
        Size of the model structure.
    multiplications : int
        Multiplications of one training run.
    status : str
        Status after training if the error was measured; empty if it is predicted.
    """

    word: int
    refine: int
    error: float
    bytes: int
    multiplications: int
    status: str = ""


def conditioning(r: Array) -> Conditioning:
    """Compute the conditioning from the first column (n,) of T + lambda I."""
    n = len(r)
    solution = levinson(r, np.zeros(n))
    if len(solution.xi) < n - 1 or not solution.eps > 0:
        return Conditioning(1.0, 0.0, float("inf"), float("inf"))
    a = np.ones(1)
    for xi in solution.xi:  # a_i += xi a_{m-i}, a_m = xi
        a = np.append(a, 0.0) + xi * np.append(a, 0.0)[::-1]
    weights = 1 - np.arange(n) / n
    folded = weights * r
    folded[1:] += (weights * r)[:0:-1]
    fourier = np.fft.fft(folded).real
    least = min(float(fourier.min()), float(solution.eps) / float(a @ a))
    condition = float(fourier.max()) / least if least > 0 else float("inf")
    return Conditioning(float(np.abs(solution.xi).max(initial=0.0)), float(solution.eps) / float(r[0]),
                        condition, float(fourier.max()) / float(r[0]))


def conditioning_of(plan: Plan, x_raw: Raw | None) -> Conditioning:
    """Compute the conditioning of the system that a plan solves.

    Parameters
    ----------
    plan : Plan
        A plan of algorithm ``toeplitz_rls``.
    x_raw : ndarray of int64, shape (n, D), or None
        ADC counts of the inputs; optional on the uniform grid.

    Raises
    ------
    KerncastError
        E120 for another algorithm, or without the inputs of the first row.
    """
    if plan.algorithm != "toeplitz_rls" or (x_raw is None and not plan.uniform):
        raise fail("E120", "no advice on the word length is available", where="--error",
                   value=plan.algorithm if plan.algorithm != "toeplitz_rls" else "no data",
                   allowed="toeplitz_rls, with [data] unless the scheme is uniform; kernel_cg with [data]",
                   remedy="run kerncast sim, which measures the error")
    return conditioning(FloatReference(plan).first_column(x_raw))


def predicted_error(found: Conditioning, word: int, refine: int = 0) -> float:
    """Return the predicted relative error of alpha, at most 1."""
    once = min((_WORDS + found.condition) * 2.0 ** (1 - word), 1.0)
    if refine == 0:
        return once
    rate = min(once * max(0.5, found.peak / 10), 1.0)
    return min((_WORDS + found.condition / 4) * 2.0 ** (1 - _LONG) + once * rate**refine, 1.0)


def _not_covered(system: Conditioning, solver: str) -> str:
    """Return the reason why the estimate does not cover a solver; empty if it does."""
    if solver == "banded":
        return "its factor comes from the exact first row, so the condition number has no effect"
    if solver == "lookahead_f32":
        return "its error depends on float32, not on the word length"
    if solver == "lookahead" and system.condition == float("inf"):
        return "reflection coefficients do not describe look-ahead if T + lambda I is not positive definite"
    return ""


def rounding_error(plan: Plan, x_raw: Raw | None, y_raw: Raw) -> float:
    """Return the relative error of alpha in float64 from rounding the targets (n,).

    The error is infinite if float64 has no solution, and 0 if y represents the ADC counts exactly.
    """
    shift = plan.integer("y_shift")
    if shift == 0:
        return 0.0
    offset, y = plan.integer("y_offset"), plan.signals["y"]
    words = [requantise(int(v) - offset, shift, int(y.rounding.value), y.lo, y.hi) for v in y_raw]
    reference = FloatReference(plan)
    found = [reference.train(x_raw, targets) for targets in (np.array(words) * (1 << shift) + offset, y_raw)]
    return relative_error(found[0].x, found[1].x) if all(each.ok for each in found) else float("inf")


def choices(spec: Spec, system: Conditioning, x_raw: Raw | None = None,
            y_raw: Raw | None = None) -> list[NumbersChoice]:
    """Return the :data:`VARIANTS` that fit the spec, in order of RAM.

    If targets are given, their rounding error is included: the estimate assumes targets that fill their
    format.

    Raises
    ------
    KerncastError
        E120 for look-ahead in float32, or of an indefinite system.
    """
    assert spec.toeplitz is not None
    solver = spec.toeplitz.solver if spec.toeplitz.solver != "auto" else make_plan(spec).solver
    if why := _not_covered(system, solver):
        raise fail("E120", f"no advice on the word length: {why}", where="[toeplitz] solver",
                   value=solver,
                   allowed="levinson, schur; lookahead if T + lambda I is positive definite",
                   remedy="run kerncast sim, which measures the error")
    found = []
    rounded: dict[int, float] = {}  # error from rounding the targets, by shift
    for word, refine in VARIANTS:
        tables = {"numbers": spec.numbers.model_copy(update={"word": word, "formats": {}}),
                  "toeplitz": spec.toeplitz.model_copy(update={"refine": refine, "scaling": "block"})}
        try:
            made = make_plan(spec.model_copy(update=tables))
        except KerncastError:
            continue  # no plan: lambda leaves no bits at this length
        shift = made.integer("y_shift")
        if y_raw is not None and shift not in rounded:
            rounded[shift] = rounding_error(made, x_raw, y_raw)
        error = min(predicted_error(system, word, refine) + rounded.get(shift, 0.0), 1.0)
        found.append(NumbersChoice(word, refine, error, made.ram_bytes,
                            made.operations["train"]["multiplications"].count))
    return sorted(found, key=lambda c: (c.bytes, c.multiplications))


def measured_choices(spec: Spec, x_raw: Raw, y_raw: Raw) -> list[NumbersChoice]:
    """Run conjugate gradients on data at each word length.

    Return the choices in order of RAM.

    Parameters
    ----------
    spec : Spec
        A spec of algorithm ``kernel_cg``.
    x_raw, y_raw : ndarray of int64, shapes (n, D) and (n,)
        ADC counts.

    Returns
    -------
    list of Choice
        `error` is relative to the same number of steps in float64.
    """
    found = []
    for word in WORDS:
        numbers = spec.numbers.model_copy(update={"word": word})
        try:
            made = make_plan(spec.model_copy(update={"numbers": numbers}))
        except KerncastError:
            continue
        result = simulate(made, x_raw, y_raw)
        error = result.alpha_error if result.trained else float("inf")
        found.append(NumbersChoice(word, 0, error, made.ram_bytes,
                            made.operations["train"]["multiplications"].count, result.status))
    return sorted(found, key=lambda c: (c.bytes, c.multiplications))


def smallest_sufficient(found: list[NumbersChoice], error: float) -> NumbersChoice | None:
    """Return the first choice that achieves an error, or None."""
    return next((choice for choice in found if choice.error <= error), None)


def describe(system: Conditioning, plan: Plan) -> str:
    """Describe the effect of the conditioning on a plan."""
    if why := _not_covered(system, plan.solver):
        return f"The error of alpha is not predicted: {why}. kerncast sim measures it."
    word = plan.integer("solver_word") if "solver_word" in plan.constants else plan.word
    refine = plan.refine
    left = max(word - 1 - system.bits_lost, 0.0)
    after = f" after {refine} refinements" if refine else ""
    return (f"Reflection coefficients reach {system.xi:.4f}, the prediction error power {system.eps:.3g}. "
            f"The condition number of about {system.condition:.3g} costs {system.bits_lost:.1f} of the "
            f"{word - 1} bits below the sign and leaves {left:.1f}. Predicted relative error of "
            f"alpha{after}: {predicted_error(system, word, refine):.1e}.")
