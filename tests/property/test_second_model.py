"""Two models written independently give the same words: sim/model and sim/fxp_model.

Where they differ, one of them is wrong.
"""

from __future__ import annotations

from itertools import product
from random import Random
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from kerncast.sim.backend import Comparison
from kerncast.sim.fxp_model import open_fxp_model
from kerncast.sim.fxp_model.base import RefusedError
from kerncast.sim.fxp_model.lookahead import FxpLookahead
from kerncast.sim.model import open_model
from kerncast.sim.model.statuses import BREAKDOWN, OK
from kerncast.sim.model.toeplitz.lookahead import Lookahead
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec

LAMBDAS = (-5.0, 4.0)
SAMPLES = 40
AHEAD = ({"solver": "lookahead"},)


def compare(case: Any) -> Comparison:
    """Train or learn (twice), then predict, on both; every word of the answers and of the state."""
    model, second = open_model(case.plan), open_fxp_model(case.plan)
    found = Comparison()
    if case.plan.trains:
        found.add("train", model.train(case.x_raw, case.y_raw), second.train(case.x_raw, case.y_raw))
    else:
        for _ in range(2):
            found.add("update", model.update(case.x_raw, case.y_raw),
                      second.update(case.x_raw, case.y_raw))
    found.add("state", model.state(), second.state())
    found.add("predict", model.predict(case.x_test), second.predict(case.x_test))
    return found


def toeplitz(cases: ModuleType, ledger: Any, seed: int, word: int, rounding: str, most: int,
             *variants: Any) -> None:
    case = cases.toeplitz_case(Random(seed), word, rounding, most, LAMBDAS, *variants)
    found = compare(case)
    assert found.mismatches == 0, f"{case}: {found.first}"
    ledger.record(backend="model:fxpmath", words=found.words, mismatches=0, case=f"toeplitz {word} bits")


def gradients(cases: ModuleType, ledger: Any, seed: int, word: int, rounding: str, most: int) -> None:
    case = cases.cg_case(Random(seed), word, rounding, most, LAMBDAS)
    found = compare(case)
    assert found.mismatches == 0, f"{case}: {found.first}"
    ledger.record(backend="model:fxpmath", words=found.words, mismatches=0, case=f"cg {word} bits")


def online(cases: ModuleType, ledger: Any, seed: int, word: int, rounding: str) -> None:
    case = cases.online_case(Random(seed), word, rounding, SAMPLES)
    found = compare(case)
    assert found.mismatches == 0, f"{case}: {found.first}"
    ledger.record(backend="model:fxpmath", words=found.words, mismatches=0, case=f"fklms {word} bits")


@pytest.mark.covering(("word", "rounding"), seed=lambda _: ())
@pytest.mark.parametrize("rounding", ["floor", "half_up", "half_even"])
@pytest.mark.parametrize("word", [16, 24, 32])
@pytest.mark.parametrize("seed", range(5))
def test_both_models_train_to_the_same_values(
        cases: ModuleType, ledger: Any, seed: int, word: int, rounding: str) -> None:
    toeplitz(cases, ledger, seed, word, rounding, 16)


@pytest.mark.covering(("word", "rounding"), seed=lambda _: ())
@pytest.mark.parametrize("rounding", ["floor", "half_up", "half_even"])
@pytest.mark.parametrize("word", [16, 24, 32])
@pytest.mark.parametrize("seed", range(4))
def test_both_models_learn_online_to_the_same_values(
        cases: ModuleType, ledger: Any, seed: int, word: int, rounding: str) -> None:
    """Budgets 2 to 8, streams dense enough for duplicates and ties, twice through."""
    online(cases, ledger, seed, word, rounding)


@pytest.mark.covering(("word", "rounding"), seed=lambda _: ())
@pytest.mark.parametrize("rounding", ["floor", "half_up", "half_even"])
@pytest.mark.parametrize("word", [16, 24, 32])
@pytest.mark.parametrize("seed", range(2))
def test_both_models_descend_to_the_same_coefficients(
        cases: ModuleType, ledger: Any, seed: int, word: int, rounding: str) -> None:
    """Online kernel RLS: 2 to 12 cosines, forgetting from 0.6 to 0.99999, up to 70 steps per sample."""
    case = cases.rls_case(Random(seed), word, rounding, SAMPLES)
    found = compare(case)
    assert found.mismatches == 0, f"{case}: {found.first}"
    ledger.record(backend="model:fxpmath", words=found.words, mismatches=0, case=f"rls {word} bits")


@pytest.mark.covering(("word", "rounding"), seed=lambda _: ())
@pytest.mark.parametrize("rounding", ["floor", "half_up", "half_even"])
@pytest.mark.parametrize("word", [16, 24, 32])
@pytest.mark.parametrize("seed", range(5))
def test_both_models_take_the_same_steps_of_conjugate_gradients(
        cases: ModuleType, ledger: Any, seed: int, word: int, rounding: str) -> None:
    """Duplicates and lambda from 1e-5 up: near singular systems too."""
    gradients(cases, ledger, seed, word, rounding, 16)


@pytest.mark.parametrize("rounding", ["floor", "half_up", "half_even"])
@pytest.mark.parametrize("word", [16, 24, 32])
def test_both_models_look_ahead_to_the_same_values(
        cases: ModuleType, ledger: Any, word: int, rounding: str) -> None:
    toeplitz(cases, ledger, 7, word, rounding, 12, AHEAD)


def looked_ahead(cases: ModuleType, random: Random, most: int) -> tuple[int, int, int, list[str]]:
    """Status, largest block, words and members that differ of a system with r_0 = 1 that may be singular."""
    r, y = cases.indefinite_system(random, most)
    n = len(r)
    plan = make_plan(Spec(model={"name": "t", "algorithm": "toeplitz_rls"}, input={"word": "u8f0"},
                          output={"word": "s8f0"}, kernel={"sigma": 2.0}, numbers={"word": 32},
                          toeplitz={"n": n, "lambda": 0.1, "scheme": "uniform", "solver": "lookahead"}))
    model, second, status = Lookahead(n), FxpLookahead(plan, r, y), OK
    found, _, exponent = model.solve(2**31, r, y, 1)
    try:
        second.solve()
    except RefusedError:
        status = BREAKDOWN
    members = model.fields()
    wrong = [name for name, words in members.items()
             if np.ravel(getattr(second, name)).tolist() != words.ravel().tolist()]
    wrong += ["status"] * (status != found) + ["exponent"] * (second.x.exponent != exponent)
    return status, int(members["blocks"].max()), sum(words.size for words in members.values()), wrong


def test_both_models_step_over_the_same_singular_blocks(cases: ModuleType, ledger: Any) -> None:
    """Every member of the work space, at a breakdown too."""
    met, words = set(), 0
    for seed in range(40):
        status, block, count, wrong = looked_ahead(cases, Random(seed), 10)
        assert not wrong, f"seed {seed}: {wrong}"
        met.add((status, block > 1))
        words += count
    assert met == set(product((OK, BREAKDOWN), (False, True)))
    ledger.record(backend="model:fxpmath", words=words, mismatches=0, case="look-ahead over singular blocks")


@pytest.mark.campaign
def test_both_models_step_over_many_more_singular_blocks(cases: ModuleType, ledger: Any) -> None:
    found = {seed: looked_ahead(cases, Random(seed), 32) for seed in range(1000, 1400)}
    assert not {seed: wrong for seed, (*_, wrong) in found.items() if wrong}
    ledger.record(backend="model:fxpmath", words=sum(count for _, _, count, _ in found.values()),
                  mismatches=0, case="look-ahead over singular blocks")


@pytest.mark.campaign
@pytest.mark.parametrize("word", [16, 24, 32])
@pytest.mark.parametrize("seed", range(1000, 1200))
def test_both_models_agree_on_many_more_cases(
        cases: ModuleType, ledger: Any, seed: int, word: int) -> None:
    rounding = cases.ROUNDINGS[seed % 3]
    toeplitz(cases, ledger, seed, word, rounding, 32)
    toeplitz(cases, ledger, seed, word, rounding, 32, AHEAD)
    gradients(cases, ledger, seed, word, rounding, 32)
    online(cases, ledger, seed, word, rounding)
