"""The integer FKLMS learner beside the float64 reference: the same vectors, nearly the same alpha."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kerncast.sim.backend import STATUSES
from kerncast.sim.kernels import Gaussian
from kerncast.sim.model import open_model
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.reference.online.kernel_lms import KernelLMS
from kerncast.sim.spec import Spec
from kerncast.sim.statuses import DeviceStatus


def spec_of(word: int = 16, budget: int = 5, eta: float = 0.3, rho: float = 0.0, columns: int = 1,
            sigma: float = 8.0, **numbers: Any) -> Spec:
    return Spec(model={"name": "t", "algorithm": "kernel_lms"}, kernel={"sigma": sigma},
                input={"word": "u8f0", "columns": columns}, output={"word": "s12f0"},
                online={"budget": budget, "eta": eta, "rho": rho}, numbers={"word": word, **numbers})


def stream(seed: int, samples: int, columns: int, reach: int) -> tuple[np.ndarray, np.ndarray]:
    """Raw samples on a coarse grid: duplicates and ties of distance abound."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, reach, (samples, columns))
    return x, np.round(700 * np.sin(x.sum(1) / 7.0) + rng.normal(0, 100, samples)).astype(np.int64)


def reference_of(spec: Spec, x: np.ndarray, y: np.ndarray) -> tuple[KernelLMS, np.ndarray]:
    online = spec.online
    assert online is not None
    learner = KernelLMS(spec.input.columns, Gaussian(spec.kernel.sigma), online.eta, online.rho, "fklms",
                        online.budget)
    return learner, learner.learn(x.astype(float), y / 2048.0)


@pytest.mark.covering
@pytest.mark.parametrize("columns", [1, 2, 3])
@pytest.mark.parametrize("budget", [2, 3, 5, 8])
@pytest.mark.parametrize("word", [16, 24, 32])
def test_the_same_vectors_are_kept_as_in_float64_tie_by_tie(word: int, budget: int, columns: int) -> None:
    """Ages, neighbours and distances are decided by exact integers: equal, not close."""
    spec = spec_of(word, budget, columns=columns)
    for seed in range(6):
        x, y = stream(seed, 120, columns, reach=9)
        model = open_model(make_plan(spec))
        reference, _ = reference_of(spec, x, y)
        model.update(x, y)
        found, expected = model.state(), reference.state()
        assert found["count"].item() == expected["count"]
        assert np.array_equal(found["centers"].reshape(budget, columns), expected["V"])
        assert np.array_equal(found["age_order"], expected["rank"])
        younger = expected["rank"] > 0
        assert np.array_equal(found["nearest_idx"][younger], expected["near"][younger])
        assert np.array_equal(found["nearest_d2"][younger], expected["dist"][younger])


@pytest.mark.parametrize("rho", [0.0, 0.05])
@pytest.mark.parametrize(("word", "tolerance"), [(16, 3e-3), (32, 1e-7)])
def test_alpha_and_predictions_stay_close_to_float64(word: int, tolerance: float, rho: float) -> None:
    spec = spec_of(word, 8, 0.3, rho)
    x, y = stream(1, 400, 1, reach=200)
    plan = make_plan(spec)
    model = open_model(plan)
    reference, expected = reference_of(spec, x, y)
    answer = model.update(x, y)
    assert not answer["status"].any()
    alpha = model.state()["alpha"] * 2.0 ** -plan.signals["alpha"].format.frac
    assert np.abs(alpha - reference.state()["alpha"]).max() <= tolerance
    assert np.abs(answer["f"] * 2.0 ** (2 - word) - expected).max() <= tolerance


@pytest.mark.parametrize("word", [16, 24, 32])
def test_a_duplicate_updates_its_own_coefficient_and_nothing_else(word: int) -> None:
    model = open_model(make_plan(spec_of(word, 3)))
    x = np.array([[10], [60], [110]])
    model.update(x, np.array([100, 200, 300]))
    before = model.state()
    model.update(x[1:2], np.array([-500]))
    after = model.state()
    assert after["alpha"][1] < before["alpha"][1]
    for name in ("centers", "nearest_d2", "nearest_idx", "age_order", "count"):
        assert np.array_equal(before[name], after[name])
    assert np.array_equal(np.delete(before["alpha"], 1), np.delete(after["alpha"], 1))


def test_of_the_closest_pairs_the_newest_vector_is_evicted() -> None:
    model = open_model(make_plan(spec_of(budget=4)))
    model.update(np.array([[0], [10], [50], [60]]), np.full(4, 100))  # two pairs at distance 10
    model.update(np.array([[200]]), np.array([100]))
    assert model.state()["centers"].tolist() == [0, 10, 50, 200]
    assert model.state()["age_order"].tolist() == [0, 1, 2, 3]
    model.update(np.array([[120]]), np.array([100]))
    assert model.state()["centers"].tolist() == [0, 120, 50, 200]  # now 10 is nearest to an elder
    assert model.state()["age_order"].tolist() == [0, 3, 1, 2]


def test_what_was_removed_lives_on_in_its_neighbours() -> None:
    """Projection (16): a twin-like pair that merges keeps the sum of the multipliers, k being about 1."""
    plan = make_plan(spec_of(32, 2, eta=1.0, sigma=1000.0))
    model = open_model(plan)
    model.update(np.array([[100], [101]]), np.array([1000, 1000]))
    before = model.state()["alpha"].sum()
    model.update(np.array([[103]]), np.array([1000]))
    assert abs(model.state()["alpha"][0] - before) <= abs(before) * 1e-5


@pytest.mark.parametrize("word", [16, 24, 32])
def test_a_saturated_coefficient_sets_the_status_and_stays_at_full_scale(word: int) -> None:
    plan = make_plan(spec_of(word, 2, eta=1.9, formats={"alpha": f"s{word}f{word}"}))  # up to 1/2
    model = open_model(plan)
    answer = model.update(np.array([[0], [250]]), np.array([2047, -2048]))
    assert [STATUSES[s] for s in answer["status"]] == ["saturated", "saturated"]
    alpha = plan.signals["alpha"].format
    assert model.state()["alpha"].tolist() == [alpha.hi, alpha.lo]


@pytest.mark.parametrize("word", [16, 24, 32])
def test_a_saturated_prediction_sets_the_status_of_the_update(word: int) -> None:
    """A learner that diverges does not look well: the error it learns from is not y - f any more."""
    plan = make_plan(spec_of(word, 41, eta=0.5, sigma=200.0))
    model = open_model(plan)
    x, y = stream(3, 200, 1, 250)
    answer = model.update(x, y)
    f = plan.signals["f"].format
    told = np.flatnonzero(answer["status"] == DeviceStatus.SATURATED)
    at_rail = np.flatnonzero((answer["f"] == f.hi) | (answer["f"] == f.lo))
    assert len(told) > 0 and set(at_rail) <= set(told)
    assert next(r for r in model.ranges if r.name == "f").saturated > 0


def test_an_empty_learner_reports_it() -> None:
    model = open_model(make_plan(spec_of()))
    answer = model.predict(np.zeros((3, 1), dtype=np.int64))
    assert [STATUSES[s] for s in answer["status"]] == ["not_trained"] * 3 and not answer["f"].any()
    assert [STATUSES[s] for s in model.train(None, np.zeros(4, dtype=np.int64))["status"]] == ["bad_argument"]


@pytest.mark.parametrize("word", [16, 24, 32])
def test_samples_one_by_one_or_all_at_once_are_the_same(word: int) -> None:
    plan = make_plan(spec_of(word, 4, rho=0.01))
    x, y = stream(5, 60, 1, 40)
    whole, single = open_model(plan), open_model(plan)
    f = whole.update(x, y)["f"]
    assert [single.update(x[i:i + 1], y[i:i + 1])["f"].item() for i in range(60)] == f.tolist()
    for name, words in whole.state().items():
        assert np.array_equal(single.state()[name], words)


def test_prediction_does_not_change_the_learner() -> None:
    plan: Plan = make_plan(spec_of())
    model = open_model(plan)
    model.update(*stream(2, 30, 1, 100))
    before = model.state()
    model.predict(np.arange(50).reshape(50, 1))
    assert all(np.array_equal(words, model.state()[name]) for name, words in before.items())


def test_a_saturated_prediction_reports_it() -> None:
    spec = Spec(model={"name": "rails", "algorithm": "kernel_lms"}, input={"word": "u8f0"},
                output={"word": "s2f0"}, kernel={"sigma": 8.0}, online={"budget": 4, "eta": 0.5},
                numbers={"word": 16, "formats": {"alpha": "s16f12"}})
    model = open_model(make_plan(spec))
    model.update(np.array([[10], [12], [200]]), np.array([1, 1, 1]))
    model._state.alpha[:3] = model.plan.signals["alpha"].format.hi
    found = model.predict(np.arange(256)[:, np.newaxis])
    f = model.plan.signals["f"].format
    beyond = found["f"] == f.hi
    assert 0 < beyond.sum() < 256
    assert set(found["status"][beyond]) == {DeviceStatus.SATURATED}
    assert set(found["status"][~beyond]) == {0}
