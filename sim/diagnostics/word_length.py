"""sim.diagnostics: predict the error of a Toeplitz trainer for each word length.

The relative error of alpha is about the rounding error times the condition number of T + lambda I. At a word
length of W bits, it is estimated as

    |alpha - alpha_float|_2 / |alpha_float|_2  ~  (6 + condition) * 2^-(W - 1):

The constant of 6 LSB is the error caused by rounding r, y and alpha. The value is an estimate, not a bound;
the device certifies a bound after each training. In tests with many values of sigma, lambda, n and W, and
with rough and smooth targets, the estimate was accurate within a factor of 4 (7 in one of two hundred cases).
It assumes targets that fill their format, block scaling, and errors below 0.1. Each refinement multiplies the
error by a rate, down to the resolution of the stored values. The rate is determined by the eigenvector with
the slowest convergence, so it grows with the *peak*, which is the largest eigenvalue divided by r_0 + lambda:

    error  ~  (6 + condition / 4) * 2^-31 + error(W) * rate^refine,   rate = error(W) * max(1/2, peak / 10),

This is accurate within a factor of 4 for each of the refine + 1 solves.

The estimate is for Levinson's recursion. It is conservative for Schur's recursion and integer look-ahead: on
the same systems their errors were not larger than the estimate (except in one case, by a factor of 5), and
often up to 35 times smaller. The estimate does not cover look-ahead in float32, or an indefinite system.

The condition number is estimated from Rayleigh quotients. The reflection coefficients of Levinson's recursion
give eps = prod (1 - xi^2), and the predictor a gives the quotient eps / |a|^2, which is not smaller than the
smallest eigenvalue. The eigenvalues of T. Chan's circulant matrix are the quotients of the Fourier vectors,
so they lie between the smallest and the largest eigenvalue (T. Chan, "An Optimal Circulant Preconditioner for
Toeplitz Systems", SIAM J. Sci. Stat. Comput. 9(4), 1988).

Targets that use a small part of their format have larger relative rounding errors. The resulting error of
alpha is computed in float64 and added to the estimate.

For conjugate gradients the error is measured, not predicted, because it depends on the targets and a run is
fast: the integer model is run on the data at every word length.
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
    """Conditioning of a Toeplitz system, which amplifies rounding errors.

    Parameters
    ----------
    xi : float
        The largest magnitude of a reflection coefficient; 1 if a leading minor is singular.
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
        """Return the number of bits of a value that rounding errors make useless."""
        return log2(_WORDS + self.condition)


@dataclass(frozen=True)
class NumbersChoice:
    """Word length and number of refinements, with their cost and accuracy.

    Parameters
    ----------
    word : int
        Word length in bits.
    refine : int
        Number of refinements.
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
    """Estimate the conditioning from the first column (n,) of T + lambda I."""
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
    """Estimate the conditioning of the system that a plan solves.

    Parameters
    ----------
    plan : Plan
        A plan of algorithm ``toeplitz_rls``.
    x_raw : ndarray of int64, shape (n, D), or None
        ADC counts of the inputs; None for a uniform grid.

    Raises
    ------
    KerncastError
        E120 for another algorithm, or if the scheme is not uniform and `x_raw` is None.
    """
    if plan.algorithm != "toeplitz_rls" or (x_raw is None and not plan.uniform):
        raise fail("E120", "no advice on the word length is available", where="--error",
                   value=plan.algorithm if plan.algorithm != "toeplitz_rls" else "no data",
                   allowed="toeplitz_rls, with [data] unless scheme = \"uniform\"; kernel_cg with [data]",
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
        return "it factorises the exact first row, so the condition number has no effect"
    if solver == "lookahead_f32":
        return "its error depends on float32, not on the word length"
    if solver == "lookahead" and system.condition == float("inf"):
        return "reflection coefficients do not describe look-ahead if T + lambda I is not positive definite"
    return ""


def rounding_error(plan: Plan, x_raw: Raw | None, y_raw: Raw) -> float:
    """Compute the relative error of alpha that is caused by rounding the targets (n,).

    The computation is in float64. The error is infinite if the system has no solution, and 0 if the format of
    y represents the ADC counts exactly.
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
    """Return the :data:`VARIANTS` that the spec allows, in ascending order of RAM.

    The predicted errors assume targets that fill their format. If targets are passed, the error caused by
    rounding them is added.

    Raises
    ------
    KerncastError
        E120 if the estimate does not cover the solver: the banded solver, look-ahead in float32, or
        look-ahead for an indefinite system.
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
    """Measure the error of conjugate gradients on data at each word length.

    Parameters
    ----------
    spec : Spec
        A spec of algorithm ``kernel_cg``.
    x_raw, y_raw : ndarray of int64, shapes (n, D) and (n,)
        ADC counts.

    Returns
    -------
    list of NumbersChoice
        The choices in ascending order of RAM.  `error` is relative to the same number of steps in float64.
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
    """Return the first choice whose error is at most `error`, or None."""
    return next((choice for choice in found if choice.error <= error), None)


def describe(system: Conditioning, plan: Plan) -> str:
    """Describe the effect of the conditioning on a plan."""
    if why := _not_covered(system, plan.solver):
        return f"The error of alpha is not predicted: {why}. kerncast sim measures it."
    word = plan.integer("solver_word") if "solver_word" in plan.constants else plan.word
    refine = plan.refine
    left = max(word - 1 - system.bits_lost, 0.0)
    after = f" after {refine} refinements" if refine else ""
    return (f"The reflection coefficients reach {system.xi:.4f}, and the prediction error power is "
            f"{system.eps:.3g}. "
            f"The condition number is about {system.condition:.3g}: of the {word - 1} bits below the sign, "
            f"{system.bits_lost:.1f} are lost and {left:.1f} remain. Predicted relative error of "
            f"alpha{after}: {predicted_error(system, word, refine):.1e}.")
