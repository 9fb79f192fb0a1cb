"""Every reduction of the integer learner beside the float64 reference: equal vectors, nearly equal alpha."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kerncast.sim.backend import STATUSES
from kerncast.sim.choices import DEVICE_REDUCTIONS, REDUCTIONS
from kerncast.sim.errors import KerncastError
from kerncast.sim.kernels import Gaussian
from kerncast.sim.model import open_model
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.reference.online.kernel_lms import KernelLMS
from kerncast.sim.spec import Spec

SIGMA, ETA, BUDGET = 20.0, 0.3, 8
#: A limit of each metric that is met now and then by the stream below.
LIMITS = {"magnitude": 0.03, "fklms": 0.02, "fmklms": 8e-4, "fast_klms": -0.2, "fast_mklms": 4e-4}


def spec_of(word: int = 32, rho: float = 0.02, budget: int = BUDGET, **online: Any) -> Spec:
    return Spec(model={"name": "t", "algorithm": "kernel_lms"}, kernel={"sigma": SIGMA},
                input={"word": "u10f2"}, output={"word": "s12f0", "gain": 1 / 2048},
                online={"budget": budget, "eta": ETA, "rho": rho, **online},
                numbers={"word": word, "formats": {"alpha": f"s{word}f{word - 3}"}})


def reference_of(rho: float = 0.02, reduction: str = "fklms", **parts: Any) -> KernelLMS:
    return KernelLMS(1, Gaussian(SIGMA), ETA, rho, reduction, BUDGET, **parts)


def stream(seed: int, samples: int = 300) -> tuple[np.ndarray, np.ndarray]:
    """Raw samples of a sine in noise; the seeds have no two losses that only rounding tells apart."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 1024, (samples, 1))
    y = 1500 * np.sin(x[:, 0] / 120) + rng.normal(0, 60, samples)
    return x, np.round(y).astype(np.int64)


def held(plan: Plan, state: Any) -> dict[float, float]:
    """Vectors with their multipliers, in units of x and y."""
    count, alpha = state["count"].item(), plan.signals["alpha"].format
    return {v / 4: float(alpha.value(int(a))) for v, a in
            zip(state["centers"][:count].tolist(), state["alpha"][:count], strict=True)}


def follows(online: dict[str, Any], seed: int, rho: float = 0.02) -> tuple[list[int], KernelLMS]:
    """Vectors and multipliers are those of the reference after every sample; their numbers."""
    plan = make_plan(spec_of(rho=rho, **online))
    model, reference = open_model(plan), reference_of(rho, **online)
    x, y = stream(seed)
    counts = []
    for i in range(len(y)):
        f = model.update(x[i:i + 1], y[i:i + 1])["f"]
        expected = reference.learn(x[i:i + 1] / 4, y[i:i + 1] / 2048)
        found, slots = held(plan, model.state()), reference.model.held
        wanted = dict(zip(reference.model.V[slots, 0].tolist(), reference.model.alpha[slots], strict=True))
        assert found.keys() == wanted.keys(), f"sample {i}"
        assert max((abs(found[v] - wanted[v]) for v in wanted), default=0.0) < 1e-6
        assert abs(plan.signals["f"].format.value(int(f[0])) - expected[0]) < 1e-6
        counts.append(len(found))
    return counts, reference


@pytest.mark.parametrize("projection", ["none", "fklms"])
@pytest.mark.parametrize("metric", ["magnitude", "fklms", "fmklms", "fast_klms", "fast_mklms"])
def test_with_fixed_n_max_the_dictionary_is_that_of_float64(metric: str, projection: str) -> None:
    counts, _ = follows({"metric": metric, "projection": projection}, seed=1)
    assert max(counts) == BUDGET


@pytest.mark.parametrize("newest_only", [False, True])
@pytest.mark.parametrize("metric", list(LIMITS))
def test_with_fixed_lambda_max_the_dictionary_is_the_same(metric: str, newest_only: bool) -> None:
    counts, reference = follows({"metric": metric, "max_deterioration": LIMITS[metric],
                                 "newest_only": newest_only}, seed=1)
    assert min(np.diff(counts)) < 0 or reference.status == "full" or newest_only
    assert max(counts) <= BUDGET


@pytest.mark.parametrize("metric", ["age", "fklms", "fmklms", "fast_mklms"])
def test_truncation_and_projection_act_together_as_in_float64(metric: str) -> None:
    projection = "none" if metric == "age" else "fklms"
    counts, _ = follows({"metric": metric, "projection": projection, "truncation": 0.02, "max_age": 40},
                        seed=1, rho=0.3)
    assert min(counts[50:]) < max(counts)


def test_magnitude_and_age_truncation_are_those_of_float64() -> None:
    follows({"reduction": "mt", "max_deterioration": 0.05}, seed=1, rho=0.1)
    counts, _ = follows({"reduction": "at", "max_age": 5}, seed=1)
    assert max(counts[10:]) == 5


@pytest.mark.parametrize("parts", [
    {"reduction": "nt"}, {"reduction": "fklms"}, {"reduction": "fmklms", "max_age": 60},
    {"metric": "fast_klms"}, {"max_deterioration": 0.3, "newest_only": True}], ids=str)
def test_a_quantised_stream_updates_the_center_that_float64_updates(parts: dict[str, Any]) -> None:
    counts, reference = follows({"quantise": 0.8, **parts}, seed=1)
    v = np.sort(reference.model.V[reference.model.held, 0])
    assert np.diff(v).min() > SIGMA * np.sqrt(-2 * np.log(0.8))
    assert max(counts) > 5


def test_quantise_is_the_largest_distance_in_real_arithmetic() -> None:
    at = float(np.exp(-(25.0**2) / (2 * SIGMA**2)))
    below, above = (make_plan(spec_of(quantise=at + d)).integer("quantise") for d in (1e-9, -1e-9))
    assert (below, above) == (100**2 - 1, 100**2)  # values are quarters


def test_a_sample_at_the_threshold_updates_and_one_beyond_is_stored() -> None:
    plan = make_plan(spec_of(rho=0.0, quantise=float(np.exp(-(25.0**2) / (2 * SIGMA**2))) - 1e-9))
    model = open_model(plan)
    model.update(np.array([[0], [100], [200]]), np.full(3, 900))
    before = model.state()["alpha"].tolist()
    model.update(np.array([[100]]), np.array([2000]))  # as near to both: the older one learns
    assert model.state()["centers"][:2].tolist() == [0, 200]
    changed = [a != b for a, b in zip(before, model.state()["alpha"], strict=True)]
    assert changed == [True] + [False] * (BUDGET - 1)


def test_the_clock_runs_over_and_ages_stay_right() -> None:
    plan = make_plan(spec_of(reduction="nt", max_age=5))
    model, late = open_model(plan), open_model(plan)
    late._state.clock[0] = 2**32 - 20
    x, y = stream(0, 60)
    assert np.array_equal(model.update(x, y)["f"], late.update(x, y)["f"])
    assert late.state()["clock"].item() == 40
    assert np.array_equal(model.state()["centers"], late.state()["centers"])


def test_a_full_dictionary_discards_the_newest_and_reports_it() -> None:
    plan = make_plan(spec_of(budget=2, max_deterioration=0.02, newest_only=True))
    model = open_model(plan)
    found = model.update(np.array([[0], [400], [800], [808]]), np.full(4, 1000))["status"]
    assert [STATUSES[s] for s in found] == ["ok", "ok", "full", "full"]
    assert model.state()["centers"].tolist() == [0, 400]
    close = model.update(np.array([[404]]), np.array([0]))["status"]
    assert STATUSES[close.item()] == "ok"  # it may go


def test_newest_only_stores_vectors_coefficients_and_a_row() -> None:
    members = {f.name for f in make_plan(spec_of(max_deterioration=0.02, newest_only=True)).memory}
    assert members - {"reserved"} == {"centers", "alpha", "scratch_row", "count"}


@pytest.mark.parametrize("word", [16, 24, 32])
@pytest.mark.parametrize("metric", ["fast_klms", "fast_mklms"])
def test_sums_of_squares_do_not_drift(metric: str, word: int) -> None:
    """What was added for a pair is subtracted again, in the same word."""
    plan = make_plan(spec_of(word, metric=metric, truncation=0.01, rho=0.1))
    model = open_model(plan)
    model.update(*stream(3, 400))
    state = model.state()
    count, v = state["count"].item(), state["centers"].astype(float) / 4
    k = np.exp(-(v[:count, np.newaxis] - v[:count]) ** 2 / (2 * SIGMA**2))
    sums = state["sums"][:count] / plan.integer("kappa_one")
    assert count > 1
    assert np.abs(sums - ((k**2).sum(1) - 1)).max() < (1e-4 if word == 16 else 1e-6)


@pytest.mark.parametrize("word", [16, 24, 32])
def test_losses_at_full_scale_fit_their_format(word: int) -> None:
    """The lowest word of alpha, and vectors so far apart that kappa is 1: nothing overflows."""
    for metric in ("fmklms", "fast_mklms", "magnitude"):
        plan = make_plan(spec_of(word, 0.0, 3, metric=metric, projection="none"))
        model = open_model(plan)
        model.update(np.array([[0], [500], [1000]]), np.array([100, 200, 300]))
        model._state.alpha[1] = plan.signals["alpha"].format.lo
        model.update(np.array([[250]]), np.array([100]))
        assert sorted(model.state()["centers"].tolist()) == [250, 500, 1000]


def test_lambda_max_of_fklms_is_the_largest_distance_in_real_arithmetic() -> None:
    limit = 1 - float(np.exp(-(25.0**2) / (2 * SIGMA**2)))
    below, above = (make_plan(spec_of(max_deterioration=limit + d)).integer("max_deterioration")
                    for d in (-1e-9, 1e-9))
    assert (below, above) == (100**2 - 1, 100**2)  # words are quarters


def test_the_presets_are_those_of_the_reference() -> None:
    integer = {name: parts for name, parts in DEVICE_REDUCTIONS.items() if name in REDUCTIONS}
    assert {"fklms", "fmklms", "nt", "mt", "at"} <= set(integer)


@pytest.mark.parametrize(("online", "code"), [
    ({"reduction": "mt"}, "E106"), ({"newest_only": True}, "E113"),
    ({"metric": "age", "max_deterioration": 1.0}, "E113"), ({"max_deterioration": 1.0}, "E113"),
    ({"max_deterioration": -0.1}, "E113"), ({"metric": "fast_klms", "max_deterioration": 1.0}, "E113"),
    ({"truncation": -1.0}, "E108"), ({"max_age": 0}, "E108"), ({"metric": "klms"}, "E109"),
    ({"quantise": 1.0}, "E108"), ({"quantise": 0.0}, "E108"),
    ({"joint": True}, "E113"), ({"gate": True}, "E113"), ({"linear_ridge": 0.1}, "E113"),
    ({"linear": "lms"}, "E109"),
    ({"linear": "rls", "reduction": "fklms_f32"}, "E113"),
    ({"quantise": 0.5, "reduction": "fklms_f32"}, "E113")])
def test_combinations_without_a_sense_are_refused(online: dict[str, Any], code: str) -> None:
    with pytest.raises(KerncastError, match=code):
        spec_of(**online)


def test_a_lambda_max_beyond_any_two_inputs_is_refused() -> None:
    with pytest.raises(KerncastError, match="E204"):
        make_plan(spec_of(max_deterioration=1e-6))


def test_a_quantise_that_no_two_inputs_reach_is_refused() -> None:
    with pytest.raises(KerncastError, match=r"(?s)quantise.*E204"):
        make_plan(spec_of(quantise=0.999999))


def test_sixteen_bits_hold_a_hundred_vectors_of_eight_columns_in_2808_bytes() -> None:
    spec = Spec(model={"name": "t", "algorithm": "kernel_lms"}, kernel={"sigma": 50.0},
                input={"word": "s16f0", "columns": 8}, output={"word": "s12f0"},
                online={"budget": 100, "eta": 0.1})
    assert make_plan(spec).state_bytes == 2808
