"""cli: ``kerncast sim``: the integer model on the spec's data, beside float64."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import typer

from ..sim.errors import EXIT_DIFFERENT
from .shell import JsonFlag, SpecPath, columns, load_spec, show

if TYPE_CHECKING:
    from ..sim.budget import ErrorBudget


def sim(path: SpecPath, as_json: JsonFlag = False) -> None:
    """Run the integer model on the spec's data and show its error and the range of every signal.

    Exits with 1 where the model's status is not ok.

    Examples
    --------
    kerncast sim ecg.toml
    kerncast sim ecg.toml --json
    """
    from ..lab.example import simulate_spec

    plan, result = simulate_spec(load_spec(path), path.parent)
    errors = {"f_error": result.f_error}
    if math.isfinite(result.alpha_error):
        errors["alpha_error"] = result.alpha_error
    ranges = [("signal", "format", "least", "most", "headroom", "saturated")]
    ranges += [(r.name, r.format, str(r.lo), str(r.hi), f"{r.headroom_bits} bits", str(r.saturated))
               for r in result.ranges]
    word = plan.constants.get("solver_word", plan.word)
    text = "\n".join([f"{plan.name}: {word} bits, status {result.status}",
                      *(f"{name} against float64: {value:.3e}" for name, value in errors.items()),
                      *_budget(result.budget), "", columns(ranges)])
    if result.status == "not_positive_definite":
        text += "\n\nThe device would refuse this system: raise lambda, or use a longer word"
        text += ", or scheme diagonal_mean_biased." if plan.algorithm == "toeplitz_rls" else "."
    show({"plan": plan.hash, "status": result.status, **errors,
          "budget": None if result.budget is None else result.budget.as_dict(),
          "ranges": [vars(r) for r in result.ranges]}, as_json, text)
    if result.status != "ok":
        raise typer.Exit(EXIT_DIFFERENT)


def _budget(budget: ErrorBudget | None) -> list[str]:
    """Where the error on the training data comes from, term by term."""
    if budget is None:
        return []
    rows = [("error on the training data", "rms", "part of it")]
    rows += [(name, f"{budget.rms(name):.3e}", f"{round(budget.part(name), 3) + 0.0:.1%}")
             for name in budget.terms]
    return ["", columns([*rows, ("in all", f"{budget.rms():.3e}", "100.0%")])]
