"""cli: ``kerncast sim``: the integer model on the spec's data, beside float64."""

from __future__ import annotations

import math

import typer

from ..sim.errors import EXIT_DIFFERENT
from .shell import JsonFlag, SpecPath, columns, load_spec, show


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
    text = "\n".join([f"{plan.name}: {plan.word} bits, status {result.status}",
                      *(f"{name} against float64: {value:.3e}" for name, value in errors.items()),
                      "", columns(ranges)])
    if result.status == "not_positive_definite":
        text += ("\n\nThe device would refuse this system: raise [toeplitz] lambda, use a longer word, or "
                 "scheme diagonal_mean_biased.")
    show({"plan": plan.hash, "status": result.status, **errors,
          "ranges": [vars(r) for r in result.ranges]}, as_json, text)
    if result.status != "ok":
        raise typer.Exit(EXIT_DIFFERENT)
