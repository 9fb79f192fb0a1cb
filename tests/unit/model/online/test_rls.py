"""Online kernel RLS in integers: accurate, within its proved formats, and honest about saturation."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from kerncast.codegen.hls import refuse_unfit as refuse_hls
from kerncast.codegen.rtl import refuse_unfit
from kerncast.sim.backend import STATUSES
from kerncast.sim.errors import KerncastError
from kerncast.sim.model import open_model
from kerncast.sim.model.online.coordinate import input_scale, largest, power_above
from kerncast.sim.planner import make_plan
from kerncast.sim.planner.online.rls import cosine, formats
from kerncast.sim.reference.backend import FloatReference
from kerncast.sim.spec import Spec


def spec_of(word: int = 16, columns: int = 2, sigma: float = 900.0, **rls: Any) -> Spec:
    return Spec(model={"name": "t", "algorithm": "online_kernel_rls"}, kernel={"sigma": sigma},
                input={"word": "s12f0", "columns": columns}, output={"word": "s12f0"},
                rls={"features": 20} | rls, numbers={"word": word})


def samples(count: int = 600) -> tuple[Any, Any]:
    x = np.random.default_rng(0).integers(-2048, 2048, (count, 2))
    return x, np.round(1200 * np.sin(x[:, 0] / 700) * np.cos(x[:, 1] / 900) + 0.2 * x[:, 1]).astype(np.int64)


def error_of(model: Any, x: Any, y: Any) -> float:
    f = model.update(x, y)["f"] * float(Fraction(model.plan.units["y"]))
    return float(np.sqrt(np.mean((f - y)[len(y) // 2:] ** 2)))


def mackey_glass(count: int) -> Any:
    """The series of Mackey and Glass with delay 30, sampled every 6 s, by the method of Runge and Kutta."""
    series, delay, dt = [1.2] * 301, 300, 0.1

    def slope(value: float, late: float) -> float:
        return 0.2 * late / (1 + late**10) - 0.1 * value

    for _ in range(60 * (count + 200)):
        v, late, later = series[-1], series[-1 - delay], series[-delay]
        a = slope(v, late)
        b = slope(v + dt / 2 * a, (late + later) / 2)
        c = slope(v + dt / 2 * b, (late + later) / 2)
        series.append(v + dt / 6 * (a + 2 * b + 2 * c + slope(v + dt * c, later)))
    return np.array(series[::60][-count:])


def test_mackey_glass_is_predicted_to_minus_34_db_with_100_features() -> None:
    raw = np.rint(mackey_glass(4010) * 2**14).astype(np.int64)
    x, y = np.lib.stride_tricks.sliding_window_view(raw, 10)[:-1], raw[10:]
    plan = make_plan(Spec(model={"name": "mg", "algorithm": "online_kernel_rls"}, kernel={"sigma": 0.7},
                          input={"word": "s16f14", "columns": 10, "offset": 1 << 14},
                          output={"word": "s16f14", "offset": 1 << 14}, rls={"forgetting": 0.9999}))
    f = open_model(plan).update(x, y)["f"] * float(Fraction(plan.units["y"]))
    error = (f - (y - (1 << 14)) / 2**14)[1000:]
    assert 10 * np.log10(np.mean(error**2)) < -34.0


@pytest.mark.parametrize("linear", [False, True])
@pytest.mark.parametrize("word", [16, 24, 32])
def test_errors_are_no_larger_than_those_of_float64(word: int, linear: bool) -> None:
    plan = make_plan(spec_of(word, linear=linear))
    x, y = samples()
    reference = (FloatReference(plan).update(x, y) - y)[300:]
    assert error_of(open_model(plan), x, y) < 1.05 * np.sqrt(np.mean(reference**2))


@pytest.mark.parametrize("forgetting", [0.6, 0.999, 0.99999])
def test_full_scale_samples_never_leave_the_proved_formats(forgetting: float) -> None:
    plan = make_plan(spec_of(32, forgetting=forgetting, ridge=1e-9, steps=40))
    model, rng = open_model(plan), np.random.default_rng(1)
    ridge = [plan.integer(f"rls_ridge_{kind}") for kind in ("one", *["cosine"] * 20, "x", "x")]
    starts = np.cumsum([0, *range(23, 1, -1)])
    for kind in range(3):
        x = np.full((300, 2), -2048) if kind == 0 else rng.choice([-2048, 2047], (300, 2))
        model.update(x, rng.choice([-2048, 2047], 300))
        state = model.state()
        assert np.abs(state["rls_r"]).max() < 2**31 - 1
        assert np.abs(state["rls_beta"]).max() <= 2**59
        assert (state["rls_r"][starts] >= ridge).all()


def test_r_is_the_weighted_sum_of_products() -> None:
    """Against float64, to the rounding of one LSB per sample."""
    plan = make_plan(spec_of(forgetting=0.99, linear=False))
    x, y = samples(200)
    model = open_model(plan)
    model.update(x, y)
    lsb, phi = float(formats(plan)["rls_r"].lsb), []
    for row in x:
        model.predict(row[np.newaxis])
        phi.append(model._work.phi / 2**15)
    weights = 0.99 ** np.arange(200)[::-1]
    exact = (np.array(phi).T * weights) @ np.array(phi)
    ridge = [plan.integer("rls_ridge_one"), *[plan.integer("rls_ridge_cosine")] * 20]
    exact += np.diag(ridge) * lsb
    np.testing.assert_allclose(model.state()["rls_r"] * lsb, exact[np.triu_indices(21)], atol=100 * lsb)


def test_a_pause_does_not_wind_up_and_the_learner_recovers() -> None:
    x, y = samples()
    model = open_model(make_plan(spec_of(forgetting=0.99)))
    before = error_of(model, x, y)
    paused = model.update(np.zeros((3000, 2), dtype=np.int64), np.zeros(3000, dtype=np.int64))
    assert np.abs(paused["f"][1000:]).max() < 20 and not paused["status"].any()
    assert error_of(model, x, y) < 1.1 * before


def test_a_coefficient_at_the_end_of_its_range_is_reported() -> None:
    model = open_model(make_plan(spec_of()))
    x, y = samples(50)
    model.update(x, y)
    state = model.state()
    state["rls_w"][:] = 2**31 - 1
    state["rls_beta"][:] = 1 << 50
    model.load(state)
    assert STATUSES[int(model.update(x[:1], y[:1])["status"][0])] == "saturated"
    assert (np.abs(model.state()["rls_w"]) < 2**31).all()


def test_an_empty_learner_is_not_trained_and_a_state_continues() -> None:
    plan, (x, y) = make_plan(spec_of()), samples(200)
    first, second = open_model(plan), open_model(plan)
    assert {STATUSES[s] for s in first.predict(x[:3])["status"]} == {"not_trained"}
    whole = first.update(x, y)["f"]
    second.update(x[:90], y[:90])
    third = open_model(plan)
    third.load(second.state())
    np.testing.assert_array_equal(third.update(x[90:], y[90:])["f"], whole[90:])


def test_the_step_is_the_least_power_of_two_above_the_quotient() -> None:
    for num, den in ((3, 4), (11, 8), (8, 1), (1, 1), (5, 1000), (2**61, 3), (7, 2**31 - 1)):
        k = power_above(num, den)
        assert Fraction(2) ** (k - 1) < Fraction(num, den) <= Fraction(2) ** k


def test_residuals_of_inputs_count_more_if_their_entries_of_r_are_small() -> None:
    for one, x, scale in ((1 << 20, 1 << 14, 3), (1 << 20, 1 << 15, 2), (1 << 14, 1 << 20, 0)):
        assert input_scale(np.array([one, 0, x]), 2, 1) == scale
    for beta, index in (((8, 7, 1), 0), ((8, -9, 1), 1), ((9, 7, 2), 0), ((9, 7, -3), 2), ((0, 0, 1), 2)):
        assert largest(np.array(beta), 2, 2) == index


def test_the_cosine_is_correctly_rounded_and_symmetric() -> None:
    exact = 32767 * np.cos(2 * np.pi * np.arange(257) / 256)
    assert np.abs(np.array(cosine()) - exact).max() < 0.501
    assert cosine()[128] == -cosine()[0] == -32767


@pytest.mark.parametrize(("changed", "code"), [
    ({"kernel": {"type": "laplacian", "sigma": 2.0}}, "E231"), ({"rls": {"features": 1}}, "E108"),
    ({"rls": {"forgetting": 1.0}}, "E108"), ({"rls": {"ridge": 0.0}}, "E108"),
    ({"rls": {"steps": 0}}, "E108"), ({"rls": {"seed": -1}}, "E108"), ({"rls": None}, "E105"),
    ({"online": {"budget": 4, "eta": 0.1}}, "E111"),
    ({"numbers": {"formats": {"alpha": "s16f14"}}}, "E114")])
def test_a_spec_out_of_range_is_refused(changed: dict[str, Any], code: str) -> None:
    tables = spec_of().model_dump(by_alias=True, exclude_none=True, exclude_defaults=True) | changed
    with pytest.raises(KerncastError) as refused:
        Spec(**{name: table for name, table in tables.items() if table is not None})
    assert code in {problem.code for problem in refused.value.problems}


def test_a_ridge_without_a_proof_is_refused() -> None:
    with pytest.raises(KerncastError, match="E204"):
        make_plan(spec_of(sigma=1e7, ridge=1000.0))


def test_rtl_has_a_core_for_it_and_hls_refuses_it_with_a_remedy() -> None:
    tables = spec_of().model_dump(by_alias=True, exclude_none=True)
    plan = make_plan(Spec(**tables, hls={"dialects": ["vitis"]}))
    refuse_unfit(plan)
    with pytest.raises(KerncastError, match="E31"):
        refuse_hls(plan)
