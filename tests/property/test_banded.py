"""The banded solver on random specs: exact solutions, and the same words from a second model."""

from __future__ import annotations

from collections import Counter
from random import Random
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from kerncast.sim.backend import STATUSES, Comparison
from kerncast.sim.errors import KerncastError
from kerncast.sim.fxp_model import open_fxp_model
from kerncast.sim.model import open_model
from kerncast.sim.model.statuses import OK, TRAINED
from kerncast.sim.model.toeplitz.trainer import ToeplitzModel
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec

ROUNDINGS = ("floor", "half_up", "half_even")


def banded_plan(random: Random, most: int) -> Plan:
    """Plan a random banded trainer: all its kernels, narrow and wide, lambda from 1e-4 to 100."""
    while True:
        kind = random.choice(("gaussian", "gaussian", "laplacian", "matern32", "matern52"))
        narrower = {"laplacian": 0.2, "matern32": 0.4, "matern52": 0.5}.get(kind, 1.0)
        width = 10 ** random.uniform(-0.5, 0.6) * narrower
        try:
            return make_plan(Spec(
                model={"name": "band", "algorithm": "toeplitz_rls"}, input={"word": "u16f0"},
                output={"word": random.choice(("s16f15", "u12f0", "s30f4"))},
                kernel={"type": kind, "sigma": width},
                numbers={"word": random.choice((16, 24, 32)), "rounding": random.choice(ROUNDINGS)},
                toeplitz={"n": random.randint(2, most), "lam": 10 ** random.uniform(-4, 2),
                          "scheme": "uniform", "solver": "banded",
                          "tolerance": random.choice((0.5, 1e-3, 16.0)),
                          "bias": random.random() < 0.3}))
        except KerncastError as error:
            assert error.problems[0].code == "E205"


def targets(random: Random, plan: Plan) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Draw rails, noise, a walk, a constant, or silence."""
    fmt, n = plan.signals["y_raw"].format, plan.sizes["n"]
    rng = np.random.default_rng(random.getrandbits(32))
    walk = np.cumsum(rng.normal(size=n))
    drawn = {"rails": rng.choice((fmt.lo, fmt.hi), n), "noise": rng.integers(fmt.lo, fmt.hi, n),
             "walk": np.rint(walk / abs(walk).max() * fmt.hi), "constant": np.full(n, fmt.hi),
             "quiet": rng.integers(0, 4, n), "silence": np.zeros(n)}[random.choice(
                 ("rails", "noise", "walk", "constant", "quiet", "silence"))]
    return np.clip(drawn, fmt.lo, fmt.hi).astype(np.int64)


def judge(exact: ModuleType, seed: int, most: int) -> str:
    """Hold a training to the exact solution of its system."""
    random = Random(seed)
    plan = banded_plan(random, most)
    model, y_raw = open_model(plan), targets(random, plan)
    assert isinstance(model, ToeplitzModel)
    status = int(model.train(None, y_raw)["status"][0])
    what = f"seed {seed}: {plan.options} W={plan.word} n={plan.sizes['n']} {STATUSES[status]}"
    assert status in TRAINED, what
    system = exact.toeplitz_system(model, model._targets(y_raw))
    assert system.bound is not None and system.error <= system.bound ** 2, what
    assert system.eigenvalue >= float(system.least) * (1 - 1e-9), what
    return "ok" if status == OK else "inaccurate"


def compared(seed: int, most: int) -> Comparison:
    """Train and predict with both models; compare answers and states."""
    random = Random(seed)
    plan = banded_plan(random, most)
    model, second, found = open_model(plan), open_fxp_model(plan), Comparison()
    y_raw = targets(random, plan)
    found.add("train", model.train(None, y_raw), second.train(None, y_raw))
    found.add("state", model.state(), second.state())
    x = np.array([[0], [plan.sizes["n"] // 2], [60000]])
    found.add("predict", model.predict(x), second.predict(x))
    return found


def test_every_answer_lies_within_its_bound_of_the_exact_solution(exact: ModuleType) -> None:
    met = Counter(judge(exact, seed, 24) for seed in range(300))
    assert met["ok"] > 200 and met["inaccurate"] > 5


@pytest.mark.campaign
def test_ten_thousand_answers_lie_within_their_bounds(exact: ModuleType) -> None:
    assert sum(Counter(judge(exact, seed, 24) for seed in range(1000, 11000)).values()) == 10_000


def test_a_second_model_computes_the_same_values(ledger: Any) -> None:
    words = 0
    for seed in range(60):
        found = compared(seed, 20)
        assert found.mismatches == 0, f"seed {seed}: {found.first}"
        words += found.words
    ledger.record(backend="model:fxpmath", words=words, mismatches=0, case="toeplitz, banded")


@pytest.mark.campaign
def test_a_second_model_computes_the_same_values_of_many_more(ledger: Any) -> None:
    found = [compared(seed, 32) for seed in range(1000, 3000)]
    assert not any(each.mismatches for each in found)
    ledger.record(backend="model:fxpmath", words=sum(each.words for each in found), mismatches=0,
                  case="toeplitz, banded")
