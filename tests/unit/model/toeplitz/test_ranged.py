"""The banded solver with lambda at run time: accuracy, formats over the range, the bound, and refusals."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import scipy.linalg

from kerncast.codegen.hls import cores as hls
from kerncast.codegen.rtl import solver as rtl
from kerncast.sim.errors import KerncastError
from kerncast.sim.model import open_model
from kerncast.sim.model.statuses import NOT_POSITIVE_DEFINITE, OK
from kerncast.sim.model.toeplitz.ranged import factor_of
from kerncast.sim.model.toeplitz.trainer import ToeplitzModel
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec

WORDS = [16, 24, 32]
RANGES = [(1.0, (0.001, 1.0)), (3.0, (0.001, 0.1)), (3.0, (0.05, 20.0)), (8.0, (0.01, 1.0))]


@cache
def plan_of(sigma: float = 3.0, ends: tuple[float, float] | None = (0.01, 1.0), lam: float | None = None,
            n: int = 256, word: int = 16) -> Plan:
    given = {} if ends is None else {"lambda_range": list(ends)}
    return make_plan(spec_of({**given, "n": n, "lambda": lam or (ends or (0.1,))[0]}, sigma=sigma,
                             word=word))


def spec_of(toeplitz: dict[str, object], sigma: float = 3.0, word: int = 16, **output: object) -> Spec:
    return Spec(model={"name": "t", "algorithm": "toeplitz_rls"}, input={"word": "u16f0"},
                output={"word": "s16f0", **output}, kernel={"sigma": sigma}, numbers={"word": word},
                toeplitz={"n": 64, "lambda": 0.1, "scheme": "uniform", "solver": "banded", **toeplitz})


def lambdas(plan: Plan, count: int) -> list[int]:
    lo, hi = plan.integer("lambda_lo"), plan.integer("lambda_hi")
    return [int(v) for v in np.round(np.geomspace(lo, hi, count)).clip(lo, hi)]


def matrix_row(n: int, sigma: float, lam: float) -> np.ndarray:
    r = np.exp(-0.5 * (np.arange(float(n)) / sigma) ** 2)
    r[0] += lam
    return r


def errors(plan: Plan, sigma: float, lam: float, word: int | None) -> tuple[float, float]:
    """Return the relative error of alpha, and the bound over the error."""
    n, model = plan.sizes["n"], open_model(plan)
    assert isinstance(model, ToeplitzModel)
    y = np.random.default_rng(2).integers(-32767, 32767, n)
    answer = model.train(None, y) if word is None else model.train_with(word, None, y)
    assert answer["status"][0] == OK
    state = model.state()
    lsb = float(plan.signals["alpha"].format.lsb) * 2.0 ** (int(state["alpha_exp"][0]) + 15)
    exact = scipy.linalg.solve_toeplitz(matrix_row(n, sigma, lam), y)
    off = float(np.linalg.norm(state["alpha"] * lsb - exact))
    return off / float(np.linalg.norm(exact)), int(state["bound"][0]) * lsb / off


@pytest.mark.parametrize("bits", WORDS)
@pytest.mark.parametrize(("sigma", "ends"), RANGES)
def test_alpha_is_nearly_as_exact_as_with_a_table_for_each_lambda(
        sigma: float, ends: tuple[float, float], bits: int) -> None:
    plan = plan_of(sigma, ends, word=bits)
    for word in lambdas(plan, 4):
        lam = word / (1 << plan.integer("lambda_frac"))
        found, ratio = errors(plan, sigma, lam, word)
        fixed = plan_of(sigma, None, lam, word=bits)
        lost = fixed.integer("factor_frac") - plan.integer("factor_frac")
        assert found <= 1.5 * errors(fixed, sigma, lam, None)[0] * 2.0**lost and ratio >= 1


@pytest.mark.parametrize("bits", WORDS)
@pytest.mark.parametrize(("sigma", "ends"), RANGES)
def test_the_format_of_the_factor_holds_for_every_lambda(
        sigma: float, ends: tuple[float, float], bits: int) -> None:
    plan, sums = plan_of(sigma, ends, word=bits), 0
    for word in lambdas(plan, 60):
        found = factor_of(plan, word)
        assert found.status == OK and np.abs(found.factor).max() < 1 << (bits - 1)
        assert found.pivot.min() > 0 and found.pivot.max() < 1 << 31
        assert not plan.long_factor or found.pivot.max() >= 1 << 30
        sums = max(sums, int(np.abs(found.factor).max(axis=0).sum()))
    assert (sums << (bits - 1)) >> plan.integer("factor_shift") < 1 << 60
    most = np.abs(factor_of(plan, plan.integer("lambda_lo")).factor).max()
    assert most >= 1 << (bits - 3)  # few bits are unused


@pytest.mark.parametrize("bits", WORDS)
@pytest.mark.parametrize(("sigma", "ends"), RANGES)
def test_the_factor_is_that_of_the_exact_matrix(sigma: float, ends: tuple[float, float], bits: int) -> None:
    plan = plan_of(sigma, ends, word=bits)
    b, rows = plan.integer("band"), plan.integer("rows")
    for word in lambdas(plan, 3):
        lam = word / (1 << plan.integer("lambda_frac"))
        L = scipy.linalg.cholesky(scipy.linalg.toeplitz(matrix_row(256, sigma, lam)), lower=True)
        found, lsb = factor_of(plan, word), 2.0 ** -plan.integer("factor_frac")
        for i in (0, 1, rows - 1, 150):
            row = min(i, rows - 1)
            np.testing.assert_allclose(found.factor[row] * lsb, L[i + 1: i + 1 + b, i] / L[i, i], rtol=0,
                                       atol=1.5 * lsb)
            assert found.pivot[row] * 2.0 ** -int(found.pivot_frac[0]) == pytest.approx(
                L[i, i] ** -2, rel=2.0 ** (1 - bits) if bits < 32 else 2.0**-24)


@pytest.mark.parametrize("bits", WORDS)
@pytest.mark.parametrize(("sigma", "ends"), RANGES)
def test_the_least_eigenvalue_that_the_bound_assumes_is_true(
        sigma: float, ends: tuple[float, float], bits: int) -> None:
    plan = plan_of(sigma, ends, n=128, word=bits)
    r = np.zeros(128)
    r[1: plan.integer("band") + 1] = [v * 2.0**-31 for v in plan.tables["band"].values]
    for word in lambdas(plan, 3):
        r[0] = (word + (1 << plan.integer("lambda_frac"))) * 2.0**-31
        least = (word - plan.integer("lambda_loss")) * 2.0**-31
        assert 0.98 * word * 2.0**-31 < least <= np.linalg.eigvalsh(scipy.linalg.toeplitz(r))[0]


@pytest.mark.parametrize("bits", WORDS)
def test_fitted_values_are_those_of_the_lambda_of_the_training(bits: int) -> None:
    plan = plan_of(word=bits)
    model, y = open_model(plan), np.random.default_rng(4).integers(-20000, 20000, 256)
    assert isinstance(model, ToeplitzModel)
    for word in lambdas(plan, 3):
        model.train_with(word, None, y)
        state, lam = model.state(), word / (1 << plan.integer("lambda_frac"))
        lsb = float(plan.signals["alpha"].format.lsb / plan.signals["y"].format.lsb)
        alpha = state["alpha"] * lsb * 2.0 ** int(state["alpha_exp"][0])
        assert np.abs(model.fitted()["f"] - (model._targets(y) - lam * alpha)).max() <= 0.5


def test_a_lambda_outside_the_range_leaves_the_model_as_it_was() -> None:
    plan = plan_of()
    model, y = open_model(plan), np.random.default_rng(4).integers(-20000, 20000, 256)
    assert isinstance(model, ToeplitzModel)
    model.train(None, y)
    before = model.state()
    for word in (plan.integer("lambda_lo") - 1, plan.integer("lambda_hi") + 1, 0, 2**31):
        assert model.train_with(word, None, y[::-1])["status"][0] < 0
    assert all((model.state()[key] == value).all() for key, value in before.items())


@pytest.mark.parametrize("bits", WORDS)
def test_a_matrix_that_is_not_positive_definite_is_refused(bits: int) -> None:
    assert factor_of(plan_of(3.0, (0.001, 0.1), word=bits), -(1 << 24)).status == NOT_POSITIVE_DEFINITE


@pytest.mark.parametrize(("more", "output", "word", "code"), [
    ({"solver": "levinson"}, {}, 16, "E113"), ({"solver": "auto"}, {}, 16, "E113"),
    ({"refine": 1}, {}, 16, "E113"),
    ({"bias": True}, {}, 16, "E113"), ({"candidates": [[2.0, 0.1]]}, {}, 16, "E113"),
    ({"stream_lag": 20}, {}, 16, "E113"), ({}, {"outputs": 2}, 16, "E113"), ({"lambda": 2.0}, {}, 16, "E108"),
    ({"lambda_range": [1.0, 0.1]}, {}, 16, "E108"), ({"lambda_range": [0.1]}, {}, 16, "E107"),
    ({"lambda_range": [1e-6, 1.0]}, {}, 16, "E205"), ({"n": 20}, {}, 16, "E205")])
def test_what_a_range_of_lambda_does_not_support_is_refused(
        more: dict[str, object], output: dict[str, object], word: int, code: str) -> None:
    with pytest.raises(KerncastError) as caught:
        make_plan(spec_of({"lambda_range": [0.01, 1.0], **more}, word=word, **output))
    assert code in [problem.code for problem in caught.value.problems]


def test_an_rtl_solver_supports_a_range_at_16_bits_only() -> None:
    assert rtl.refusal(plan_of(1.0, (0.01, 1.0), n=32)) is None
    refusal = rtl.refusal(plan_of(1.0, (0.01, 1.0), n=32, word=24))
    assert refusal is not None and "[numbers] word" in str(refusal)


def test_hls_solvers_refuse_a_range_without_a_register_for_lambda() -> None:
    plan = plan_of(1.0, (0.01, 1.0), n=32)
    assert hls.SOLVER.fits(plan) and hls.TRAINER.fits(plan)
    free = replace(plan, evidence={**plan.evidence, "hls": {"interface": "free_running"}})
    for refusal in (hls.SOLVER.refusal(free), hls.TRAINER.refusal(free)):
        assert refusal is not None and "[hls] interface" in str(refusal)


def test_a_plan_without_a_range_has_no_constant_of_it() -> None:
    plan = plan_of(3.0, None)
    assert not plan.ranged and not any("lambda" in name for name in plan.constants)


@pytest.mark.parametrize("bits", WORDS)
def test_a_state_with_the_members_of_the_trainer_is_loaded(bits: int) -> None:
    plan = plan_of(word=bits)
    model, other = open_model(plan), open_model(plan)
    assert isinstance(model, ToeplitzModel) and isinstance(other, ToeplitzModel)
    model.train_with(plan.integer("lambda_hi"), None, np.random.default_rng(3).integers(-32767, 32767, 256))
    other.load({**model.workspace(), **model.state()})
    for name in ("alpha", "lambda", "factor", "pivot", "u", "v"):
        np.testing.assert_array_equal(other._members()[name], model._members()[name])
