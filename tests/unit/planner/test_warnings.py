"""Warnings: what a plan allows although it will hardly do what was wanted, and nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kerncast import cautions
from kerncast.sim.diagnostics.simulate import observe, simulate
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec

N = 24


def spec(algorithm: str = "kernel_cg", output: str = "s12f0", kernel: dict[str, Any] | None = None,
         **own: Any) -> Spec:
    table = {"kernel_cg": {"cg": {"n": N, "lambda": 0.1} | own},
             "toeplitz_rls": {"toeplitz": {"n": N, "lambda": 0.1, "scheme": "uniform"} | own},
             "kernel_lms": {"online": {"budget": 8, "eta": 0.5} | own}}[algorithm]
    return Spec(model={"name": "warned", "algorithm": algorithm}, input={"word": "u12f0"},
                output={"word": output}, kernel=kernel or {"sigma": 3.0}, **table)


def codes(s: Spec) -> list[str]:
    return [problem.code for problem in cautions(make_plan(s))]


LINEAR = {"type": "linear"}


@pytest.mark.parametrize("s", [spec(), spec("toeplitz_rls"), spec("toeplitz_rls", refine=2),
                               spec("kernel_lms"), spec("toeplitz_rls", scheme="diagonal_mean_biased")])
def test_an_ordinary_spec_is_not_warned_of(s: Spec) -> None:
    assert codes(s) == []


@pytest.mark.parametrize(("s", "code", "where"), [
    (spec(kernel=LINEAR), "W201", "[cg] lambda"),
    (spec("toeplitz_rls", **{"lambda": 2.0**-16}), "W201", "[toeplitz] lambda"),
    (spec(**{"lambda": 2.0**-12}), "W202", "[cg] lambda"),
    (spec("toeplitz_rls", **{"lambda": 2.0**-12}), "W202", "[toeplitz] lambda"),
    (spec("toeplitz_rls", solver="banded", kernel={"sigma": 1.0}, **{"lambda": 1e-9}), "W202",
     "[toeplitz] lambda"),
    (spec("toeplitz_rls", scheme="diagonal_mean"), "W202", "[toeplitz] scheme"),
    (spec("toeplitz_rls", solver="lookahead", scheme="diagonal_mean"), "W202", "[toeplitz] scheme"),
    (spec(**{"lambda": 1e9}), "W203", "[cg] lambda"),
    (spec("toeplitz_rls", **{"lambda": 1e9}), "W203", "[toeplitz] lambda"),
    (spec("kernel_lms", eta=1e-6), "W203", "[online] eta"),
    (spec("kernel_lms", eta=1.9, rho=0.1), "W206", "[online] eta")])
def test_each_warning_has_its_place_and_what_to_do(s: Spec, code: str, where: str) -> None:
    (problem,) = cautions(make_plan(s))
    assert (problem.code, problem.where) == (code, where)
    assert problem.value and problem.allowed and problem.remedy


def test_a_lambda_below_the_error_of_the_band_has_no_certified_bound() -> None:
    plan = make_plan(spec("toeplitz_rls", solver="banded", kernel={"sigma": 1.0}, **{"lambda": 1e-9}))
    y = np.random.default_rng(2).integers(-2048, 2048, N)
    assert simulate(plan, None, y).status == "inaccurate"


def test_lambda_is_lost_below_one_lsb_of_the_kernel_and_not_above() -> None:
    lsb = float(make_plan(spec(kernel=LINEAR)).signals["kernel"].format.lsb)
    assert "W201" in codes(spec(kernel=LINEAR, **{"lambda": lsb * 0.99}))
    assert "W201" not in codes(spec(kernel=LINEAR, **{"lambda": lsb * 1.01}))


@pytest.mark.parametrize("algorithm", ["kernel_cg", "toeplitz_rls"])
def test_if_no_value_can_show_an_answer_every_prediction_is_0(algorithm: str) -> None:
    x, y = np.arange(N), np.resize([2047, -2048, 2047, 2047], N)
    inputs = x if algorithm == "kernel_cg" else None
    for lam in np.geomspace(1e3, 1e9, 7):
        plan = make_plan(spec(algorithm, **{"lambda": float(lam)}))
        shown = simulate(plan, inputs, y).f.any()
        assert not (shown and cautions(plan))
        assert shown or [p.code for p in cautions(observe(plan, inputs, y))] == ["W203"]


def test_targets_below_the_resolution_are_reported_by_a_run() -> None:
    s, y = spec("toeplitz_rls", "s32f0"), np.resize([3, -2, 0, 1], N)
    assert codes(s) == []
    (problem,) = cautions(observe(make_plan(s), None, y))
    assert (problem.code, problem.where) == ("W203", "[output] word")


def test_targets_spanning_few_lsb_are_warned_of_if_the_data_are_known() -> None:
    s, y = spec("toeplitz_rls", "s24f0"), np.resize([700, -512, 90, 333], N)
    assert codes(s) == []
    plan = make_plan(s, None, y)
    (problem,) = cautions(plan)
    assert (problem.code, problem.where) == ("W204", "[output] word")
    assert plan.evidence["y"]["rounding"] > 0.1 and plan.hash == make_plan(s).hash
    assert simulate(plan, None, y).alpha_error > 0.1
    assert not cautions(make_plan(s, None, y << 12))  # the word is filled
    assert not cautions(make_plan(s, None, np.resize([1024, -512], N)))  # every target is a word


def test_inputs_that_rounding_moves_far_are_reported_if_data_are_known() -> None:
    kernel, rng = {"type": "periodic", "sigma": 1.0, "period": 4000.0}, np.random.default_rng(3)
    s = spec("kernel_lms", kernel=kernel)
    s = s.model_copy(update={"input": s.input.model_copy(update={"word": "u25f0"})})
    x, y = rng.integers(0, 2**25, (N, 1)), np.resize([2000, -1000], N)
    assert "W205" in [problem.code for problem in cautions(make_plan(s, x, y))]
    even = x // 2**14 * 2**14  # every sample is a word exactly
    assert "W205" not in [problem.code for problem in cautions(make_plan(s, even, y))]
    assert codes(s) == []


@pytest.mark.parametrize(("eta", "rho", "said"), [
    (1.7, 0.0, None), (1.9, 0.0, "near the end of"), (1.9, 0.1, "outside"), (1.5, 0.3, "near the end of"),
    (1.6, 0.3, "outside"), (0.5, 1.0, None)])
def test_an_eta_near_or_outside_the_stable_range_is_reported_with_the_bound(eta: float, rho: float,
                                                                        said: str | None) -> None:
    found = [p for p in cautions(make_plan(spec("kernel_lms", eta=eta, rho=rho))) if p.code == "W206"]
    assert len(found) == (said is not None)
    if said is not None:
        assert said in found[0].message and f"{2 / (1 + rho):.6g}" in found[0].allowed
