"""The linear part in integers: near float64, within its proved formats, and honest about saturation."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from kerncast.sim.backend import STATUSES
from kerncast.sim.errors import KerncastError
from kerncast.sim.model import open_model
from kerncast.sim.planner import make_plan
from kerncast.sim.planner.online.linear import holds
from kerncast.sim.reference.backend import FloatReference
from kerncast.sim.spec import Spec


def spec_of(word: int = 16, columns: int = 3, **online: Any) -> Spec:
    return Spec(model={"name": "t", "algorithm": "kernel_lms"}, kernel={"sigma": 300.0},
                input={"word": "s12f0", "columns": columns}, output={"word": "s12f0"},
                online={"budget": 12, "eta": 0.2, "reduction": "nt", "quantise": 0.8, "linear": "rls",
                        "linear_ridge": 100.0} | online, numbers={"word": word})


def sine(samples: int = 400, columns: int = 3) -> tuple[Any, Any]:
    """Windows of a sine in noise, and the next sample."""
    t, rng = np.arange(samples + columns), np.random.default_rng(0)
    s = np.round(900 * np.sin(t * 0.13) + rng.normal(0, 20, len(t))).astype(np.int64)
    return np.lib.stride_tricks.sliding_window_view(s, columns)[:-1], s[columns:]


@pytest.mark.parametrize("options", [{}, {"joint": True}, {"gate": True},
                                     {"gate": True, "last_errors": 4}])
@pytest.mark.parametrize(("word", "most"), [(16, 2.0), (24, 0.02), (32, 0.02)])
def test_predictions_are_those_of_float64(word: int, most: float, options: dict[str, bool]) -> None:
    plan = make_plan(spec_of(word, **options))
    x, y = sine()
    outputs, reference = open_model(plan).update(x, y), FloatReference(plan).update(x, y)
    f = outputs["f"] * float(Fraction(plan.units["y"]))
    assert np.sqrt(np.mean((f - reference)[20:] ** 2)) < most  # of 2048 ADC counts
    assert not outputs["status"].any()


def test_the_linear_part_reads_every_bit_of_an_input() -> None:
    """Its error on a smooth signal of 16 bits is that of words of 32 bits, and not four times as large."""
    s = np.round(30000 * np.sin(np.arange(1505) * 0.05) * np.cos(np.arange(1505) * 0.0013)).astype(np.int64)
    x, y = np.lib.stride_tricks.sliding_window_view(s, 5)[:-1], s[5:]
    error = {}
    for word in (16, 32):
        spec = spec_of(word, 5, linear_ridge=1e-3, linear_forgetting=0.99, gate=True)
        model = open_model(make_plan(Spec(**{**spec.model_dump(by_alias=True, exclude_none=True),
                                             "input": {"word": "s16f0", "columns": 5},
                                             "kernel": {"sigma": 20000.0}, "output": {"word": "s16f0"}})))
        f = model.update(x, y)["f"] * float(Fraction(model.plan.units["y"]))
        error[word] = np.sqrt(np.mean((f - y)[500:] ** 2))
    assert error[16] < 1.5 * error[32]


def test_inputs_that_x_holds_are_read_from_x() -> None:
    assert "linear_x_exp" in make_plan(spec_of()).constants


def test_a_linear_part_halves_the_error_on_a_sine() -> None:
    x, y = sine()
    error = {}
    for linear in ("rls", None):
        plan = make_plan(spec_of(linear=linear, **({} if linear else {"linear_ridge": 1e-3})) if linear
                         else Spec(**{**spec_of().model_dump(by_alias=True, exclude_none=True),
                                      "online": {"budget": 12, "eta": 0.2, "reduction": "nt",
                                                 "quantise": 0.8}}))
        f = open_model(plan).update(x, y)["f"] * float(Fraction(plan.units["y"]))
        error[linear] = np.sqrt(np.mean((f - y)[100:] ** 2))
    assert error["rls"] < 0.5 * error[None]


@pytest.mark.parametrize("columns", [1, 8])
@pytest.mark.parametrize("forgetting", [0.5, 0.999, 0.99999])
def test_full_scale_inputs_never_leave_the_proved_formats(columns: int, forgetting: float) -> None:
    plan = make_plan(spec_of(32, columns, linear_forgetting=forgetting, linear_ridge=1e-6, joint=True))
    model, rng = open_model(plan), np.random.default_rng(1)
    for kind in range(3):
        x = np.full((300, columns), -2048) if kind == 0 else rng.choice([-2048, 2047], (300, columns))
        model.update(x, rng.choice([-2048, 2047], 300))
        state = model.state()
        for name in ("linear_r", "linear_z"):
            assert np.abs(state[name]).max() < 2**31 - 1


def test_the_inequality_bounds_a_column_that_is_always_at_its_end() -> None:
    forgetting, column = Fraction(999, 1000), Fraction(0)
    for _ in range(10000):
        column = Fraction(float(forgetting * column + 1))
    assert holds(5, 1, forgetting, Fraction(1), Fraction(0)) and float(column) ** 0.5 < 32
    assert not holds(4, 1, forgetting, Fraction(1), Fraction(0)) and float(column) ** 0.5 > 16


def test_the_gate_takes_away_a_kernel_part_that_only_adds_noise() -> None:
    t, rng = np.arange(603), np.random.default_rng(3)
    s = np.round(900 * np.sin(t * 0.13) + rng.normal(0, 200, len(t))).astype(np.int64)
    x, y = np.lib.stride_tricks.sliding_window_view(s, 3)[:-1], s[3:]
    error = {}
    for gate in (False, True):
        model = open_model(make_plan(spec_of(eta=0.8, gate=gate)))
        f = model.update(x, y)["f"] * float(Fraction(model.plan.units["y"]))
        error[gate] = np.sqrt(np.mean((f - y)[100:] ** 2))
    assert error[True] < 0.95 * error[False]


def test_the_gate_leaves_a_kernel_part_that_the_linear_part_lacks() -> None:
    rng = np.random.default_rng(4)
    x = rng.integers(-1000, 1000, (400, 1))
    y = np.abs(x[:, 0])
    model = open_model(make_plan(spec_of(columns=1, gate=True)))
    model.update(x, y)
    product, power = model.state()["gate_sums"]
    assert 0.8 * power < product


def test_predictions_stay_in_the_range_of_the_targets() -> None:
    plan = make_plan(spec_of(linear_ridge=1e-3))
    model = open_model(plan)
    x, y = sine()
    model.update(x, y)
    spikes = np.array([[2047, -2048, 2047], [-2048, 2047, -2048]])
    f = model.predict(spikes)["f"] * float(Fraction(plan.units["y"]))
    assert f.min() >= -2048 and f.max() <= 2047


def test_constant_inputs_and_a_pause_leave_a_finite_model() -> None:
    plan = make_plan(spec_of())
    model = open_model(plan)
    x, y = sine()
    model.update(x, y)
    model.update(np.zeros((6000, 3), dtype=np.int64), np.zeros(6000, dtype=np.int64))
    found = model.update(x, y)
    assert not found["status"].any()
    f = found["f"] * float(Fraction(plan.units["y"]))
    assert np.sqrt(np.mean((f - y)[50:] ** 2)) < 60


def test_a_w_beyond_its_range_is_reported() -> None:
    plan = make_plan(spec_of(linear_ridge=1e-6))
    model = open_model(plan)
    x = np.array([[1, 0, 0], [0, 0, 0]] * 20)
    found = model.update(x, 2000 * x[:, 0] - 20)["status"]
    assert "saturated" in {STATUSES[s] for s in found}


def test_a_spec_without_a_linear_part_is_read_back_from_its_own_values() -> None:
    spec = Spec(model={"name": "t", "algorithm": "kernel_lms"}, kernel={"sigma": 3.0},
                input={"word": "s12f0"}, output={"word": "s12f0"}, online={"budget": 12, "eta": 0.2})
    assert Spec(**spec.model_dump(by_alias=True, exclude_none=True)) == spec


def test_too_many_columns_are_refused() -> None:
    with pytest.raises(KerncastError, match=r"(?s)columns.*E204"):
        make_plan(spec_of(columns=65))


def test_a_ridge_beyond_the_range_of_x_is_refused() -> None:
    with pytest.raises(KerncastError, match=r"(?s)linear.*E204"):
        make_plan(spec_of(linear_ridge=1e12))
