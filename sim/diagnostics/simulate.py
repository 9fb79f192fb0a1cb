"""sim.diagnostics: run the integer model and compare it with the float reference."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._arrays import Array
from ..backend import STATUSES, Backend, Outputs, Raw
from ..candidates import chosen_plan
from ..data import raw
from ..errors import fail
from ..model import open_model
from ..model.ranges import Range
from ..plan import Plan
from ..reference.backend import FloatReference
from ..statuses import TRAINED, severity
from .classes import Classes, classify
from .error_budget import MAX_SAMPLES, ErrorBudget, error_budget, predictor_budget, table_words
from .observed import observed
from .tuned import Tuned, tuned_by

#: Statuses of training without a usable model.
UNTRAINED = tuple(name for code, name in STATUSES.items() if code not in TRAINED)


@dataclass(frozen=True, repr=False)
class Simulation:
    """Results of the integer model, and their errors relative to the float reference.

    Parameters
    ----------
    status : str
        Name of the worst status of all calls.
    f : ndarray of float64, shape (m,), or (m, C) for several outputs
        Predictions for the test inputs, in units of y.
    f_float : ndarray of float64, shape (m,)
        The float reference's predictions.
    alpha_error : float
        ``|alpha - alpha_float|_2 / |alpha_float|_2``; NaN if one of the two has no solution, and for online
        learners, because their dictionaries may differ.
    f_error : float
        RMS of ``f - f_float`` divided by the RMS of `f_float`; NaN if one of the two has no solution.
    ranges : tuple of Range
        Range, headroom and number of saturations of every signal.
    state : dict
        The model structure after the run, as integers.
    budget : ErrorBudget or None
        The error budget on the training data; for a stream, on its first few thousand samples. None for a
        batch trainer with more samples, or if one of the two has no solution.
    trained : bool
        Whether training succeeded.  If not, predictions are 0, errors are NaN and `status` gives the reason.
    float_solves : bool
        Whether the float reference has a solution.
    classes : Classes or None
        Predicted classes of the test inputs, if the model decides between classes.
    tuned : Tuned or None
        The log evidence of each pair of sigma and lambda, if the training compares several pairs.
    """

    status: str
    f: Array
    f_float: Array
    alpha_error: float
    f_error: float
    ranges: tuple[Range, ...]
    state: Outputs
    budget: ErrorBudget | None
    trained: bool = True
    float_solves: bool = True
    classes: Classes | None = None
    tuned: Tuned | None = None

    @property
    def labels(self) -> NDArray[Any] | None:
        """Return the predicted labels (m,) of the test inputs.

        The labels are the class names of the data. The result is None for a regression model.
        """
        return None if self.classes is None else self.classes.original

    def __repr__(self) -> str:
        saturated = sum(r.saturated for r in self.ranges)
        return "\n".join([f"Simulation: status {self.status}, {len(self.f):,} predictions",
                          f"  compared with float64: f_error {self.f_error:.3g}, "
                          f"alpha_error {self.alpha_error:.3g}",
                          f"  {len(self.ranges)} signals, {saturated:,} values saturated"])


def y_values(plan: Plan, words: Raw) -> Array:
    """Convert integers of y or f to units of y."""
    return words.astype(np.float64) * float(Fraction(plan.units["y"]))


def alpha_values(plan: Plan, state: Outputs) -> Array:
    """Convert the coefficients of a model structure to units of y.

    Parameters
    ----------
    plan : Plan
    state : dict
        Model structure from :meth:`Backend.state`.

    Returns
    -------
    ndarray of float64
        Coefficients, shape (n, C) for a batch trainer with several outputs, else flat.
    """
    full_scale = float(Fraction(plan.units["y"])) * 2.0 ** plan.signals["y"].format.frac
    if plan.in_float32:
        return state["alpha"].astype(np.uint32).view(np.float32).astype(np.float64) * full_scale
    exponent = int(state["alpha_exp"][0]) if "alpha_exp" in state else 0
    frac = plan.signals["alpha"].format.frac
    alpha = state["alpha"].astype(np.float64) * (full_scale * 2.0 ** (exponent - frac))
    return alpha.reshape(plan.outputs, -1).T if plan.trains and plan.outputs > 1 else alpha


def _members(model: Any) -> Outputs:
    """Return the members of the model structure, and of the trainer structure if any."""
    state: Outputs = model.state()
    return state | model.workspace() if model.plan.trains else state


def relative_error(found: Array, reference: Array) -> float:
    """Return ``|found - reference|_2 / |reference|_2``.

    The result is infinite if `reference` is 0 and `found` is not.
    """
    size = float(np.linalg.norm(reference))
    error = float(np.linalg.norm(found - reference))
    return error / size if size else (0.0 if error == 0.0 else float("inf"))


def worst_status(outputs: Outputs) -> str:
    """Return the name of the worst status in a result; "ok" if it has no status."""
    codes = outputs["status"]
    return STATUSES[int(codes[np.argmax(severity(codes))]) if codes.size else 0]


def status_of_both(learned: Outputs, answers: Outputs) -> str:
    """Return the worst status of training and of the predictions after it."""
    status, shown = worst_status(learned), worst_status(answers)
    if status == STATUSES[0] or (shown in UNTRAINED and status not in UNTRAINED):
        return shown  # a learner without vectors has learnt, but cannot predict
    return status


def fit_backend(backend: Backend, plan: Plan, x_raw: Raw | None, y_raw: Raw,
                passes: int = 1) -> Outputs:
    """Train a back end on a data set.

    A batch trainer is trained in one call, an online learner sample by sample. Return ``f`` of the last pass
    and the worst ``status``.
    """
    if plan.trains:
        return backend.train(x_raw, y_raw)
    assert x_raw is not None
    outputs = backend.update(x_raw, y_raw)
    for _ in range(passes - 1):
        worst = outputs["status"]
        outputs = backend.update(x_raw, y_raw)
        now = outputs["status"]
        outputs["status"] = np.where(severity(worst) > severity(now), worst, now)
    return outputs


def simulate(plan: Plan, x_raw: ArrayLike | None, y_raw: ArrayLike | None = None,
             x_test: ArrayLike | None = None, *, passes: int = 1) -> Simulation:
    """Train the integer model and the float reference on ADC counts and compare them.

    Parameters
    ----------
    plan : Plan
    x_raw : array_like of int, shape (m, D), or None
        ADC counts of the inputs; None for a uniform grid, whose inputs the plan defines.
    y_raw : array_like of int, shape (m,), optional
        ADC counts of the targets; m = n for the Toeplitz trainer.  Omit it for a model trained elsewhere.
    x_test : array_like of int, shape (k, D), optional
        ADC counts of the inputs to predict at; by default the training inputs.
    passes : int
        Number of passes over the data (online learners).

    Returns
    -------
    Simulation

    Raises
    ------
    KerncastError
        E244 to E248 if an array does not contain ADC counts or has the wrong shape; E234 if `passes` is below
        1.
    """
    _check_passes(passes)
    if plan.fixed:
        return simulate_predictor(plan, x_raw, x_test)
    x_raw, y_raw = raw.training_set(plan, x_raw, y_raw)
    at = grid(plan) if x_raw is None else x_raw
    where = at if x_test is None else raw.inputs(plan, x_test, "x_test")
    learned = fit_backend(model := open_model(plan), plan, x_raw, y_raw, passes)
    chosen, tuned = chosen_plan(plan, model.state()), tuned_by(plan, _members(model), y_raw)
    reference = FloatReference(chosen)
    float_solves = _fit_reference(reference, x_raw, y_raw, passes)
    answers = model.predict(where)
    f, f_float, ranges = y_values(plan, answers["f"]), reference.predict(where), tuple(model.ranges)
    if (status := status_of_both(learned, answers)) in UNTRAINED or not float_solves:
        return Simulation(status, f, f_float, math.nan, math.nan, ranges, _members(model), None,
                          trained=status not in UNTRAINED, float_solves=float_solves, tuned=tuned)
    alpha = alpha_values(plan, model.state()) if plan.trains else None
    alpha_error = math.nan if alpha is None else relative_error(alpha, reference.alpha)
    f_at = f if np.array_equal(at, where) else y_values(plan, model.predict(at)["f"])
    large = plan.learns and len(y_raw) > MAX_SAMPLES
    budget = (simulate(plan, at[:MAX_SAMPLES], y_raw[:MAX_SAMPLES], passes=passes).budget if large else
              error_budget(chosen, f_at, reference, at, y_raw, passes))
    return Simulation(status, f, f_float, alpha_error, relative_error(f, f_float), ranges, _members(model),
                      budget, classes=classify(plan, answers, f, f_float), tuned=tuned)


def _check_passes(passes: int) -> None:
    if passes < 1:
        raise fail("E234", "the samples must be presented at least once", where="passes", value=passes,
                   allowed="an integer >= 1", remedy="omit `passes`, or set it to 1")


def simulate_predictor(plan: Plan, x_raw: ArrayLike | None, x_test: ArrayLike | None) -> Simulation:
    """Compare an imported model in integers with float64; see :func:`simulate`."""
    model, reference = open_model(plan), FloatReference(plan)
    x_raw = raw.inputs(plan, x_raw)
    where = x_raw if x_test is None else raw.inputs(plan, x_test, "x_test")
    answers = model.predict(where)
    f, f_float, ranges = y_values(plan, answers["f"]), reference.predict(where), tuple(model.ranges)
    f_at = f if x_test is None else y_values(plan, model.predict(x_raw)["f"])
    return Simulation(
        worst_status(answers), f, f_float, relative_error(alpha_values(plan, table_words(plan)),
                                                          reference.alpha[reference.held]),
        relative_error(f, f_float), ranges, _members(model),
        predictor_budget(plan, f_at, reference, x_raw),
        classes=classify(plan, answers, f, f_float))


def observe(plan: Plan, x_raw: ArrayLike | None, y_raw: ArrayLike, passes: int = 1) -> Plan:
    """Run the integer model and add the observed ranges to the plan.

    Parameters
    ----------
    plan : Plan
    x_raw, y_raw, passes
        As in :func:`simulate`; after the training, up to 256 of the inputs are predicted.

    Returns
    -------
    Plan
        A plan with the same decisions and the same hash.

    Raises
    ------
    KerncastError
        As in :func:`simulate`.
    """
    model = open_model(plan)
    if plan.fixed:
        x_raw = raw.inputs(plan, x_raw)
    else:
        x_raw, y_raw = raw.training_set(plan, x_raw, y_raw)
        fit_backend(model, plan, x_raw, y_raw, passes)
    model.predict((grid(plan) if x_raw is None else x_raw)[:256])
    return observed(plan, model.ranges, _members(model))


def _fit_reference(reference: FloatReference, x_raw: Raw | None, y_raw: Raw, passes: int) -> bool:
    """Fit the float reference; return whether it has a solution."""
    if reference.plan.trains:
        return reference.train(x_raw, y_raw).ok
    assert x_raw is not None
    for _ in range(passes):
        reference.update(x_raw, y_raw)
    return True


def grid(plan: Plan) -> Raw:
    """Return the points (n, 1) of the uniform grid as ADC counts."""
    step = plan.integer("x_step") * Fraction(plan.units["x"]) / Fraction(plan.units["x_raw"])
    n = plan.sizes["n"]
    return (plan.integers("x_offset")[0] + np.arange(n, dtype=np.int64) * int(step))[:, np.newaxis]
