"""Schur and look-ahead on words: accuracy against float64, and the systems that plain Levinson refuses."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

from kerncast.sim.errors import KerncastError
from kerncast.sim.model import open_model
from kerncast.sim.model.statuses import BREAKDOWN, INACCURATE, NOT_POSITIVE_DEFINITE, OK
from kerncast.sim.model.toeplitz.lookahead import Lookahead
from kerncast.sim.model.toeplitz.lookahead_f32 import BLOCK
from kerncast.sim.model.toeplitz.lookahead_f32 import Lookahead as LookaheadF32
from kerncast.sim.model.toeplitz.trainer import ToeplitzModel
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.reference.toeplitz.lookahead import lookahead
from kerncast.sim.spec import Spec


def plan_of(solver: str, word: int, n: int = 64, sigma: float = 3.0, lam: float = 0.01,
            **more: object) -> Plan:
    return make_plan(Spec(
        model={"name": "t", "algorithm": "toeplitz_rls"}, input={"word": "u16f0"}, output={"word": "s16f0"},
        kernel={"sigma": sigma}, numbers={"word": word},
        toeplitz={"n": n, "lambda": lam, "scheme": "uniform", "solver": solver, **more}))


def error(solver: str, word: int, sigma: float, lam: float) -> float:
    """Relative error of alpha on a grid against float64."""
    n = 64
    model = open_model(plan_of(solver, word, n, sigma, lam))
    assert isinstance(model, ToeplitzModel)
    y = np.random.default_rng(2).integers(-32767, 32767, n)
    model.train(None, y)
    k = np.exp(-0.5 * (np.arange(n) / sigma) ** 2)
    exact = scipy.linalg.solve_toeplitz(np.where(np.arange(n) == 0, k + lam, k), y)
    state, lsb = model.state(), float(model.plan.signals["alpha"].format.lsb)
    alpha = state["alpha"] * lsb * 2.0 ** (int(state["alpha_exp"][0]) + 15)  # in full scales of y
    return float(np.linalg.norm(alpha - exact) / np.linalg.norm(exact))


def test_schur_loses_less_than_levinson_where_t_is_badly_conditioned() -> None:
    """Sigma 10 samples, lambda .01: long words of p, q and s keep what 16 bits of r and y allow."""
    assert error("schur", 16, 10.0, 0.01) < 0.5 * error("levinson", 16, 10.0, 0.01)
    assert error("schur", 24, 10.0, 0.01) < 0.5 * error("levinson", 24, 10.0, 0.01)


@pytest.mark.parametrize(("word", "tolerance"), [(16, 1.5e-3), (24, 1e-5), (32, 1e-7)])
def test_schur_is_as_exact_as_its_word_length(word: int, tolerance: float) -> None:
    assert error("schur", word, 3.0, 0.1) < tolerance


@pytest.mark.parametrize("key", [{"scaling": "static"}, {"refine": 2}, {"bias": True}])
@pytest.mark.parametrize("solver", ["schur", "lookahead", "lookahead_f32"])
def test_what_belongs_to_levinson_is_refused_with_other_solvers(solver: str, key: dict[str, object]) -> None:
    with pytest.raises(KerncastError) as caught:
        plan_of(solver, 16, **key)
    problem = caught.value.problems[0]
    assert problem.code == "E113" and solver in problem.message and "levinson" in problem.remedy


def test_lookahead_solves_what_levinson_refuses_without_stating_a_bound() -> None:
    rng = np.random.default_rng(0)
    x, y, statuses = rng.integers(0, 256, (40, 2)), rng.integers(-128, 128, 40), {}
    for solver in ("levinson", "schur", "lookahead", "lookahead_f32"):
        plan = make_plan(Spec(
            model={"name": "t", "algorithm": "toeplitz_rls"}, input={"word": "u8f0", "columns": 2},
            output={"word": "s8f0"}, kernel={"sigma": 100.0},
            toeplitz={"n": 40, "lambda": 1e-3, "scheme": "diagonal_mean", "solver": solver}))
        model = open_model(plan)
        statuses[solver] = int(model.train(x, y)["status"][0])
        if solver.startswith("lookahead"):
            assert model.state()["bound"][0] == plan.integer("no_bound") and model.state()["trained"][0]
            assert model.workspace()["blocks"].sum() == 40 and not model.workspace()["positive"][0]
    assert statuses == {"levinson": NOT_POSITIVE_DEFINITE, "schur": NOT_POSITIVE_DEFINITE,
                        "lookahead": INACCURATE, "lookahead_f32": INACCURATE}


def named_rows(n: int) -> dict[str, np.ndarray]:
    """First rows with a leading minor that is 0."""
    t = np.arange(n)
    rows = {"k0 = 0": np.concatenate(([0, 1, 1, 0.3], 0.2 * 0.9 ** t[4:] * np.cos(t[4:]))),
            "third minor 0": np.where(t == 2, -0.5, 0.5**t)}
    for width, m in ((1.0, 3), (1.0, 7), (1.0, 20), (3.0, 3), (3.0, 7)):
        gauss = np.exp(-0.5 * (t / width) ** 2)
        values = np.linalg.eigvalsh(scipy.linalg.toeplitz(gauss[:m]))
        rows[f"sigma {width}, minor {m}"] = gauss - np.where(t == 0, values[m // 2], 0.0)
    return rows


@pytest.mark.parametrize("n", [24, 96])
@pytest.mark.parametrize("name", named_rows(24))
def test_lookahead_steps_over_singular_leading_blocks_in_float32(n: int, name: str) -> None:
    """The error is what a dense solver in float32 may make: the condition number times its epsilon."""
    r = named_rows(n)[name].astype(np.float32)
    y = np.random.default_rng(n).uniform(-1, 1, n).astype(np.float32)
    T = scipy.linalg.toeplitz(r.astype(np.float64))
    exact = np.linalg.solve(T, y.astype(np.float64))
    solver = LookaheadF32(n)
    status, x = solver.solve(r, y)
    blocks = solver.fields()["blocks"]
    assert status == OK and not solver.positive
    assert blocks.sum() == n and 1 < blocks.max() <= BLOCK
    assert lookahead(r.astype(np.float64), y.astype(np.float64), BLOCK).ok
    limit = 8 * np.linalg.cond(T) * 2.0**-24
    assert np.linalg.norm(x - exact) <= limit * np.linalg.norm(exact)


def words_of(r: np.ndarray) -> np.ndarray:
    """Words s32f31 of a row, halved so that none meets its rail."""
    return np.rint(r * 2.0**30).astype(np.int64)


@pytest.mark.parametrize("n", [24, 96])
@pytest.mark.parametrize("name", named_rows(24))
def test_fixed_point_lookahead_steps_over_singular_leading_blocks(n: int, name: str) -> None:
    """Once refined, the answer is exact but for its own rounding: far below condition times 2**-32."""
    r = words_of(named_rows(n)[name])
    y = np.random.default_rng(n).integers(-(2**31), 2**31, n)
    exact = np.linalg.solve(scipy.linalg.toeplitz(r / 2.0**31), y / 2.0**31)
    solver = Lookahead(n)
    status, x, e = solver.solve(int(r[0]), r, y, 0)
    blocks = solver.fields()["blocks"]
    assert status == OK and not solver.positive
    assert blocks.sum() == n and 1 < blocks.max() <= BLOCK
    assert lookahead(r / 2.0**31, y / 2.0**31, BLOCK).ok
    assert np.linalg.norm(x * 2.0 ** (e - 31) - exact) <= 2e-9 * np.linalg.norm(exact)


@pytest.mark.parametrize("r", [np.ones(9), np.zeros(9), np.where(np.arange(9) == 4, 1.0, 0.0)])
def test_without_a_regular_fixed_point_block_the_answer_is_a_breakdown(r: np.ndarray) -> None:
    row = words_of(r)
    status, _, _ = Lookahead(9).solve(int(row[0]), row, np.arange(9), 0)
    assert status == BREAKDOWN


def test_a_positive_definite_fixed_point_system_has_single_steps() -> None:
    n = 50
    r = words_of(np.exp(-0.5 * (np.arange(n) / 3.0) ** 2))
    solver = Lookahead(n)
    status, _, _ = solver.solve(int(r[0]) + 2**24, r, np.full(n, 2**30), 0)
    assert status == OK and solver.positive and set(solver.fields()["blocks"][:n].tolist()) == {1}


@pytest.mark.parametrize(("word", "tolerance"), [(16, 1.5e-3), (24, 1e-5), (32, 4e-8)])
def test_fixed_point_lookahead_is_as_exact_as_r_y_and_alpha(word: int, tolerance: float) -> None:
    assert error("lookahead", word, 3.0, 0.1) < tolerance


def test_a_positive_definite_system_has_single_steps() -> None:
    n = 50
    r = np.exp(-0.5 * (np.arange(n) / 3.0) ** 2).astype(np.float32)
    r[0] += np.float32(0.01)
    solver = LookaheadF32(n)
    status, _ = solver.solve(r, np.ones(n, dtype=np.float32))
    assert status == OK and solver.positive and set(solver.fields()["blocks"].tolist()) == {1}


@pytest.mark.parametrize("r", [np.ones(9), np.zeros(9), np.full(9, np.nan), np.full(9, 3e38),
                               np.where(np.arange(9) == 4, 1.0, 0.0)])
def test_where_no_block_leads_on_the_answer_is_a_breakdown(r: np.ndarray) -> None:
    """The last: T's leading blocks are singular up to the fourth, so a block of five rows were needed."""
    status, _ = LookaheadF32(9).solve(r.astype(np.float32), np.arange(9, dtype=np.float32))
    assert status == BREAKDOWN
