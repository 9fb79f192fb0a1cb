"""The integer model beside float64: the accuracy that is promised, and what a simulation reports."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kerncast.codegen.build.host import HostBackend
from kerncast.hw.backends import open_backend
from kerncast.sim.backend import STATUSES
from kerncast.sim.data import load_dataset
from kerncast.sim.diagnostics.simulate import (
    alpha_values,
    grid,
    relative_error,
    simulate,
    worst_status,
    y_values,
)
from kerncast.sim.errors import KerncastError
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


def example(name: str, word: int) -> Spec:
    text = (EXAMPLES / f"{name}.toml").read_text(encoding="utf-8")
    assert "word = 16\n" in text
    return Spec.from_text(text.replace("word = 16\n", f"word = {word}\n"))


@pytest.fixture(scope="module")
def ecg():
    """Plan and simulation of the ECG example by word length."""
    found = {}
    for word in (16, 32):
        spec = example("ecg", word)
        plan = make_plan(spec)
        found[word] = plan, simulate(plan, None, load_dataset(spec, EXAMPLES).y_raw)
    return found


@pytest.fixture(scope="module")
def digits():
    spec = example("digits", 16)
    data = load_dataset(spec, EXAMPLES)
    plan = make_plan(spec, data.x_raw, data.y_raw)
    return data, plan, simulate(plan, data.x_raw, data.y_raw, data.x_test_raw, passes=spec.online.passes)


@pytest.mark.parametrize(("word", "limit"), [(32, 1e-6), (16, 5e-3)])
def test_alpha_of_the_ecg_is_as_near_to_float64_as_promised(ecg, word, limit):
    _, result = ecg[word]
    assert result.status == "ok"
    assert 0 < result.alpha_error <= limit
    assert result.f_error <= limit


def test_accuracy_on_digits_at_16_bits_is_within_one_point_of_float(digits):
    data, _, result = digits
    right, right_float = ((np.sign(f) == np.sign(data.y_test_raw)).mean() for f in (result.f, result.f_float))
    assert right_float > 0.9
    assert abs(right - right_float) <= 0.01
    assert result.status == "ok"
    assert np.isnan(result.alpha_error)


def test_no_value_saturates_on_the_examples(ecg, digits):
    for result in (ecg[16][1], ecg[32][1], digits[2]):
        assert {r.name: r.saturated for r in result.ranges if r.saturated} == {}


def test_ranges_lie_within_what_the_plan_allows(ecg, digits):
    for plan, result in (ecg[16], ecg[32], digits[1:]):
        assert {"x", "y", "f", "kernel", "alpha"} <= {r.name for r in result.ranges}
        for r in result.ranges:
            signal = plan.signals[r.name]
            assert signal.lo <= r.lo <= r.hi <= signal.hi, r
            assert r.headroom_bits >= 0
            assert r.format == str(signal.format)


def test_predictions_default_to_the_training_inputs(ecg, digits):
    plan, result = ecg[16]
    assert result.f.shape == (plan.sizes["n"],)
    data, plan, _ = digits
    assert simulate(plan, data.x_raw[:7], data.y_raw[:7]).f.shape == (7,)


def test_alpha_and_f_are_in_units_of_y(ecg):
    """(T + lambda I) alpha = y and f = T alpha, so y = f + lambda alpha, in the units of the spec."""
    plan, result = ecg[32]
    spec = example("ecg", 32)
    raw = load_dataset(spec, EXAMPLES).y_raw
    y = spec.output.gain * (raw - spec.output.offset)
    alpha = alpha_values(plan, result.state)
    assert relative_error(result.f + spec.toeplitz.lam * alpha, y) < 1e-6
    assert y_values(plan, np.array([1 << 30])) == pytest.approx(2048 * 0.2)


@pytest.mark.parametrize(("offset", "step"), [(0, 1), (-100, 3), (50, 7)])
def test_grid_gives_the_training_inputs_as_raw_values(offset, step):
    plan = make_plan(Spec(
        model={"name": "probe", "algorithm": "toeplitz_rls"}, input={"word": "s12f4", "offset": offset},
        output={"word": "s8f0"}, kernel={"sigma": 0.5}, toeplitz={"n": 9, "lam": 0.5, "scheme": "uniform",
                                                                  "step": step}))
    assert grid(plan).tolist() == [[offset + step * i] for i in range(9)]


def test_worst_status_and_relative_error_of_the_edge_cases():
    assert worst_status({"status": np.array([0, 1, 0])}) == "saturated"
    assert worst_status({"status": np.array([], dtype=np.int64)}) == "ok"
    zero, one = np.zeros(3), np.ones(3)
    assert relative_error(zero, zero) == 0.0
    assert relative_error(one, zero) == float("inf")
    assert relative_error(one, one) == 0.0


def test_a_second_presentation_improves_the_fit():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 256, (60, 1))
    y = (100 * np.sin(x[:, 0] / 30)).astype(np.int64)
    plan = make_plan(Spec(model={"name": "probe", "algorithm": "kernel_lms"}, input={"word": "u8f0"},
                          output={"word": "s8f0"}, kernel={"sigma": 20.0}, online={"budget": 20, "eta": 0.5}))
    errors = [np.abs(simulate(plan, x, y, passes=passes).f - y).mean() for passes in (1, 8)]
    assert errors[1] < errors[0]


def test_training_that_fails_is_reported_and_predicts_nothing():
    plan = make_plan(Spec(model={"name": "probe", "algorithm": "toeplitz_rls"},
                          input={"word": "u8f0", "columns": 2}, output={"word": "s8f0"},
                          kernel={"sigma": 20.0},
                          toeplitz={"n": 32, "lam": 1e-6, "scheme": "diagonal_mean"}))
    rng = np.random.default_rng(4)
    x = np.resize(rng.integers(0, 256, (7, 2)), (32, 2))
    result = simulate(plan, x, rng.integers(-128, 128, 32))
    assert result.status == "not_positive_definite"
    assert not result.f.any()


@pytest.mark.parametrize(("x", "y", "code"), [
    (None, [float("nan")] * 8, "E245"), (None, [0.5] * 8, "E244"), (None, [1000] * 8, "E246"),
    (None, [1] * 7, "E248"), (None, [[1]] * 8, "E248")])
def test_arrays_of_invalid_raw_values_are_refused_before_anything_runs(x: Any, y: Any, code: str) -> None:
    spec = Spec(model={"name": "tiny", "algorithm": "toeplitz_rls"}, input={"word": "u8f0"},
                output={"word": "s8f0"}, kernel={"sigma": 2.0},
                toeplitz={"n": 8, "lam": 0.5, "scheme": "uniform"})
    with pytest.raises(KerncastError) as caught:
        simulate(make_plan(spec), x, y)
    assert [p.code for p in caught.value.problems] == [code]


def test_lists_of_raw_values_equal_arrays() -> None:
    spec = Spec(model={"name": "tiny", "algorithm": "kernel_lms"}, input={"word": "u8f0", "columns": 2},
                output={"word": "s8f0"}, kernel={"sigma": 9.0}, online={"budget": 3, "eta": 0.5})
    result = simulate(make_plan(spec), [[1, 2], [30, 4], [5, 60]], [10, -20, 30], [[1, 2]])
    assert result.status == "ok"
    assert result.f.shape == (1,)
    with pytest.raises(KerncastError, match="E248"):
        simulate(make_plan(spec), [[1, 2]], [10, -20])


def test_generated_code_on_the_host_refuses_a_raw_value_beyond_its_type() -> None:
    spec = Spec(model={"name": "tiny", "algorithm": "kernel_lms"}, input={"word": "u8f0"},
                output={"word": "s8f0"}, kernel={"sigma": 9.0}, online={"budget": 3, "eta": 0.5})
    backend = HostBackend(make_plan(spec))
    try:
        with pytest.raises(KerncastError, match="E246"):
            backend.update(np.array([[256]]), np.array([0]))
        with pytest.raises(KerncastError, match="E246"):
            backend.update(np.array([[25]]), np.array([128]))
    finally:
        backend.close()


@pytest.mark.parametrize("own", [{}, {"refine": 1}])
def test_saturation_is_reported_before_an_excessive_bound(own: dict[str, Any]) -> None:
    s = Spec(model={"name": "railed", "algorithm": "toeplitz_rls"}, input={"word": "u12f0"},
             output={"word": "s8f0"}, kernel={"sigma": 3.0}, numbers={"ranges": {"alpha": 0.02}},
             toeplitz={"n": 12, "lambda": 0.1, "scheme": "uniform", "scaling": "static", **own})
    y = np.resize([127, -128, 90, 10, -60], 12)
    plan = make_plan(s)
    result = simulate(plan, None, y)
    assert result.status == "saturated"
    assert {r.name: r.saturated for r in result.ranges}["alpha"] > 0
    for name in ("model:fxpmath", "host"):
        backend = open_backend(plan, name)
        assert STATUSES[int(backend.train(None, y)["status"][0])] == "saturated"
