"""The banded solver on random specs: exact solutions, and the same words from a second model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from kerncast.sim.backend import STATUSES, Comparison, LambdaBackend
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
    return make_plan(banded_spec(random, most))


def banded_spec(random: Random, most: int) -> Spec:
    """Draw the spec of a random banded trainer that has a plan."""
    while True:
        kind = random.choice(("gaussian", "gaussian", "laplacian", "matern32", "matern52"))
        narrower = {"laplacian": 0.2, "matern32": 0.4, "matern52": 0.5}.get(kind, 1.0)
        width = 10 ** random.uniform(-0.5, 0.6) * narrower
        try:
            drawn = Spec(
                model={"name": "band", "algorithm": "toeplitz_rls"}, input={"word": "u16f0"},
                output={"word": random.choice(("s16f15", "u12f0", "s30f4"))},
                kernel={"type": kind, "sigma": width},
                numbers={"word": random.choice((16, 24, 32)), "rounding": random.choice(ROUNDINGS)},
                toeplitz={"n": random.randint(2, most), "lam": 10 ** random.uniform(-4, 2),
                          "scheme": "uniform", "solver": "banded", "factor": "columns",
                          "tolerance": random.choice((0.5, 1e-3, 16.0)),
                          "bias": random.random() < 0.3})
            make_plan(drawn)
        except KerncastError as error:
            assert error.problems[0].code == "E205"
        else:
            return drawn


def refined_plan(random: Random, most: int) -> Plan:
    """Plan a random banded trainer with refinement."""
    while True:
        drawn = banded_spec(random, most)
        assert drawn.toeplitz is not None
        if drawn.numbers.word < 32 and not drawn.toeplitz.bias:
            more = {**drawn.toeplitz.model_dump(), "refine": random.randint(1, 3)}
            return make_plan(drawn.model_copy(update={"toeplitz": drawn.toeplitz.model_copy(update=more)}))


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


def judge(exact: ModuleType, seed: int, most: int,
          drawn: Callable[[Random, int], Plan] = banded_plan) -> str:
    """Hold a training to the exact solution of its system."""
    random = Random(seed)
    plan = drawn(random, most)
    model, y_raw = open_model(plan), targets(random, plan)
    assert isinstance(model, ToeplitzModel)
    status = int(model.train(None, y_raw)["status"][0])
    what = f"seed {seed}: {plan.options} W={plan.word} n={plan.sizes['n']} {STATUSES[status]}"
    assert status in TRAINED, what
    system = exact.toeplitz_system(model, model._targets(y_raw))
    assert system.bound is not None and system.error <= system.bound ** 2, what
    assert system.eigenvalue >= float(system.least) * (1 - 1e-9), what
    return "ok" if status == OK else "inaccurate"


def compared(seed: int, most: int, drawn: Callable[[Random, int], Plan] = banded_plan) -> Comparison:
    """Train and predict with both models; compare answers and states."""
    random = Random(seed)
    plan = drawn(random, most)
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


def test_every_refined_answer_lies_within_its_bound(exact: ModuleType) -> None:
    met = Counter(judge(exact, seed, 24, refined_plan) for seed in range(60))
    assert met["ok"] > 40


def test_a_second_model_refines_to_the_same_values(ledger: Any) -> None:
    found = [compared(seed, 20, refined_plan) for seed in range(25)]
    assert not any(each.mismatches for each in found)
    ledger.record(backend="model:fxpmath", words=sum(each.words for each in found), mismatches=0,
                  case="toeplitz, banded, refined")


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


def several(seed: int, most: int) -> tuple[Spec, Plan, np.ndarray[Any, np.dtype[np.int64]]]:
    """Draw a random trainer, its plan with two to five outputs, and their targets (n, C)."""
    random = Random(seed)
    spec = banded_spec(random, most)
    plan = make_plan(spec.model_copy(update={
        "output": spec.output.model_copy(update={"outputs": random.randint(2, 5)})}))
    return spec, plan, np.stack([targets(random, plan) for _ in range(plan.outputs)], axis=1)


@pytest.mark.parametrize("seed", range(10))
def test_each_of_several_outputs_has_the_values_of_a_single_one(seed: int) -> None:
    """The exponent alone is shared: the largest, to which the other coefficients are rounded."""
    spec, plan, y = several(seed, 40)
    every, alone = open_model(plan), open_model(make_plan(spec))
    status = int(every.train(None, y)["status"][0])
    state, n, exponents = every.state(), plan.sizes["n"], []
    assert status in TRAINED
    for output, alpha in enumerate(state["alpha"].reshape(-1, n)):
        alone.train(None, y[:, output])
        own = alone.state()
        exponents.append(int(own["alpha_exp"][0]))
        shift = int(state["alpha_exp"][0]) - exponents[-1]
        assert np.array_equal(alpha, (own["alpha"] + (1 << shift >> 1)) >> shift)
        if plan.bias:
            assert state["bias"][output] == own["bias"][0]
    assert state["alpha_exp"][0] == max(exponents)


def test_several_outputs_lie_together_within_their_bound(exact: ModuleType) -> None:
    """Judged by the exact solution of each output, for the sum of their squared errors."""
    met = Counter(judge_several(exact, seed) for seed in range(60))
    assert met["ok"] > 30


def judge_several(exact: ModuleType, seed: int) -> str:
    """Compare the error of all outputs together with the certified bound."""
    spec, plan, y = several(seed, 20)
    every, one = open_model(plan), make_plan(spec)
    assert isinstance(every, ToeplitzModel)
    status, state = int(every.train(None, y)["status"][0]), every.state()
    assert status in TRAINED, seed
    error, n, bound = 0, plan.sizes["n"], None
    for output in range(plan.outputs):
        model = open_model(one)
        assert isinstance(model, ToeplitzModel)
        model.train(None, y[:, output])  # then the coefficients are those of the model with all outputs
        own = {"alpha": state["alpha"].reshape(-1, n)[output], "alpha_exp": state["alpha_exp"],
               "bound": state["bound"], "trained": state["trained"]}
        own |= {"bias": state["bias"][output: output + 1]} if plan.bias else {}
        model.load(own)
        system = exact.toeplitz_system(model, model._targets(y[:, output]))
        error, bound = error + system.error, system.bound
    assert bound is not None and error <= bound ** 2, seed
    return "ok" if status == OK else "inaccurate"


def test_a_second_model_computes_the_same_values_of_several_outputs(ledger: Any) -> None:
    found = Comparison()
    for seed in range(12):
        _, plan, y = several(seed, 20)
        model, second = open_model(plan), open_fxp_model(plan)
        found.add(f"train {seed}", model.train(None, y), second.train(None, y))
        found.add(f"state {seed}", model.state(), second.state())
        x = np.array([[0], [plan.sizes["n"] // 2], [60000]])
        found.add(f"predict {seed}", model.predict(x), second.predict(x))
    assert found.mismatches == 0, found.first
    ledger.record(backend="model:fxpmath", words=found.words, mismatches=0, case="toeplitz, several outputs")


def ranged_plan(random: Random, most: int, word: int) -> Plan:
    """Plan a random banded trainer whose lambda can change at run time."""
    while True:
        drawn = banded_spec(random, most)
        assert drawn.toeplitz is not None
        lo = drawn.toeplitz.lam
        more = {**drawn.toeplitz.model_dump(), "bias": False,
                "lambda_range": [lo, lo * 10 ** random.uniform(0.1, 2)]}
        try:
            return make_plan(drawn.model_copy(update={
                "toeplitz": drawn.toeplitz.model_validate(more),
                "numbers": drawn.numbers.model_copy(update={"word": word})}))
        except KerncastError as error:
            assert error.problems[0].code == "E205"


def judge_at_lambda(exact: ModuleType, seed: int, most: int) -> str:
    """Hold a training with a lambda of the range to the exact solution of its system."""
    random = Random(seed)
    plan = ranged_plan(random, most, random.choice((16, 24, 32)))
    model, y_raw = open_model(plan), targets(random, plan)
    lo, hi = plan.integer("lambda_lo"), plan.integer("lambda_hi")
    lam = random.choice((lo, hi, int(lo * (hi / lo) ** random.random())))
    assert isinstance(model, ToeplitzModel)
    status = int(model.train_with(lam, None, y_raw)["status"][0])
    what = f"seed {seed}: {plan.options} W={plan.word} n={plan.sizes['n']} {lam} {STATUSES[status]}"
    assert status in TRAINED, what
    system = exact.toeplitz_system(model, model._targets(y_raw))
    assert system.bound is not None and system.error <= system.bound ** 2, what
    assert system.eigenvalue >= float(system.least) * (1 - 1e-9), what
    return "ok" if status == OK else "inaccurate"


def test_every_answer_for_a_run_time_lambda_lies_within_its_bound(exact: ModuleType) -> None:
    met = Counter(judge_at_lambda(exact, seed, 24) for seed in range(150))
    assert met["ok"] > 100 and met["inaccurate"] > 2


@pytest.mark.campaign
def test_ten_thousand_answers_for_run_time_lambdas_lie_within_bounds(exact: ModuleType) -> None:
    assert sum(Counter(judge_at_lambda(exact, seed, 24) for seed in range(1000, 11000)).values()) == 10_000


def compared_at_lambdas(seed: int, most: int, word: int) -> Comparison:
    """Train both models with the ends of the range, a lambda between them, and the one of the plan."""
    random, found = Random(seed), Comparison()
    plan = ranged_plan(random, most, word)
    model, second, lo, hi = open_model(plan), open_fxp_model(plan), *map(plan.integer, (
        "lambda_lo", "lambda_hi"))
    assert isinstance(model, LambdaBackend) and isinstance(second, LambdaBackend)
    x = np.array([[0], [plan.sizes["n"] // 2], [60000]])
    for lam in (lo, hi, random.randint(lo, hi), hi + 1, None):
        y_raw = targets(random, plan)
        each = [other.train(None, y_raw) if lam is None else other.train_with(lam, None, y_raw)
                for other in (model, second)]
        found.add(f"train {lam}", *each)
        found.add(f"state {lam}", model.state(), second.state())
        found.add(f"predict {lam}", model.predict(x), second.predict(x))
        if plan.fits:
            found.add(f"fitted {lam}", model.fitted(), second.fitted())
    return found


@pytest.mark.parametrize("word", [16, 24, 32])
def test_a_second_model_computes_the_same_values_with_lambda_at_run_time(ledger: Any, word: int) -> None:
    words = 0
    for seed in range(12):
        found = compared_at_lambdas(seed, 20, word)
        assert found.mismatches == 0, f"seed {seed}: {found.first}"
        words += found.words
    ledger.record(backend="model:fxpmath", words=words, mismatches=0,
                  case=f"toeplitz, lambda at run time, {word} bits")
