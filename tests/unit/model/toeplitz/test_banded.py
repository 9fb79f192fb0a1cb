"""The banded solver in words: accuracy, tables, refusals, and the exponents at their ends."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.linalg

from kerncast.sim.errors import KerncastError
from kerncast.sim.kernels import make_kernel
from kerncast.sim.model import open_model
from kerncast.sim.model.statuses import NOT_POSITIVE_DEFINITE, OK
from kerncast.sim.model.toeplitz.banded import BandedConstants
from kerncast.sim.model.toeplitz.trainer import ToeplitzModel
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec


def plan_of(word: int = 16, n: int = 256, sigma: float = 3.0, lam: float = 0.1, solver: str = "banded",
            kernel: str = "gaussian", **more: object) -> Plan:
    return make_plan(Spec(
        model={"name": "t", "algorithm": "toeplitz_rls"}, input={"word": "u16f0"}, output={"word": "s16f0"},
        kernel={"type": kernel, "sigma": sigma, **({"period": 50.0} if kernel == "periodic" else {})},
        numbers={"word": word},
        toeplitz={"n": n, "lambda": lam, "scheme": "uniform", "solver": solver, **more}))


def trained(plan: Plan, y: np.ndarray) -> ToeplitzModel:
    model = open_model(plan)
    assert isinstance(model, ToeplitzModel)
    assert model.train(None, y)["status"][0] == OK
    return model


def error(plan: Plan, y: np.ndarray) -> float:
    """Return the relative error of alpha against float64."""
    kernel = make_kernel(plan.options)
    grid = np.arange(float(len(y)))[:, np.newaxis]
    r = kernel(grid, grid[:1])[:, 0]
    r[0] += plan.lam
    exact, state = scipy.linalg.solve_toeplitz(r, y), trained(plan, y).state()
    lsb = float(plan.signals["alpha"].format.lsb) * 2.0 ** (int(state["alpha_exp"][0]) + 15)
    return float(np.linalg.norm(state["alpha"] * lsb - exact) / np.linalg.norm(exact))


def noise(n: int) -> np.ndarray:
    return np.random.default_rng(2).integers(-32767, 32767, n)


@pytest.mark.parametrize(("word", "most"), [(16, 2e-4), (24, 1e-6), (32, 4e-9)])
def test_alpha_is_as_exact_as_its_word_length(word: int, most: float) -> None:
    assert error(plan_of(word), noise(256)) < most


def test_an_ill_conditioned_system_is_solved_that_levinson_refuses() -> None:
    assert error(plan_of(16, 256, 10.0, 0.001), noise(256)) < 3e-3
    levinson = open_model(plan_of(16, 256, 10.0, 0.001, "levinson"))
    assert levinson.train(None, noise(256))["status"][0] == NOT_POSITIVE_DEFINITE


@pytest.mark.parametrize("lam", [1e-3, 30.0, 3000.0])
def test_the_laplacian_and_a_large_lambda_keep_the_word_length(lam: float) -> None:
    assert error(plan_of(32, 256, 2.0, lam, kernel="laplacian"), noise(256)) < 1e-7


@pytest.mark.parametrize("kernel", ["matern32", "matern52"])
@pytest.mark.parametrize(("word", "most"), [(16, 4e-4), (24, 2e-6), (32, 8e-9)])
def test_matern_kernels_keep_the_word_length(kernel: str, word: int, most: float) -> None:
    assert error(plan_of(word, 256, 3.0, 0.1, kernel=kernel), noise(256)) < most


@pytest.mark.parametrize(("word", "sigma", "lam", "most"), [
    (16, 10.0, 1e-3, (2e-2, 1e-4, 1e-5)), (16, 3.0, 0.1, (2e-3, 3e-7, 5e-8)), (24, 10.0, 1e-3, (1e-4, 5e-6))])
def test_each_refinement_of_the_band_gains_accuracy(
        word: int, sigma: float, lam: float, most: tuple[float, ...]) -> None:
    errors = [error(plan_of(word, 512, sigma, lam, refine=refine), noise(512)) for refine in range(len(most))]
    assert all(found < limit for found, limit in zip(errors, most, strict=True))
    assert errors == sorted(errors, reverse=True)


def test_a_refined_factor_takes_less_flash_than_one_of_32_bits() -> None:
    refined, long = plan_of(16, 512, 10.0, 1e-3, refine=1), plan_of(32, 512, 10.0, 1e-3)
    assert 4 * refined.table_bytes < long.table_bytes
    assert refined.integer("residual_band") == long.integer("band") > refined.integer("band")
    assert refined.tables["band"] == long.tables["band"]


def test_small_targets_keep_their_bits() -> None:
    assert error(plan_of(16), 2 * (noise(256) // 128)) < 4e-4


def test_the_factor_is_that_of_cholesky_to_half_an_lsb() -> None:
    plan = plan_of(24)
    b, rows, frac = (plan.integer(name) for name in ("band", "rows", "factor_frac"))
    r = np.exp(-0.5 * (np.arange(256.0) / 3.0) ** 2)
    r[0] += 0.1
    L = scipy.linalg.cholesky(scipy.linalg.toeplitz(r), lower=True)
    words = np.array(plan.tables["factor"].values).reshape(rows, b)
    pivots = np.array(plan.tables["pivot"].values) * 2.0 ** -plan.integer("pivot_frac")
    for i in (0, 1, rows - 1, 200):
        wanted, found = L[i + 1: i + 1 + b, i] / L[i, i], words[min(i, rows - 1)] * 2.0**-frac
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1.2 * 2.0**-frac)
        assert pivots[min(i, rows - 1)] == pytest.approx(L[i, i] ** -2, rel=2.0**-23)


@pytest.mark.parametrize("word", [16, 24, 32])
def test_a_factor_below_one_half_has_a_fraction_bit_more(word: int) -> None:
    half, near_one = plan_of(word, lam=1.0), plan_of(word, lam=0.1)
    assert (half.integer("factor_frac"), near_one.integer("factor_frac")) == (word, word - 1)
    assert max(half.tables["factor"].values) > 0.9 * 2 ** (word - 1)


def test_the_cut_costs_alpha_less_than_an_lsb_and_no_lag_more_is_kept() -> None:
    for word, lam in ((16, 0.1), (32, 0.001)):
        b = plan_of(word, lam=lam).integer("band")
        tails = [2 * np.sum(np.exp(-0.5 * (np.arange(last + 1.0, 200.0) / 3.0) ** 2)) for last in (b, b - 1)]
        assert tails[0] <= lam * 2.0**-word < tails[1]


def test_the_least_eigenvalue_that_the_bound_assumes_is_true() -> None:
    for word, sigma, lam in ((16, 3.0, 0.1), (16, 10.0, 1e-3), (32, 6.0, 1e-3)):
        plan = plan_of(word, 128, sigma, lam)
        r = np.zeros(128)
        r[: plan.integer("band") + 1] = [1.0, *(v * 2.0**-31 for v in plan.tables["band"].values)]
        up = plan.integer("bound_shift") - 31 + plan.integer("residual_shift")
        assumed = float(Fraction(2) ** up / plan.integer("bound_gain"))
        assert 0.99 * lam / (1 + lam) < assumed <= np.linalg.eigvalsh(scipy.linalg.toeplitz(r))[0]


@pytest.mark.parametrize(("more", "where"), [({"n": 16}, "n"), ({"kernel": "periodic"}, "type"),
                                             ({"sigma": 100.0}, "n")])
def test_a_kernel_without_a_narrow_band_is_refused_with_the_other_solvers(
        more: dict[str, object], where: str) -> None:
    with pytest.raises(KerncastError) as caught:
        plan_of(**more)  # type: ignore[arg-type]
    problem = caught.value.problems[0]
    assert problem.code == "E205" and where in problem.where and "levinson" in problem.remedy


@pytest.mark.parametrize("more", [{"scheme": "diagonal_mean"}, {"scaling": "static"},
                                  {"refine": 1, "bias": True}, {"refine": 1, "candidates": [[2.0, 0.1]]}])
def test_what_the_band_does_not_support_is_refused(more: dict[str, object]) -> None:
    with pytest.raises(KerncastError) as caught:
        plan_of(**more)  # type: ignore[arg-type]
    assert caught.value.problems[0].code == "E113"


@pytest.mark.parametrize("exponent", ["z_exp_max", "alpha_exp_max"])
def test_an_exponent_beyond_its_range_leaves_the_model_untrained(exponent: str) -> None:
    model = open_model(plan_of())
    assert isinstance(model, ToeplitzModel)
    constants: BandedConstants = model._candidates[0].constants._replace(**{exponent: -20})
    model._candidates = [model._candidates[0]._replace(constants=constants)]
    assert model.train(None, noise(256))["status"][0] == NOT_POSITIVE_DEFINITE
    assert not model.state()["alpha"].any() and model.state()["trained"][0] == 0


def test_targets_of_zero_give_zero_with_a_bound_of_zero() -> None:
    state = trained(plan_of(), np.zeros(256, dtype=np.int64)).state()
    assert not state["alpha"].any() and state["bound"][0] == 0


def test_a_plan_is_the_same_whatever_numpy_computes() -> None:
    assert plan_of().hash == plan_of().hash == Plan.from_json(plan_of().to_json()).hash
