"""Refinement reaches the accuracy of longer words, the bias solves the bordered system, statuses tell."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

from kerncast.sim.backend import STATUSES
from kerncast.sim.diagnostics.simulate import alpha_values
from kerncast.sim.errors import KerncastError
from kerncast.sim.model import open_model
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec

N = 512


def targets(bits: int, offset: float = 0.0) -> np.ndarray:
    """Two tones and noise, at nearly full scale."""
    t = np.arange(N)
    y = np.sin(t / 9) + 0.3 * np.sin(t / 2.3) + 0.2 * np.random.default_rng(0).standard_normal(N) + offset
    return np.rint(y / np.abs(y).max() * 0.99 * 2 ** (bits - 1)).astype(np.int64)


def plan_of(word: int, lam: float, sigma: float = 3.0, y: np.ndarray | None = None,
            **toeplitz: object) -> Plan:
    numbers = {"word": word} | toeplitz.pop("numbers", {})
    spec = Spec(model={"name": "t", "algorithm": "toeplitz_rls"}, input={"word": "u16f0"},
                output={"word": "s32f31"}, kernel={"sigma": sigma}, numbers=numbers,
                toeplitz={"n": N, "lambda": lam, "scheme": "uniform", **toeplitz})
    return make_plan(spec, None, y)


def trained(plan: Plan, y: np.ndarray) -> tuple[str, np.ndarray, dict[str, np.ndarray]]:
    model = open_model(plan)
    status = STATUSES[model.train(None, y)["status"][0]]
    return status, alpha_values(plan, model.state()), model.state() | model.workspace()


def row(lam: float, sigma: float = 3.0) -> np.ndarray:
    r = np.exp(-0.5 * (np.arange(N) / sigma) ** 2)
    r[0] += lam
    return r


@pytest.mark.parametrize(("word", "refine", "lam", "error"), [
    (16, 0, 0.1, 2e-3), (16, 2, 0.1, 1e-6), (32, 0, 0.1, 6e-8), (24, 0, 0.1, 1e-5),
    (16, 0, 0.01, 2e-2), (16, 2, 0.01, 1e-5), (32, 0, 0.01, 6e-7), (24, 1, 0.01, 1e-6)])
def test_alpha_is_as_close_to_float64_as_the_word_length_promises(word, refine, lam, error):
    y = targets(32)
    status, alpha, _ = trained(plan_of(word, lam, refine=refine), y)
    expected = scipy.linalg.solve_toeplitz(row(lam), y * 2.0**-31)
    assert status == "ok"
    assert np.linalg.norm(alpha - expected) <= error * np.linalg.norm(expected)


@pytest.mark.parametrize(("word", "refine", "error"), [
    (16, 0, 4e-3), (24, 0, 2e-5), (32, 0, 2e-7), (16, 2, 1e-6)])
def test_the_bias_solves_the_bordered_system(word, refine, error):
    """Paper 001: alpha sums to zero and (T + lambda I) alpha + b = y."""
    y = targets(32, offset=3.0)
    plan = plan_of(word, 0.1, refine=refine, bias=True)
    status, alpha, state = trained(plan, y)
    matrix = np.zeros((N + 1, N + 1))
    matrix[1:, 1:], matrix[0, 1:], matrix[1:, 0] = scipy.linalg.toeplitz(row(0.1)), 1, 1
    b, *expected = np.linalg.solve(matrix, np.append(0, y * 2.0**-31))
    assert status == "ok"
    assert np.linalg.norm(alpha - expected) <= error * np.linalg.norm(expected)
    assert state["bias"][0] * 2.0 ** (2 - plan.word) == pytest.approx(b, abs=2 * error)


def test_a_prediction_adds_the_bias():
    y = targets(32, offset=3.0)
    with_bias, without = (open_model(plan_of(16, 0.1, bias=bias)) for bias in (True, False))
    for model in (with_bias, without):
        model.train(None, y)
    far = np.array([[60000]])  # no kernel reaches there
    assert without.predict(far)["f"][0] == 0
    assert with_bias.predict(far)["f"][0] == with_bias.state()["bias"][0] != 0


def test_refinement_that_cannot_help_reports_it():
    """16-bit words of a smooth kernel: the corrections miss by half of themselves."""
    status, _, state = trained(plan_of(16, 0.1, sigma=50.0, refine=2), targets(32))
    assert status in ("stalled", "inaccurate")
    assert state["trained"][0] == 1


@pytest.mark.parametrize("refine", [0, 2])
def test_an_answer_that_is_not_worth_much_is_called_inaccurate(refine):
    status, _, _ = trained(plan_of(16, 0.01, sigma=50.0, refine=refine), targets(32))
    assert status in ("inaccurate", "not_positive_definite")


def test_zero_targets_give_zero_and_a_bound_of_zero():
    for options in ({}, {"refine": 2}, {"bias": True}):
        status, alpha, state = trained(plan_of(16, 0.1, **options), np.zeros(N, dtype=np.int64))
        assert status == "ok" and not alpha.any() and state["bound"][0] == 0


@pytest.mark.parametrize("word", [16, 24, 32])
def test_static_scaling_is_accurate_if_its_range_is_right_else_it_warns(word):
    y = targets(32)
    for options, wanted in (({"y": y}, "ok"), ({"numbers": {"ranges": {"alpha": 0.05}}}, None)):
        plan = plan_of(word, 0.1, scaling="static", **options)
        status, alpha, state = trained(plan, y)
        expected = scipy.linalg.solve_toeplitz(row(0.1), y * 2.0**-31)
        if wanted:
            assert status == "ok"
            assert np.linalg.norm(alpha - expected) <= 2.0 ** (8 - word) * np.linalg.norm(expected)
            assert plan.evidence["alpha"]["decided_by"] == "simulated"
        else:
            assert status in ("saturated", "inaccurate")
            scaled = plan.integer("alpha_scale") * ((1 << (word - 1)) - 1) >> 31
            assert np.abs(state["alpha"]).max() in (scaled, scaled + 1)  # the rail of x, over 1 + lambda


def test_no_exponent_moves_with_static_scaling():
    plan = plan_of(16, 0.1, y=targets(32), scaling="static")
    _, _, state = trained(plan, targets(32))
    assert state["a_exp"][0] == plan.integer("a_exp_min")
    assert state["alpha_exp"][0] == plan.integer("x_exp_min")


def test_32_bits_have_no_refinement():
    with pytest.raises(KerncastError, match=r"(?s)\[toeplitz\] refine.*E113.*found: 2"):
        plan_of(32, 0.1, refine=2)


def test_the_trainer_of_refinement_takes_twenty_bytes_a_sample():
    """r, y and alpha of 32 bits; the row, a, the residual and the correction of 16."""
    fields = {f.name: f for f in plan_of(16, 0.1, refine=2).workspace if f.formula == "n"}
    assert sum(f.bytes for f in fields.values()) == 20 * N
    assert sorted(fields) == ["a", "alpha", "r", "r_short", "rhs", "y", "z"]


@pytest.mark.parametrize("reach", [1e-3, 1.0, 1e6])
@pytest.mark.parametrize("lam", [1e-3, 0.1, 1e6])
def test_a_design_range_beyond_the_bound_is_refused_at_once(reach: float, lam: float) -> None:
    """Once it put the exponents of x beyond their range, and every training was refused."""
    if reach > 32**0.5 / lam:
        with pytest.raises(KerncastError, match="E118"):
            plan_of(32, lam, scaling="static", numbers={"ranges": {"alpha": reach}})
        return
    plan = plan_of(32, lam, scaling="static", numbers={"ranges": {"alpha": reach}})
    assert plan.integer("x_exp_min") <= plan.integer("x_exp_max")
    assert trained(plan, targets(32))[0] != "not_positive_definite"
