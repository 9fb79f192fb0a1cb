"""Two models written independently give the same words: sim/model and sim/fxp_model.

Where they differ, one of them is wrong.
"""

from __future__ import annotations

from random import Random
from types import ModuleType
from typing import Any

import pytest

from kerncast.sim.backend import Comparison
from kerncast.sim.fxp_model import open_fxp_model
from kerncast.sim.model import open_model

LAMBDAS = (-5.0, 4.0)
SAMPLES = 40


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


def toeplitz(cases: ModuleType, ledger: Any, seed: int, word: int, rounding: str, most: int) -> None:
    case = cases.toeplitz_case(Random(seed), word, rounding, most, LAMBDAS)
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


@pytest.mark.parametrize("rounding", ["floor", "half_up", "half_even"])
@pytest.mark.parametrize("word", [16, 24, 32])
@pytest.mark.parametrize("seed", range(5))
def test_both_models_train_to_the_same_words(
        cases: ModuleType, ledger: Any, seed: int, word: int, rounding: str) -> None:
    toeplitz(cases, ledger, seed, word, rounding, 16)


@pytest.mark.parametrize("rounding", ["floor", "half_up", "half_even"])
@pytest.mark.parametrize("word", [16, 24, 32])
@pytest.mark.parametrize("seed", range(4))
def test_both_models_learn_online_to_the_same_words(
        cases: ModuleType, ledger: Any, seed: int, word: int, rounding: str) -> None:
    """Budgets 2 to 8, streams dense enough for duplicates and ties, twice through."""
    online(cases, ledger, seed, word, rounding)


@pytest.mark.parametrize("rounding", ["floor", "half_up", "half_even"])
@pytest.mark.parametrize("word", [16, 24, 32])
@pytest.mark.parametrize("seed", range(5))
def test_both_models_take_the_same_steps_of_conjugate_gradients(
        cases: ModuleType, ledger: Any, seed: int, word: int, rounding: str) -> None:
    """Duplicates and lambda from 1e-5 up: near singular systems too."""
    gradients(cases, ledger, seed, word, rounding, 16)


@pytest.mark.campaign
@pytest.mark.parametrize("word", [16, 24, 32])
@pytest.mark.parametrize("seed", range(1000, 1200))
def test_both_models_agree_on_many_more_cases(
        cases: ModuleType, ledger: Any, seed: int, word: int) -> None:
    rounding = cases.ROUNDINGS[seed % 3]
    toeplitz(cases, ledger, seed, word, rounding, 32)
    gradients(cases, ledger, seed, word, rounding, 32)
    online(cases, ledger, seed, word, rounding)
