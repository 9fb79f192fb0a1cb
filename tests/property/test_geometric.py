"""The solver of a geometric first row on random specs: exact solutions, a second model, the banded solver."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from random import Random
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import scipy.linalg

from kerncast.sim.backend import Comparison
from kerncast.sim.fxp_model import open_fxp_model
from kerncast.sim.model import open_model
from kerncast.sim.model.statuses import OK, TRAINED
from kerncast.sim.model.toeplitz.trainer import ToeplitzModel, certified_bound
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec

from .test_banded import ROUNDINGS, targets

SIGMAS, LAMBDAS = (0.3, 3.0, 30.0, 1000.0), (1e-4, 0.1, 100.0)


def planned(n: int, sigma: float, lam: float, word: int = 16, rounding: str = "half_up",
            factor: str | None = None) -> Plan:
    """Plan a trainer with a Laplacian kernel on a uniform grid."""
    return make_plan(Spec(
        model={"name": "geo", "algorithm": "toeplitz_rls"}, input={"word": "u16f0"},
        output={"word": "s16f15"}, kernel={"type": "laplacian", "sigma": sigma},
        numbers={"word": word, "rounding": rounding},
        toeplitz={"n": n, "lam": lam, "scheme": "uniform", "solver": "banded", "factor": factor}))


def drawn(random: Random, most: int) -> Plan:
    """Plan a random trainer, with narrow and wide kernels."""
    return planned(random.randint(2, most), 10 ** random.uniform(-0.6, 4), 10 ** random.uniform(-4, 2),
                   random.choice((16, 24, 32)), random.choice(ROUNDINGS))


def squared_error(exact: ModuleType, plan: Plan, model: ToeplitzModel, y: Any) -> Fraction:
    """Return the squared error of alpha in LSB, compared with the exact solution for the rounded rho."""
    n, one = len(y), 1 << 31
    rho, c, state = plan.integer("rho"), plan.integer("ridge_scale"), model.state()
    powers = [rho**k * one ** (n - k) for k in range(n)]
    rows = [[one * powers[0] if i == j else c * powers[abs(i - j)] for j in range(n)] for i in range(n)]
    numerators, denominator = exact.solve(rows, [int(v) for v in y])
    lsb = plan.signals["alpha"].format.lsb * Fraction(2) ** int(state["alpha_exp"][0])
    unit = plan.signals["y"].format.lsb * one * powers[0] / (1 + Fraction(plan.options["lambda"])) / lsb
    return exact.squares([Fraction(a, denominator) * unit - int(v)
                          for a, v in zip(numerators, state["alpha"], strict=True)])


def judge(exact: ModuleType, seed: int) -> str:
    """Compare the error of a training with its certified bound."""
    random = Random(seed)
    plan = drawn(random, 14)
    model, y_raw = open_model(plan), targets(random, plan)
    assert isinstance(model, ToeplitzModel)
    status = int(model.train(None, y_raw)["status"][0])
    y, bound = model._targets(y_raw), int(model.state()["bound"][0])
    assert status in TRAINED and bound == certified_bound(plan, y, model.state()), seed
    assert squared_error(exact, plan, model, y) <= bound**2, f"seed {seed}: {plan.options} W={plan.word}"
    return "ok" if status == OK else "inaccurate"


def test_every_answer_lies_within_its_bound_of_the_exact_solution(exact: ModuleType) -> None:
    met = Counter(judge(exact, seed) for seed in range(200))
    assert met["ok"] > 150


@pytest.mark.campaign
def test_ten_thousand_answers_lie_within_their_bounds(exact: ModuleType) -> None:
    assert sum(Counter(judge(exact, seed) for seed in range(1000, 11000)).values()) == 10_000


def compared(plan: Plan, y_raw: Any) -> Comparison:
    """Train and predict with both models; compare answers and states."""
    model, second, found = open_model(plan), open_fxp_model(plan), Comparison()
    found.add("train", model.train(None, y_raw), second.train(None, y_raw))
    found.add("state", model.state(), second.state())
    x = np.array([[0], [plan.sizes["n"] // 2], [60000]])
    found.add("predict", model.predict(x), second.predict(x))
    return found


def test_a_second_model_computes_the_same_values(ledger: Any) -> None:
    words = 0
    for seed in range(60):
        random = Random(seed)
        plan = drawn(random, 24)
        found = compared(plan, targets(random, plan))
        assert found.mismatches == 0, f"seed {seed}: {found.first}"
        words += found.words
    ledger.record(backend="model:fxpmath", words=words, mismatches=0, case="toeplitz, geometric")


@pytest.mark.parametrize("n", [2, 3])
def test_a_second_model_computes_the_same_values_at_the_extremes(n: int) -> None:
    for sigma in SIGMAS:
        for lam in LAMBDAS:
            plan = planned(n, sigma, lam)
            assert compared(plan, np.array([-32768, 32767, -32768][:n])).mismatches == 0


def error_of(plan: Plan, sigma: float, seed: int) -> float:
    """Return the relative error of alpha for random targets, compared with float64."""
    n, lam = plan.sizes["n"], float(plan.options["lambda"])
    y = 2 * np.random.default_rng(seed).integers(-16384, 16384, n)  # y has one bit less
    model = open_model(plan)
    model.train(None, y)
    state = model.state()
    lsb = float(plan.signals["alpha"].format.lsb) * 2.0 ** int(state["alpha_exp"][0])
    r = np.exp(-np.arange(n) / sigma)
    r[0] += lam
    exact = scipy.linalg.solve_toeplitz(r, y / 2.0**15)
    return float(np.linalg.norm(state["alpha"] * lsb - exact) / np.linalg.norm(exact))


@pytest.mark.parametrize("word", [16, 24])
@pytest.mark.parametrize(("sigma", "lam"), [(0.3, 0.1), (3.0, 1e-3), (3.0, 0.1), (3.0, 10.0), (8.0, 0.1)])
def test_the_error_is_not_above_that_of_a_table_of_columns(word: int, sigma: float, lam: float) -> None:
    plans = [planned(400, sigma, lam, word, factor=factor) for factor in ("geometric", "columns")]
    own, other = (np.mean([error_of(plan, sigma, seed) for seed in range(6)]) for plan in plans)
    assert own <= 1.02 * other


@pytest.mark.parametrize("sigma", SIGMAS)
@pytest.mark.parametrize("lam", LAMBDAS)
def test_the_error_at_the_extremes_is_that_of_the_rounding_of_alpha(sigma: float, lam: float) -> None:
    for word, limit in ((16, 5e-4), (24, 2e-6), (32, 3e-7)):
        assert error_of(planned(500, sigma, lam, word), sigma, 1) < limit
