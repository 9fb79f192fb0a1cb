"""The online learner in float32: what is planned and refused, how exact it is, how its inverse is guarded."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from kerncast.codegen.rtl import fits, refuse_unfit
from kerncast.sim.diagnostics.simulate import y_values
from kerncast.sim.errors import KerncastError
from kerncast.sim.fxp_model import open_fxp_model
from kerncast.sim.kernels import Gaussian
from kerncast.sim.model import open_model
from kerncast.sim.model.float32 import exp2
from kerncast.sim.model.statuses import INACCURATE, OK, SATURATED
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.planner.online.float32 import float_bits
from kerncast.sim.reference.online.kernel_lms import KernelLMS
from kerncast.sim.spec import Spec

GRID = np.linspace(-3, 3, 301)[:, np.newaxis]


def plan_of(reduction: str = "klms_f32", budget: int = 8, word: int = 16, online: Any = None,
            **tables: Any) -> Plan:
    return make_plan(Spec(
        model={"name": "t", "algorithm": "kernel_lms"}, input={"word": "s16f13"}, output={"word": "s16f14"},
        kernel=tables.pop("kernel", {"sigma": 0.5}), numbers={"word": word, **tables.pop("numbers", {})},
        online={"budget": budget, "eta": 0.1, "reduction": reduction, **(online or {})}, **tables))


def raw(values: np.ndarray, frac: int) -> np.ndarray:
    return np.rint(values * 2.0**frac).astype(np.int64)


def sinc(seed: int) -> tuple[np.ndarray, np.ndarray]:
    x = raw(np.random.default_rng(seed).uniform(-3, 3, (100, 1)), 13)
    return x, raw(np.sinc(x[:, 0] / 2.0**13), 14)


def gram(state: dict[str, np.ndarray], budget: int) -> tuple[np.ndarray, np.ndarray]:
    """K, without its diagonal, and the inverse."""
    a = state["gram"].astype(np.uint32).view(np.float32).reshape(budget, budget).astype(np.float64)
    return np.tril(a, -1) + np.tril(a, -1).T, np.triu(a) + np.triu(a, 1).T


# ---- the plan ----
def test_the_state_is_one_square_of_floats_beside_linear_members() -> None:
    for budget in (8, 24, 100):
        plan = plan_of(budget=budget)
        assert {f.name: f.count for f in plan.memory}["gram"] == budget**2
        members = 4 * budget**2 + 4 * 5 * budget + 2 * budget + budget + 6  # alpha, k, u, rest, step; v; rank
        assert 0 <= plan.state_bytes - members < 8
    assert plan_of("fklms_f32", 100).state_bytes == (4 + 4 + 4 + 2 + 1 + 1) * 100 + 8


def test_floats_stand_in_the_plan_as_the_bits_of_the_nearest() -> None:
    chance = np.random.default_rng(0)
    for value in [*chance.uniform(0, 2, 50), *10.0 ** chance.uniform(-30, 30, 50), 1.0, 2.0 - 2.0**-30]:
        assert float_bits(Fraction(value)) == int(np.float32(value).view(np.uint32))
    assert plan_of().hash == plan_of().hash != plan_of("mklms_f32").hash


def test_a_matrix_that_no_device_can_address_is_refused_with_e206() -> None:
    with pytest.raises(KerncastError) as caught:
        plan_of(budget=40000)
    assert caught.value.problems[0].code == "E206"
    assert plan_of("fklms_f32", 40000).sizes["N"] == 40000


@pytest.mark.parametrize(("table", "key", "value"), [
    ("online", "metric", "magnitude"), ("online", "projection", "none"), ("online", "max_age", 9),
    ("online", "truncation", 0.1), ("online", "max_deterioration", 0.1), ("numbers", "margin", 1.0),
    ("numbers", "exp_table", "small"), ("numbers", "formats", {"alpha": "s16f12"}),
    ("numbers", "ranges", {"alpha": 2.0}), ("numbers", "casts", {"alpha": "floor"})])
def test_what_belongs_to_integers_is_refused(table: str, key: str, value: Any) -> None:
    with pytest.raises(KerncastError) as caught:
        plan_of("mklms_f32", **{table: {key: value}})
    problem = caught.value.problems[0]
    assert problem.code == "E113" and 'reduction = "mklms_f32" computes in float32' in problem.message


def test_a_decay_that_float32_does_not_show_is_refused_with_e204() -> None:
    with pytest.raises(KerncastError) as caught:
        plan_of(online={"rho": 1e-7})
    assert caught.value.problems[0].code == "E204"


def test_neither_fxpmath_nor_the_hardware_predictor_supports_it() -> None:
    plan = plan_of("fklms_f32")
    assert not fits(plan)
    for refused, code in ((open_fxp_model, "E250"), (refuse_unfit, "E307")):
        with pytest.raises(KerncastError) as caught:
            refused(plan)
        problem = caught.value.problems[0]
        assert (problem.code, problem.where, problem.value) == (code, "[online] reduction", "fklms_f32")


# ---- how exact it is ----
def test_the_exponential_is_right_to_a_rounding_and_a_half() -> None:
    t = np.linspace(0, 30.999, 4001).astype(np.float32)
    found = np.array([exp2(v) for v in t])
    assert found[0] == 1.0 and (found.astype(np.float32) == found).all()
    assert np.abs(found / np.exp2(-t.astype(np.float64)) - 1).max() < 1.1e-7


@pytest.mark.covering
@pytest.mark.parametrize(("reduction", "within"), [("klms", 0.05), ("mklms", 0.05), ("fklms", 0.01)])
@pytest.mark.parametrize("budget", [8, 16, 24])
def test_its_error_is_that_of_float64(reduction: str, within: float, budget: int) -> None:
    """Report 836, figure 6: the mean over realisations."""
    plan, errors = plan_of(f"{reduction}_f32", budget), []
    model = open_model(plan)
    for seed in range(3):
        x, y = sinc(seed)
        reference = KernelLMS(1, Gaussian(0.5), 0.1, 0.0, reduction, budget)
        model.reset()
        for _ in range(10):
            assert (model.update(x, y)["status"] == OK).all()
            reference.learn(x / 2.0**13, np.sinc(x[:, 0] / 2.0**13))
        found = y_values(plan, model.predict(raw(GRID, 13))["f"])
        errors.append([np.mean((f - np.sinc(GRID[:, 0])) ** 2) for f in (found, reference.predict(GRID))])
    ours, float64 = np.mean(errors, axis=0)
    assert abs(ours / float64 - 1) < within


# ---- the guard ----
def filled(budget: int = 8) -> tuple[Any, np.ndarray, np.ndarray]:
    model, (x, y) = open_model(plan_of(budget=budget)), sinc(1)
    model.update(x[:50], y[:50])
    return model, x[50:], y[50:]


def test_an_invalid_inverse_is_recomputed_and_counted() -> None:
    model, x, y = filled()
    assert model.state()["rebuilds"][0] == 0
    for spoilt in (0.0, -1.0, np.inf, np.nan):
        state = model.state()
        damaged = state["gram"].astype(np.uint32).view(np.float32).reshape(8, 8)
        damaged[2, 2] = damaged[1, 5] = spoilt
        before = int(state["rebuilds"][0])
        model.load(state | {"gram": damaged.ravel().view(np.uint32).astype(np.int64)})
        assert (model.update(x[:3], y[:3])["status"] == OK).all()
        x, y = x[3:], y[3:]
        assert model.state()["rebuilds"][0] > before
        K, inverse = gram(model.state(), 8)
        assert np.abs((K + (1 + 2.0**-14) * np.eye(8)) @ inverse - np.eye(8)).max() < 1e-2


def test_without_a_valid_inverse_the_status_warns_and_values_stay_finite() -> None:
    model, x, y = filled()
    state = model.state()
    K = state["gram"].astype(np.uint32).view(np.float32).reshape(8, 8)
    K[np.tril_indices(8, -1)] = 3.0  # no kernel: 1 is the most
    model.load(state | {"gram": K.ravel().view(np.uint32).astype(np.int64)})
    statuses = model.update(x, y)["status"]
    assert statuses[0] == INACCURATE and set(statuses) <= {OK, INACCURATE}
    for member in ("gram", "alpha", "k"):
        assert np.isfinite(model.state()[member].astype(np.uint32).view(np.float32)).all()
    assert statuses[-1] == OK  # every damaged vector went


@pytest.mark.parametrize("reduction", ["klms_f32", "mklms_f32", "fklms_f32"])
def test_a_diverging_learner_reports_it_and_stays_finite(reduction: str) -> None:
    model = open_model(plan_of(reduction, 6, online={"eta": 1.99, "rho": 0.2}, kernel={"sigma": 50.0}))
    x, y = sinc(2)
    statuses = np.concatenate([model.update(x, y)["status"] for _ in range(5)])
    alpha = model.state()["alpha"].astype(np.uint32).view(np.float32)
    assert statuses[0] == OK and SATURATED in statuses and np.isfinite(alpha).all()


@pytest.mark.parametrize("reduction", ["klms_f32", "mklms_f32", "fklms_f32"])
def test_a_repeated_sample_updates_its_own_coefficient(reduction: str) -> None:
    model, (x, y) = open_model(plan_of(reduction)), sinc(3)
    model.update(x[:8], y[:8])
    before = model.state()
    model.update(x[3:4], y[3:4] + 4000)
    after = model.state()
    assert np.flatnonzero(before["alpha"] != after["alpha"]).tolist() == [3]
    assert after["count"][0] == 8 and (after["centers"] == before["centers"]).all()


@pytest.mark.parametrize(("reduction", "x"), [("klms_f32", [0, 5000, 20000]),
                                              ("fklms_f32", [-20000, 0, 100, 20000])])
def test_of_two_equal_vectors_the_newer_is_evicted(reduction: str, x: list[int]) -> None:
    model = open_model(plan_of(reduction, len(x) - 1, online={"rho": 0.0}))
    model.update(np.array(x)[:, np.newaxis], np.full(len(x), 3000))
    assert model.state()["centers"].tolist() == [*x[:-2], x[-1]]
