"""Every signal says who decided its range; no run exceeds a bound; sentences explain it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kerncast.sim.diagnostics.observed import why
from kerncast.sim.diagnostics.simulate import observe
from kerncast.sim.errors import KerncastError
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.planner.evidence import exponents
from kerncast.sim.spec import Spec

KEYS = {"rms", "rounding", "decided_by", "bound", "range", "seen", "headroom_bits", "exponent", "overlap"}


def trainer(n: int = 32, lam: float = 0.1, word: int = 16, scheme: str = "uniform", sigma: float = 2.0,
            **more: Any) -> Spec:
    return Spec(model={"name": "why", "algorithm": "toeplitz_rls"}, input={"word": "s10f0"},
                output={"word": "s12f0", "offset": 100}, kernel={"sigma": sigma},
                toeplitz={"n": n, "lambda": lam, "scheme": scheme, **more}, numbers={"word": word})


def learner(**numbers: Any) -> Spec:
    return Spec(model={"name": "why", "algorithm": "kernel_lms"}, input={"word": "s8f0", "columns": 2},
                output={"word": "s12f0"}, kernel={"sigma": 30.0}, online={"budget": 10, "eta": 0.4},
                numbers=numbers)


def run(spec: Spec, seed: int = 0) -> Plan:
    """The plan with what a run at the rails has seen."""
    random, count = np.random.default_rng(seed), 32 if spec.toeplitz is None else spec.toeplitz.n
    x = None if spec.toeplitz is not None and spec.toeplitz.scheme == "uniform" else \
        random.integers(-128, 128, (count, spec.input.columns))
    y = random.choice([-2048, 2047], count)
    return observe(make_plan(spec, None if x is None else x, y), x, y)


@settings(max_examples=30, deadline=None)
@given(st.sampled_from([16, 32]), st.sampled_from(["uniform", "diagonal_mean_biased"]),
       st.sampled_from([2, 7, 40]), st.floats(0.01, 4), st.floats(0.3, 4), st.integers(0, 2**31))
def test_no_run_of_a_trainer_exceeds_an_analytic_bound(
        word: int, scheme: str, n: int, lam: float, sigma: float, seed: int) -> None:
    plan = run(trainer(n, lam, word, scheme, sigma), seed)
    for name, entry in plan.evidence.items():
        if name != "spec" and entry["decided_by"] == "analytic" and entry["seen"] is not None:
            assert entry["seen"] <= entry["bound"] * (1 + 2.0**-6), name


@settings(max_examples=20, deadline=None)
@given(st.sampled_from([16, 32]), st.integers(0, 2**31))
def test_no_run_of_a_learner_exceeds_an_analytic_bound(word: int, seed: int) -> None:
    plan = run(learner(word=word), seed)
    for name, entry in plan.evidence.items():
        if name != "spec" and entry["decided_by"] == "analytic" and entry["seen"] is not None:
            assert entry["seen"] <= entry["bound"], name


@pytest.mark.parametrize("spec", [trainer(), trainer(scheme="diagonal_mean"), learner()])
def test_every_signal_has_evidence_of_one_form(spec: Spec) -> None:
    plan = run(spec)
    assert set(plan.signals) == set(plan.evidence) - {"spec"}
    for name in plan.signals:
        entry = plan.evidence[name]
        assert set(entry) <= KEYS and {"bound", "range"} & set(entry), name
        assert entry["decided_by"] in ("analytic", "design", "simulated", "spec", "format")
        assert (entry["seen"] is None) == (entry["headroom_bits"] is None) or entry["seen"] == 0
    for name in ("x", "y", "f", "kernel", "accumulator", "alpha"):
        assert plan.evidence[name]["seen"] is not None or name == "x"


def test_headroom_is_the_format_s_range_over_the_observed_one() -> None:
    plan = run(learner(ranges={"alpha": 8.0}))
    entry = plan.evidence["alpha"]
    assert entry["headroom_bits"] == pytest.approx(np.log2(8.0 / entry["seen"]), abs=1e-3)


def test_a_run_changes_no_decision() -> None:
    assert run(trainer()).hash == make_plan(trainer()).hash


@pytest.mark.parametrize(("numbers", "decided_by"), [
    ({"formats": {"alpha": "s16f10"}}, "spec"), ({"ranges": {"alpha": 3.0}}, "design"), ({}, "simulated")])
def test_why_names_who_decided_and_what_was_seen(numbers: dict[str, Any], decided_by: str) -> None:
    plan = run(learner(**numbers))
    assert plan.evidence["alpha"]["decided_by"] == decided_by
    text = why(plan, "alpha")
    assert {"spec": "the spec", "design": "design range", "simulated": "run of the integer model"}[
        decided_by] in text
    assert "bits of headroom" in text and str(plan.signals["alpha"].format) in text
    assert "saturates" in text and "wraps" in why(run(learner(overflow="wrap")), "f")


def test_why_without_data_names_the_missing_evidence() -> None:
    assert "[data]" in why(make_plan(learner()), "alpha")


def test_why_of_an_unknown_signal_lists_the_signals() -> None:
    with pytest.raises(KerncastError, match="E119"):
        why(make_plan(learner()), "beta")


def test_observed_and_possible_ranges_of_a_block_state_their_exponents() -> None:
    plan = run(trainer(lam=0.01))
    for name in ("a", "alpha"):
        entry, limits = plan.evidence[name], exponents(plan, name)
        assert limits is not None and limits[0] <= entry["exponent"] <= limits[1]
        fmt = plan.signals[name].format
        assert entry["seen"] <= float(fmt.value(fmt.hi)) * 2.0 ** entry["exponent"]
        assert entry["headroom_bits"] >= limits[1] - entry["exponent"]
        text = why(plan, name)
        assert f"from {limits[0]} (full scale" in text and f"to {limits[1]} (full scale" in text
        assert f"at exponent {entry['exponent']}" in text
    assert "exponent" not in plan.evidence["r"] and exponents(plan, "r") is None


def test_a_fixed_exponent_is_described_as_fixed() -> None:
    plan = run(trainer(scaling="static"))
    assert exponents(plan, "alpha") == (plan.evidence["alpha"]["exponent"],) * 2
    assert "share the fixed exponent" in why(plan, "alpha")
    assert plan.evidence["alpha"]["headroom_bits"] < 2


def test_a_block_that_follows_its_values_has_no_range_and_no_headroom() -> None:
    spec = Spec(model={"name": "why", "algorithm": "kernel_cg"}, input={"word": "u8f0"},
                output={"word": "s8f0"}, kernel={"sigma": 3.0}, cg={"n": 20, "lambda": 0.1})
    plan = observe(make_plan(spec), np.arange(20), np.arange(20) - 10)
    for name in ("r", "p"):
        assert plan.evidence[name]["seen"] is None and exponents(plan, name) is None
        assert "rises and falls with the values" in why(plan, name) and "Its range" not in why(plan, name)
    assert "its exponent was" in why(plan, "r")
