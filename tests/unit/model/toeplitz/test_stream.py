"""The stream of fitted values: accuracy, the independent model, saturation and the start of a record."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from kerncast.sim.diagnostics.stream import compare_stream
from kerncast.sim.fxp_model import open_fxp_model
from kerncast.sim.model import open_model
from kerncast.sim.model.statuses import OK, PENDING, SATURATED
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.replay.vectors import Vectors, make_vectors, replay
from kerncast.sim.spec import Spec


def plan_of(word: int = 16, lag: int = 20, rounding: str = "half_up", output: str = "s16f0", n: int = 64,
            sigma: float = 2.0, **numbers: object) -> Plan:
    return make_plan(Spec(
        model={"name": "t", "algorithm": "toeplitz_rls"}, input={"word": "u16f0"}, output={"word": output},
        kernel={"sigma": sigma}, numbers={"word": word, "rounding": rounding, **numbers},
        toeplitz={"n": n, "lambda": 0.1, "scheme": "uniform", "solver": "banded", "stream_lag": lag}))


def walk(n: int) -> np.ndarray:
    steps = np.random.default_rng(1).normal(size=n)
    return np.clip(np.cumsum(steps) * 2000, -32768, 32767).astype(np.int64)


@pytest.mark.parametrize(("word", "lag", "rounding"), [
    (16, 20, "half_up"), (16, 8, "floor"), (24, 25, "half_even"), (32, 31, "half_up")])
def test_a_long_stream_is_within_its_bound_of_the_fitted_values(word: int, lag: int,
                                                                             rounding: str) -> None:
    found = compare_stream(plan_of(word, lag, rounding), walk(3000))
    assert found is not None and found.values == 3000 - 2 * lag
    assert found.middle <= found.bound


@pytest.mark.parametrize(("word", "rounding", "output"), [
    (16, "half_up", "s16f0"), (16, "half_even", "u12f0"), (16, "floor", "s24f0"), (24, "half_even", "s16f0"),
    (32, "half_up", "s16f0")])
def test_the_model_in_fractions_returns_the_same_values(word: int, rounding: str, output: str) -> None:
    plan = plan_of(word, 6, rounding, output, n=32, sigma=1.0)
    fmt = plan.signals["y_raw"].format
    rails = np.random.default_rng(3).choice([fmt.lo, fmt.hi, 0], 60)
    for y in (np.clip(walk(60), fmt.lo, fmt.hi), rails, rails[:5]):
        ours, theirs = (model(plan).stream(y) for model in (open_model, open_fxp_model))
        assert {name: words.tolist() for name, words in ours.items()} == {
            name: words.tolist() for name, words in theirs.items()}


def test_values_are_pending_until_the_filter_is_full() -> None:
    plan, y = plan_of(lag=5), walk(30)
    found = open_model(plan).stream(y)
    assert found["status"].tolist() == [PENDING] * 10 + [OK] * 20 and not found["f"][:10].any()
    assert (open_model(plan).stream(y[7:])["f"][10:] == found["f"][17:]).all()
    assert open_model(plan).stream(y[:10])["status"].tolist() == [PENDING] * 10
    assert open_model(plan).stream(y[:0])["f"].size == 0


def test_a_value_beyond_the_range_saturates() -> None:
    lag, most = 6, 32767
    plan = plan_of(lag=lag)
    signs = np.sign(plan.tables["taps"].values)
    y = np.where(signs > 0, most, -most - 1).astype(np.int64)
    gain = sum(map(abs, plan.tables["taps"].values)) / 2.0 ** plan.integer("stream_shift")
    assert gain < 2  # full scale is half of the word length, so that no sample of this format saturates
    assert open_model(plan).stream(y)["status"][-1] == OK
    model = open_model(plan)
    model._input = model._input._replace(y_gain=2)  # samples beyond their format
    assert model.stream(y)["status"][-1] == SATURATED and model.stream(y)["f"][-1] == most
    wraps = open_model(plan_of(lag=lag, casts={"f": "wrap"}))
    wraps._input = wraps._input._replace(y_gain=2)
    assert wraps.stream(y)["status"][-1] == OK


def test_vectors_hold_the_stream_of_the_last_training() -> None:
    plan = plan_of()
    made = make_vectors(open_model(plan), [("train", None, walk(64)), ("train", None, walk(64)[::-1])])
    assert (made.stream["f"] == open_model(plan).stream(walk(64)[::-1])["f"]).all()
    again = Vectors.from_json(made.to_json())
    assert (again.stream["f"] == made.stream["f"]).all()
    assert replay(open_model(plan), made).mismatches == 0
    made.stream["f"][-1] += 1
    assert replay(open_model(plan), made).mismatches == 1


def test_the_unit_of_a_value_is_that_of_the_fitted_values() -> None:
    plan, y = plan_of(), np.full(41, 8192)
    f = open_model(plan).stream(y)["f"][-1] * Fraction(plan.units["y"])
    assert abs(float(f) / 8192 - 1) < 0.02  # a constant passes almost unchanged
