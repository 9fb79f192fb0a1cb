"""lab: choose a word length for a spec and its data.

The error of each word length is predicted. A run of the integer model confirms the choice.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ..sim.data import load_dataset
from ..sim.diagnostics.word_length import (
    Conditioning,
    NumbersChoice,
    choices,
    conditioning_of,
    measured_choices,
)
from ..sim.planner import make_plan
from ..sim.spec import Spec
from .workflow import simulate_spec, training_inputs


def system_of(spec: Spec, base: Path) -> Conditioning:
    """Return the conditioning of the Toeplitz system of a spec and its data.

    Raises E120 if the spec has no such system.
    """
    data = None if spec.data is None else load_dataset(spec, base)
    plan = make_plan(spec) if data is None else make_plan(spec, data.x_raw, data.y_raw)
    return conditioning_of(plan, None if data is None else training_inputs(plan, data))


def predicted_words(spec: Spec, base: Path) -> tuple[Conditioning, list[NumbersChoice]]:
    """Return the conditioning, and each word length with its predicted error.

    The spec must have a Toeplitz trainer.
    """
    system = system_of(spec, base)
    if spec.data is None:
        return system, choices(spec, system)
    data = load_dataset(spec, base)
    inputs = training_inputs(make_plan(spec, data.x_raw, data.y_raw), data)
    return system, choices(spec, system, inputs, data.y_raw)


def confirmed_words(spec: Spec, base: Path, found: list[NumbersChoice], error: float) -> NumbersChoice | None:
    """Return the first choice whose error on the data is at most `error`.

    A run of the integer model measures the error. Without data, the predicted error is used.
    """
    assert spec.toeplitz is not None
    for choice in (each for each in found if each.error <= error):
        if spec.data is None:
            return choice
        tables = {"numbers": spec.numbers.model_copy(update={"word": choice.word, "formats": {}}),
                  "toeplitz": spec.toeplitz.model_copy(update={"refine": choice.refine, "scaling": "block"})}
        run = simulate_spec(spec.model_copy(update=tables), base).simulation
        if run.status == "ok" and run.alpha_error <= error:
            return replace(choice, error=run.alpha_error, status=run.status)
    return None


def measured_words(spec: Spec, base: Path) -> list[NumbersChoice]:
    """Return each word length with the measured error of conjugate gradients.

    Raises E240 if the spec has no data.
    """
    data = load_dataset(spec, base)
    return measured_choices(spec, data.x_raw, data.y_raw)
