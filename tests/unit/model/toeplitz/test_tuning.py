"""Self-tuning in words: the evidence against float64, the choice, and its refusals."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.linalg

from kerncast.sim.candidates import NO_EVIDENCE, candidate_pairs, candidate_plan
from kerncast.sim.diagnostics.simulate import simulate
from kerncast.sim.errors import KerncastError
from kerncast.sim.fxp_model import open_fxp_model
from kerncast.sim.model import open_model
from kerncast.sim.model.statuses import INACCURATE, NO_CANDIDATE, OK
from kerncast.sim.model.toeplitz.tuning import log2
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec

PAIRS = [[6.0, 0.1], [1.5, 0.3], [8.0, 0.02], [3.0, 1.0]]


def spec_of(word: int = 16, n: int = 128, sigma: float = 3.0, lam: float = 0.1,
            candidates: list[list[float]] | None = None, **more: object) -> Spec:
    return Spec(model={"name": "t", "algorithm": "toeplitz_rls"}, input={"word": "u16f0"},
                output={"word": "s16f0"}, kernel={"sigma": sigma}, numbers={"word": word},
                toeplitz={"n": n, "lambda": lam, "scheme": "uniform", "solver": "banded",
                          "candidates": candidates, **more})


def tuned(word: int = 16, **more: object) -> Plan:
    return make_plan(spec_of(word, candidates=PAIRS, **more))


def signal(sigma: float, lam: float, n: int = 128, seed: int = 3) -> np.ndarray:
    """A draw from the Gaussian process of a pair, in ADC counts."""
    rng = np.random.default_rng(seed)
    r = np.exp(-np.arange(n) ** 2 / (2 * sigma**2))
    r[0] += lam
    y = np.linalg.cholesky(scipy.linalg.toeplitz(r)) @ rng.standard_normal(n)
    return np.clip(np.rint(6000 * y), -32767, 32767).astype(np.int64)


def exact_evidence(plan: Plan, y: np.ndarray) -> np.ndarray:
    """``n log2 y'A^-1 y + log2 det A`` by Cholesky's factor of the whole matrix."""
    found = []
    for sigma, lam in candidate_pairs(plan):
        r = np.exp(-np.arange(len(y)) ** 2 / (2 * float(sigma) ** 2))
        r[0] += float(lam)
        L = np.linalg.cholesky(scipy.linalg.toeplitz(r))
        z = np.linalg.solve(L, y)
        found.append(len(y) * np.log2(z @ z) + 2 * np.log2(np.diag(L)).sum())
    return np.array(found)


@pytest.mark.parametrize("v", [1, 2, 3, 1000, 2**31 - 1, 2**40 + 12345, 2**61 - 1])
def test_the_logarithm_is_within_two_of_its_last_bits(v: int) -> None:
    assert -2 <= log2(v) - math.log2(v) * 2**24 <= 0


@pytest.mark.parametrize(("word", "most"), [(16, 0.1), (24, 2e-3), (32, 2e-5)])
def test_differences_of_evidence_are_those_of_float64(word: int, most: float) -> None:
    plan, y = tuned(word), signal(6.0, 0.1)
    model = open_model(plan)
    model.train(None, y)
    words = model.workspace()["evidence"] / 2**24
    error = words - exact_evidence(plan, y)
    assert np.ptp(error) < most


@pytest.mark.parametrize("k", range(5))
def test_the_pair_that_made_the_signal_is_trained_as_if_it_was_the_only_one(k: int) -> None:
    plan = tuned()
    sigma, lam = (float(v) for v in candidate_pairs(plan)[k])
    y = signal(sigma, lam)
    model, alone = open_model(plan), open_model(make_plan(spec_of(sigma=sigma, lam=lam)))
    assert model.train(None, y)["status"][0] == alone.train(None, y)["status"][0] == OK
    assert model.state()["candidate"][0] == k
    for name in ("alpha", "alpha_exp", "bound"):
        assert np.array_equal(model.state()[name], alone.state()[name])
    x = np.arange(0, 128, 5)[:, np.newaxis]
    assert np.array_equal(model.predict(x)["f"], alone.predict(x)["f"])
    assert np.array_equal(model.fitted()["f"], alone.fitted()["f"])


def test_a_saved_state_predicts_with_the_kernel_of_its_pair() -> None:
    plan, x = tuned(), np.arange(0, 128, 3)[:, np.newaxis]
    model, other = open_model(plan), open_model(plan)
    model.train(None, signal(8.0, 0.02))
    assert model.state()["candidate"][0] == 3
    other.restore(model.save())
    assert np.array_equal(other.predict(x)["f"], model.predict(x)["f"])


def test_a_pair_whose_answer_is_not_certified_is_skipped() -> None:
    y = signal(3.0, 0.001, n=64)
    pairs = {"sigma": 3.0, "lam": 0.001, "n": 64, "tolerance": 1e-3}
    best = open_model(make_plan(spec_of(**pairs)))
    assert best.train(None, y)["status"][0] == INACCURATE
    model = open_model(make_plan(spec_of(candidates=[[2.0, 0.3]], **pairs)))
    assert model.train(None, y)["status"][0] == OK
    assert model.state()["candidate"][0] == 1
    assert model.workspace()["evidence"][0] == NO_EVIDENCE


def test_a_training_without_a_certified_pair_is_refused_and_keeps_the_model() -> None:
    plan = make_plan(spec_of(sigma=1.0, lam=0.01, n=32, tolerance=1e-6, candidates=[[1.0, 0.1]]))
    y, zero = signal(1.0, 0.01, n=32), np.zeros(32, dtype=np.int64)
    assert open_fxp_model(plan).train(None, y)["status"][0] == NO_CANDIDATE
    model = open_model(plan)
    assert model.train(None, zero)["status"][0] == OK
    before = model.state()
    assert model.train(None, y)["status"][0] == NO_CANDIDATE
    assert all(np.array_equal(words, before[name]) for name, words in model.state().items())


@pytest.mark.parametrize("word", [16, 24, 32])
def test_the_second_model_has_the_same_values(word: int) -> None:
    y = signal(1.0, 0.3, n=32)
    plan = make_plan(spec_of(word, 32, 1.3, 0.01, candidates=[[1.0, 0.3], [0.5, 2.0]]))
    model, second = open_model(plan), open_fxp_model(plan)
    assert model.train(None, y)["status"] == second.train(None, y)["status"]
    x = np.arange(0, 32, 7)[:, np.newaxis]
    for name, words in model.state().items():
        assert np.array_equal(words, second.state()[name]), name
    assert np.array_equal(model.predict(x)["f"], second.predict(x)["f"])
    assert np.array_equal(model.fitted()["f"], second.fitted()["f"])


@pytest.mark.parametrize("word", [24, 32])
def test_candidates_share_the_format_of_x_of_the_smallest_sigma(word: int) -> None:
    """Alone, each sigma here gets fraction bits of x of its own."""
    plan = make_plan(spec_of(word, 32, 1.3, 0.01, candidates=[[1.0, 0.3], [0.5, 2.0]]))
    alone = make_plan(spec_of(word, 32, 0.5, 2.0))
    assert plan.integers("x_gain") == alone.integers("x_gain") > (1,)
    assert plan.integers("candidate_kernel_d2_end")[2] == alone.integer("kernel_d2_end")
    t = [c / 2.0**shift for c, shift in zip(plan.integers("candidate_kernel_c"),
                                            plan.integers("candidate_kernel_shift"), strict=True)]
    assert [t[0] / t[1], t[0] / t[2]] == pytest.approx([1 / 1.3**2, 0.25 / 1.3**2], rel=1e-6)


def test_a_candidate_without_a_band_is_named() -> None:
    with pytest.raises(KerncastError) as refused:
        make_plan(spec_of(candidates=[[40.0, 0.1]]))
    problem = refused.value.problems[0]
    assert problem.code == "E205" and "[40, 0.1]" in problem.message and "candidates" in problem.where


def test_the_plan_of_a_candidate_has_the_integers_of_the_plan_without_others() -> None:
    alone, own = make_plan(spec_of(sigma=6.0)), candidate_plan(tuned(), 1)
    assert all(own.constants[name] == value for name, value in alone.constants.items())
    assert all(own.tables[name] == table for name, table in alone.tables.items())


def test_a_simulation_reports_the_choice_and_that_of_float64() -> None:
    found = simulate(tuned(), None, signal(6.0, 0.1)).tuned
    assert found is not None and found.chosen == 1
    assert found.evidence[1] == found.float_evidence[1] == 0.0
    assert np.argmax(found.float_evidence) == 1
