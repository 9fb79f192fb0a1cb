"""sim.planner: from the conditioning of a Toeplitz system to the bits it costs, and the word that is enough.

Rounding anywhere in the recursion reaches alpha multiplied by about the condition of T + lambda I.  So
with words of W bits

    |alpha - alpha_float|_2 / |alpha_float|_2  ~  (6 + condition) * 2^-(W - 1):

the 6 lsb stand for the words of r, y and alpha, which cost that much where the condition is 1.  It is a
rule, not a bound (the bound is certified after each training); measured over sigma, lambda, n, W and rough
and smooth targets it is right within a factor of 4 (one case in two hundred: 7), for targets that fill
their word, block scaling, and errors below 0.1.  A refinement multiplies the error by a rate, down to what
the words that are stored allow.  The rate is that of the direction which the solver serves worst, so that
it grows with the largest eigenvalue over r_0 + lambda, the *peak*:

    error  ~  (6 + condition / 4) * 2^-31 + error(W) * rate^refine,   rate = error(W) * max(1/2, peak / 10),

right within a factor of 4 for each of the refine + 1 solves.

The rule is that of Levinson's recursion.  The Schur form and look-ahead in words make errors of that size
at most (5 times as large in one case of the same systems), and often much smaller ones, by up to 35 times:
to them the rule is a caution.  Look-ahead in float32, or of a system that is not positive definite, it does
not cover.

The condition is estimated from both ends.  Above: the reflection coefficients of the Levinson recursion
give eps = prod (1 - xi^2), and with the predictor a the Rayleigh quotient eps / |a|^2 >= the least
eigenvalue.  On both sides: T. Chan's circulant, whose eigenvalues are the Rayleigh quotients of the Fourier
vectors (SIAM J. Sci. Stat. Comput. 9(4), 1988).

Targets that fill little of their word lose more when they are rounded to words.  What that alone makes of
alpha is computed in float64, and added.

Of conjugate gradients nothing is predicted: how far a direction goes astray depends on the targets, and a
run costs little.  There the integer model is run on the data at every word length.
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
#: Word and refinements of what is compared.
VARIANTS = ((16, 0), (16, 1), (16, 2), (24, 0), (24, 1), (24, 2), (32, 0))
#: Words of conjugate gradients.
WORDS = (16, 24, 32)


@dataclass(frozen=True)
class Conditioning:
    """How much a Toeplitz system multiplies rounding errors.

    Parameters
    ----------
    xi : float
        The largest ``|xi|``; at 1 a leading minor is singular.
    eps : float
        Prediction error power after the last step, over r_0 + lambda.
    condition : float
        Estimate of the condition of T + lambda I; infinite where it is not positive definite.
    peak : float
        The largest eigenvalue over r_0 + lambda.
    """

    xi: float
    eps: float
    condition: float
    peak: float

    @property
    def bits_lost(self) -> float:
        """Bits of a word that say nothing about alpha."""
        return log2(_WORDS + self.condition)


@dataclass(frozen=True)
class NumbersChoice:
    """A word length with what it costs and what it gives.

    Parameters
    ----------
    word, refine : int
    error : float
        Relative error of alpha: predicted, or measured; infinite where the training was refused.
    bytes : int
        Of the model structure.
    multiplications : int
        Of one training.
    status : str
        Of the training where the error was measured; empty where it is predicted.
    """

    word: int
    refine: int
    error: float
    bytes: int
    multiplications: int
    status: str = ""


def conditioning(r: Array) -> Conditioning:
    """Conditioning from the first column (n,) of T + lambda I."""
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
    """Conditioning of the system that a plan would solve.

    Parameters
    ----------
    plan : Plan
        Of algorithm ``toeplitz_rls``.
    x_raw : ndarray of int64, shape (n, D), or None
        Raw inputs; not needed on the uniform grid.

    Raises
    ------
    KerncastError
        E120 for another algorithm, or without the inputs that the first row is made of.
    """
    if plan.algorithm != "toeplitz_rls" or (x_raw is None and not plan.uniform):
        raise fail("E120", "no advice on the word length is available", where="--error",
                   value=plan.algorithm if plan.algorithm != "toeplitz_rls" else "no data",
                   allowed="toeplitz_rls, with [data] unless the scheme is uniform; kernel_cg with [data]",
                   remedy="run kerncast sim, which measures the error")
    return conditioning(FloatReference(plan).first_column(x_raw))


def predicted_error(found: Conditioning, word: int, refine: int = 0) -> float:
    """The relative error of alpha to be expected; at most 1, where nothing is left."""
    once = min((_WORDS + found.condition) * 2.0 ** (1 - word), 1.0)
    if refine == 0:
        return once
    rate = min(once * max(0.5, found.peak / 10), 1.0)
    return min((_WORDS + found.condition / 4) * 2.0 ** (1 - _LONG) + once * rate**refine, 1.0)


def _not_covered(system: Conditioning, solver: str) -> str:
    """Why the rule says nothing of a solver; empty where it does."""
    if solver == "lookahead_f32":
        return "its error depends on float32, not on the word length"
    if solver == "lookahead" and system.condition == float("inf"):
        return "reflection coefficients do not describe look-ahead if T + lambda I is not positive definite"
    return ""


def rounding_error(plan: Plan, x_raw: Raw | None, y_raw: Raw) -> float:
    """The relative error of alpha in float64 that rounding the targets (n,) to words makes alone.

    Infinite where float64 has no answer.  Nothing is computed where words of y are as fine as the raw ones.
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
    """The word lengths of :data:`VARIANTS` that the spec can be planned with, the least RAM first.

    Where targets are given, the error that rounding them to words makes is counted: the rule is for targets
    that fill their word.

    Raises
    ------
    KerncastError
        E120 for look-ahead in float32, or of a system that is not positive definite.
    """
    assert spec.toeplitz is not None
    if why := _not_covered(system, spec.toeplitz.solver):
        raise fail("E120", f"no advice on the word length: {why}", where="[toeplitz] solver",
                   value=spec.toeplitz.solver,
                   allowed="levinson, schur; lookahead if T + lambda I is positive definite",
                   remedy="run kerncast sim, which measures the error")
    found = []
    rounded: dict[int, float] = {}  # by shift: what rounding the targets makes
    for word, refine in VARIANTS:
        tables = {"numbers": spec.numbers.model_copy(update={"word": word, "formats": {}}),
                  "toeplitz": spec.toeplitz.model_copy(update={"refine": refine, "scaling": "block"})}
        try:
            made = make_plan(spec.model_copy(update=tables))
        except KerncastError:
            continue  # the plan is refused: lambda leaves no bits at this length
        shift = made.integer("y_shift")
        if y_raw is not None and shift not in rounded:
            rounded[shift] = rounding_error(made, x_raw, y_raw)
        error = min(predicted_error(system, word, refine) + rounded.get(shift, 0.0), 1.0)
        found.append(NumbersChoice(word, refine, error, made.state_bytes,
                            made.operations["train"]["multiplications"].count))
    return sorted(found, key=lambda c: (c.bytes, c.multiplications))


def measured_choices(spec: Spec, x_raw: Raw, y_raw: Raw) -> list[NumbersChoice]:
    """The word lengths that conjugate gradients can be planned with, each run on data, the least RAM first.

    Parameters
    ----------
    spec : Spec
        Of algorithm ``kernel_cg``.
    x_raw, y_raw : ndarray of int64, shapes (n, D) and (n,)
        Raw words.

    Returns
    -------
    list of Choice
        `error` is that of the integers against as many steps in float64.
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
        found.append(NumbersChoice(word, 0, error, made.state_bytes,
                            made.operations["train"]["multiplications"].count, result.status))
    return sorted(found, key=lambda c: (c.bytes, c.multiplications))


def enough(found: list[NumbersChoice], error: float) -> NumbersChoice | None:
    """The first that reaches an error."""
    return next((choice for choice in found if choice.error <= error), None)


def sentence(system: Conditioning, plan: Plan) -> str:
    """What the conditioning costs a plan."""
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
