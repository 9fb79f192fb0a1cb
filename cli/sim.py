"""cli: ``kerncast sim``: the integer model on the spec's data, beside float64."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import typer

from ..sim.errors import EXIT_DIFFERENT
from .shell import JsonFlag, SpecPath, columns, load_spec, show, warnings_of

if TYPE_CHECKING:
    from ..sim.diagnostics.error_budget import ErrorBudget
    from ..sim.diagnostics.simulate import Simulation
    from ..sim.plan import Plan


def sim(path: SpecPath, as_json: JsonFlag = False) -> None:
    """Run the integer model on the spec's data and show its error and the range of every signal.

    Exits with 1 where the model's status is not ok; where its training was refused, or a learner holds
    nothing at the end, there is no answer and no error of it, but the reason.

    Examples
    --------
    kerncast sim ecg.toml
    kerncast sim ecg.toml --json
    """
    from ..lab.workflow import simulate_spec
    from ..sim.planner.evidence import observed

    spec = load_spec(path)
    plan, result = simulate_spec(spec, path.parent)
    errors = {"f_error": result.f_error, "alpha_error": result.alpha_error}
    errors = {name: value for name, value in errors.items() if not math.isnan(value)}
    ranges = [("signal", "format", "least", "most", "headroom", "saturated")]
    ranges += [(r.name, r.format, str(r.lo), str(r.hi), f"{r.headroom_bits} bits", str(r.saturated))
               for r in result.ranges]
    verdict = _verdict(plan, result)
    word = plan.constants.get("solver_word", plan.word)
    text = "\n".join([f"{plan.name}: {word} bits, status {result.status}", *_lines(plan, result, verdict),
                      *(f"{name} against float64: {value:.3e}" for name, value in errors.items()),
                      *_labels(plan, result), *_budget(result.budget, plan.fixed), "", columns(ranges)])
    warnings = warnings_of(spec, observed(plan, result.ranges, result.state), as_json)
    show({"plan": plan.hash, "status": result.status, "trained": result.trained, **verdict, **errors,
          "warnings": warnings,
          **({} if result.labels is None else {"labels": result.labels.tolist()}),
          "budget": None if result.budget is None else result.budget.as_dict(),
          "ranges": [vars(r) for r in result.ranges]}, as_json, text)
    if result.status != "ok":
        raise typer.Exit(EXIT_DIFFERENT)


def _verdict(plan: Plan, result: Simulation) -> dict[str, str]:
    """What a status other than ok means, why it came, and what to do; and whether float64 has an answer."""
    from ..sim.statuses import meaning

    alone = {} if result.float_solves or not result.trained else {
        "float64": "has no answer to this system, so that no error is told. Its matrix plus lambda I is "
        "not positive definite, or singular to rounding: check the predictions against held-out data."}
    if result.status == "ok":
        return alone
    entry = meaning(result.status, plan.algorithm, plan.options)
    found = {"meaning": entry.title, "why": entry.cause, "do": entry.remedy}
    if not result.trained and not plan.trains:
        found |= {"why": "No vector is held after the last sample: truncation or max_deterioration let every "
                         "one go.",
                  "do": "Lower truncation, or max_deterioration; start with a hundredth of eta times the "
                        "largest y."}
    elif not result.trained:
        word = plan.constants.get("solver_word", plan.word)
        found["why"] = (f"float64 solves this system, but it is too ill-conditioned for words of {word} bits."
                        if result.float_solves else
                        "float64 refuses this system too: its matrix plus lambda I is not positive definite, "
                        "or singular to rounding.")
    return found | alone


def _lines(plan: Plan, result: Simulation, verdict: dict[str, str]) -> list[str]:
    """The verdict as text."""
    return [*_no_answer(plan, result), *(f"{key.capitalize():7}  {text}" for key, text in verdict.items())]


def _no_answer(plan: Plan, result: Simulation) -> list[str]:
    """Why every prediction is 0, where nothing is held to predict with."""
    if result.trained:
        return []
    return ["There is no answer: the device would refuse this training." if plan.trains else
            "There is no answer: the learner holds no vector at the end of the data."]


def _labels(plan: Plan, result: Simulation) -> list[str]:
    """How often each label was predicted, and how often float64 has another."""
    if result.labels is None:
        return []
    told = result.labels.tolist()
    counts = ", ".join(f"{told.count(label)} of class {label}"
                       for label in plan.evidence["trained"]["classes"])
    differ = int(((result.f > 0) != (result.f_float > 0)).sum())
    return [f"labels: {counts}; float64 has another for {differ} of {len(told)}"]


def _budget(budget: ErrorBudget | None, fixed: bool) -> list[str]:
    """Where the error comes from, term by term."""
    if budget is None:
        return []
    whose = "error against the model in float64" if fixed else "error on the training data"
    rows = [(whose, "rms", "part of it")]
    rows += [(name, f"{budget.rms(name):.3e}", f"{round(budget.part(name), 3) + 0.0:.1%}")
             for name in budget.terms]
    return ["", columns([*rows, ("in all", f"{budget.rms():.3e}", "100.0%")])]
