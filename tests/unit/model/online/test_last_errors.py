"""The correction by the last errors: it predicts errors that are not random, and leaves the others."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from kerncast.sim.errors import KerncastError
from kerncast.sim.model import open_model
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec


def spec_of(word: int = 16, **online: Any) -> Spec:
    return Spec(model={"name": "t", "algorithm": "kernel_lms"}, kernel={"sigma": 600.0},
                input={"word": "s12f0", "columns": 2}, output={"word": "s12f0"}, numbers={"word": word},
                online={"budget": 12, "eta": 0.1, "reduction": "nt", "quantise": 0.8, "linear": "rls",
                        "gate": True, "linear_ridge": 100.0} | online)


def stream(color: float, samples: int = 3000) -> tuple[Any, Any]:
    """A linear relation of random inputs, in noise whose values follow from the last by `color`."""
    rng = np.random.default_rng(2)
    x, noise, e = rng.integers(-1000, 1000, (samples, 2)), rng.normal(0, 100, samples), 0.0
    for t in range(samples):
        noise[t] = e = color * e + noise[t]
    return x, np.rint(0.5 * x[:, 0] - 0.3 * x[:, 1] + noise).astype(np.int64)


def error_of(x: Any, y: Any, word: int, **online: Any) -> float:
    model = open_model(make_plan(spec_of(word, **online)))
    f = model.update(x, y)["f"] * float(Fraction(model.plan.units["y"]))
    return float(np.sqrt(np.mean((f - y)[1000:] ** 2)))


@pytest.mark.parametrize("word", [16, 24, 32])
def test_errors_that_follow_from_the_last_are_predicted(word: int) -> None:
    x, y = stream(0.9)
    assert error_of(x, y, word, last_errors=2) < 0.6 * error_of(x, y, word)


def test_random_errors_cost_less_than_a_hundredth() -> None:
    x, y = stream(0.0)
    assert error_of(x, y, 16, last_errors=6) < 1.01 * error_of(x, y, 16)


def test_the_parts_learn_as_without_it() -> None:
    x, y = stream(0.9, 400)
    states = []
    for last_errors in (None, 3):
        model = open_model(make_plan(spec_of(32, last_errors=last_errors)))  # of 32 bits, so is the gate
        model.update(x, y)
        states.append(model.state())
    for name in states[0]:
        np.testing.assert_array_equal(states[0][name], states[1][name])


def test_a_prediction_is_that_of_the_next_sample() -> None:
    x, y = stream(0.9, 500)
    model = open_model(make_plan(spec_of(last_errors=3)))
    for t in range(0, 500, 50):
        ahead = model.predict(x[t:t + 1])["f"] if t else np.zeros(1)
        assert model.update(x[t:t + 1], y[t:t + 1])["f"] == ahead
        model.update(x[t + 1:t + 50], y[t + 1:t + 50])


@pytest.mark.parametrize("word", [16, 24, 32])
def test_the_largest_errors_stay_in_their_formats(word: int) -> None:
    rng = np.random.default_rng(3)
    plan = make_plan(spec_of(word, last_errors=16, linear_ridge=1e-6))
    model = open_model(plan)
    for _ in range(3):
        model.update(rng.choice([-2048, 2047], (600, 2)), rng.choice([-2048, 2047], 600))
        state, word_of_f = model.state(), plan.signals["f"].format
        assert np.abs(state["error_past"]).max() <= -word_of_f.lo << plan.integer("error_frac")
        assert np.abs(state["error_sums"]).max() < 2**60
        assert np.abs(state["error_w"]).max() < 2**31


def test_it_needs_a_linear_part() -> None:
    with pytest.raises(KerncastError, match=r"(?s)last_errors.*E113"):
        Spec(model={"name": "t", "algorithm": "kernel_lms"}, kernel={"sigma": 3.0}, input={"word": "s12f0"},
             output={"word": "s12f0"}, online={"budget": 12, "eta": 0.2, "last_errors": 4})
