"""The analytic bound on the multipliers of FKLMS: nothing exceeds it, and where there is none that is so."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kerncast.sim.errors import KerncastError
from kerncast.sim.model import open_model
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.planner.online.bound import _handed_over, _rates, coefficient_bound
from kerncast.sim.spec import Spec


def spec(sigma: float, eta: float, rho: float, budget: int = 8, word: int = 16, raw: str = "u8f0",
         columns: int = 1, kernel: str = "gaussian", parts: dict[str, Any] | None = None,
         **numbers: Any) -> Spec:
    return Spec(model={"name": "bound", "algorithm": "kernel_lms"}, input={"word": raw, "columns": columns},
                output={"word": "s12f0"}, kernel={"type": kernel, "sigma": sigma},
                online={"budget": budget, "eta": eta, "rho": rho, **(parts or {})},
                numbers={"word": word, **numbers})


def most_seen(plan: Plan, x: Any, y: Any) -> float:
    model = open_model(plan)
    model.update(x, y)
    return max(abs(model.ranges.lowest("alpha")), abs(model.ranges.highest("alpha")))


def worst_targets(plan: Plan, x: Any) -> Any:
    """Targets at the rail that moves f on: found by asking, sample by sample."""
    model, fmt = open_model(plan), plan.signals["y_raw"].format
    y = np.empty(len(x), dtype=np.int64)
    for i in range(len(x)):
        f = int(model.predict(x[i:i + 1])["f"][0])
        y[i] = fmt.lo if f > 0 else fmt.hi
        model.update(x[i:i + 1], y[i:i + 1])
    return y


@settings(max_examples=40, deadline=None)
@given(st.floats(0.2, 0.9), st.floats(0.05, 1.5), st.floats(0.01, 0.33), st.sampled_from([16, 32]),
       st.sampled_from(["gaussian", "laplacian", "matern32", "matern52"]),
       st.sampled_from([2, 5, 12]), st.integers(0, 2**31))
def test_no_stream_exceeds_the_bound(
        sigma: float, eta: float, rho: float, word: int, kernel: str, budget: int, seed: int) -> None:
    plan = make_plan(spec(sigma * (0.5 if kernel == "laplacian" else 1), eta, rho, budget, word,
                          kernel=kernel))
    bound = coefficient_bound(plan)
    random = np.random.default_rng(seed)
    for x in (random.integers(0, 256, (200, 1)), random.integers(0, budget + 2, (200, 1)),
              np.arange(200)[:, np.newaxis]):
        y = random.choice([-2048, 2047], 200)
        if bound is not None:
            assert most_seen(plan, x, y) <= bound
            assert most_seen(plan, x[:60], worst_targets(plan, x[:60])) <= bound


REDUCTIONS: list[dict[str, Any]] = [
    {"reduction": "nt"}, {"reduction": "at", "max_age": 20}, {"reduction": "fmklms"},
    {"reduction": "fmklms", "max_deterioration": 1e4}, {"metric": "fast_mklms", "max_deterioration": 1e4},
    {"max_deterioration": 0.99}, {"max_deterioration": 0.99, "newest_only": True},
    {"reduction": "mt", "max_deterioration": 100.0, "truncation": 10.0}]


@pytest.mark.parametrize("parts", REDUCTIONS, ids=str)
@pytest.mark.parametrize(("sigma", "eta", "rho"), [(0.4, 0.8, 0.5), (0.9, 1.2, 0.4), (2.0, 0.3, 0.2)])
def test_no_stream_exceeds_the_bound_of_any_reduction(
        parts: dict[str, Any], sigma: float, eta: float, rho: float) -> None:
    plan = make_plan(spec(sigma, eta, rho, parts=parts))
    bound = coefficient_bound(plan)
    assert (bound is not None) or (sigma > 0.5 and plan.options["projection"] == "fklms")
    random = np.random.default_rng(0)
    for x in (random.integers(0, 256, (150, 1)), random.integers(0, 10, (150, 1)),
              np.arange(150)[:, np.newaxis]):
        y = random.choice([-2048, 2047], 150)
        assert bound is None or most_seen(plan, x, y) <= bound


def test_what_is_inherited_by_none_needs_no_narrow_kernel_for_a_bound() -> None:
    assert coefficient_bound(make_plan(spec(30.0, 0.5, 0.1, parts={"reduction": "nt"}))) is not None


def test_a_bound_below_the_design_range_decides_the_format() -> None:
    plan = make_plan(spec(0.5, 0.2, 2.0))
    evidence, alpha = plan.evidence["alpha"], plan.signals["alpha"].format
    assert evidence["decided_by"] == "analytic"
    assert float(alpha.value(alpha.hi)) >= evidence["range"] * (1 - 2**-15)
    assert evidence["range"] < 4


@pytest.mark.parametrize(("eta", "rho", "budget", "word", "parts"), [
    (0.01, 1.0, 1000, 16, {"reduction": "nt"}), (0.05, 1.0, 300, 16, {"reduction": "nt"}),
    (0.01, 0.5, 1000, 32, {"reduction": "nt"}), (0.2, 2.0, 8, 16, {})])
def test_the_bound_in_the_evidence_is_that_of_the_format_that_was_chosen(
        eta: float, rho: float, budget: int, word: int, parts: dict[str, Any]) -> None:
    """A coarser word of alpha rounds more, and the bound grows."""
    plan = make_plan(spec(0.5, eta, rho, budget, word, columns=2, parts=parts))
    evidence, alpha = plan.evidence["alpha"], plan.signals["alpha"].format
    bound = coefficient_bound(plan)
    assert bound is not None
    assert evidence["bound"] == float(bound)
    assert (evidence["decided_by"] == "analytic") == (bound < 4)
    if bound < 4:
        assert evidence["range"] == float(bound) <= -float(alpha.value(alpha.lo))


def test_a_prediction_after_a_projection_may_exceed_the_coefficients() -> None:
    """With kappa > 1, f reaches kappa S, so that the error contracts where gap > eta kappa only."""
    plan = make_plan(spec(0.9, 0.02, 25.0, 8, 32))
    eta, decay = _rates(plan)
    kappa = _handed_over(plan, 7)
    bound = coefficient_bound(plan)
    gap = 1 - decay * kappa
    assert kappa > 1
    assert gap > eta * kappa
    assert bound is not None
    assert eta / (gap - eta * kappa) <= bound <= eta / (gap - eta * kappa) * (1 + Fraction(1, 1000))


def test_a_newest_vector_without_a_slot_is_projected_onto_the_dictionary() -> None:
    """A flat kernel gives the multiplier of the new vector N times, not N - 1."""
    plan = make_plan(spec(300.0, 0.02, 25.0, 4, 32, parts={"max_deterioration": 0.5, "newest_only": True}))
    eta, decay = _rates(plan)
    bound = coefficient_bound(plan)
    assert bound is not None
    tight = 4 * eta / (1 - decay - 4 * eta)
    assert tight * Fraction(99, 100) < bound < tight * Fraction(101, 100)


def test_an_input_of_few_values_is_never_removed_and_only_rho_bounds_alpha() -> None:
    assert coefficient_bound(make_plan(spec(50.0, 0.2, 0.5, budget=16, raw="u4f0"))) is not None
    assert coefficient_bound(make_plan(spec(50.0, 0.2, 0.5, budget=15, raw="u4f0"))) is None


@pytest.mark.parametrize(("sigma", "rho"), [(0.5, 0.0), (30.0, 0.1)])
def test_without_forgetting_or_with_a_wide_kernel_there_is_no_bound(sigma: float, rho: float) -> None:
    assert coefficient_bound(make_plan(spec(sigma, 0.5, rho))) is None


def test_without_a_bound_coefficients_exceed_any_design_range() -> None:
    """Nearly equal vectors: each removal hands its multiplier to all of the others."""
    plan = make_plan(spec(60.0, 1.0, 0.0, budget=32, formats={"alpha": "s16f8"}))
    x = np.resize(np.arange(100), 400)[:, np.newaxis]
    assert most_seen(plan, x, np.resize([2047, -2048], 400)) > 100


def test_a_design_range_decides_the_format() -> None:
    plan = make_plan(spec(30.0, 0.5, 0.0, ranges={"alpha": 1.5}))
    assert str(plan.signals["alpha"].format) == "s16f14"
    assert plan.evidence["alpha"]["decided_by"] == "design"


def test_a_design_range_that_the_data_exceed_is_refused() -> None:
    x, y = np.arange(50)[:, np.newaxis], np.resize([2047, -2048], 50)
    with pytest.raises(KerncastError, match="E203"):
        make_plan(spec(30.0, 0.9, 0.0, ranges={"alpha": 0.1}), x, y)


def test_a_margin_widens_a_simulated_range() -> None:
    x, y = np.arange(50)[:, np.newaxis], np.resize([2047, -2048], 50)
    narrow, wide = (make_plan(spec(1.0, 0.5, 0.0, margin=m), x, y) for m in (0.0, 3.0))
    assert wide.evidence["alpha"]["range"] == pytest.approx(8 * narrow.evidence["alpha"]["range"])
    assert narrow.signals["alpha"].format.frac == wide.signals["alpha"].format.frac + 3
