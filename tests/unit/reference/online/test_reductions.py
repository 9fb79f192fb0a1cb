"""Every reduction of report 836: its projection, its metric, its strategy, and their combinations."""

import numpy as np
import pytest

from kerncast.sim.choices import REDUCTIONS
from kerncast.sim.errors import KerncastError
from kerncast.sim.kernels import Gaussian, Laplacian
from kerncast.sim.reference import KernelLMS, Status, expand
from kerncast.sim.reference.online.expansion import Expansion
from kerncast.sim.reference.online.gram import JITTER, Gram
from kerncast.sim.reference.online.kernel_lms import stable_eta
from kerncast.sim.reference.online.reduction import METRICS, PROJECTIONS

KERNEL = Gaussian(0.8)
#: What "mt" needs beside its name.
MORE = {"mt": {"max_deterioration": 1e-3}}


def model_of(V, alpha):
    model = Expansion(len(V) + 2, V.shape[1], KERNEL, alpha.shape[1:], gram=True)
    for slot, (v, a) in enumerate(zip(V, alpha, strict=True)):
        model.insert(slot, v, a, model.distances(v))
        model.presented += 1
    return model


@pytest.fixture(params=[(), (3,)], ids=["one output", "three outputs"])
def model(request):
    rng = np.random.default_rng(2)
    return model_of(rng.uniform(-2, 2, (9, 2)), rng.normal(size=(9, *request.param)))


def without(model, slot):
    """K, K without column `slot`, alpha, and the retained slots."""
    V = model.V[model.held]
    return KERNEL(V, V), np.delete(KERNEL(V, V), slot, axis=1), model.alpha[model.held], np.delete(
        np.arange(len(V)), slot)


def beta(name, model, slot):
    """Multipliers after the projection, by the report's formulas with one inverse for each candidate."""
    K, columns, alpha, R = without(model, slot)
    if name == "klms":
        return np.linalg.solve(K[np.ix_(R, R)], K[R] @ alpha)  # (12)
    if name == "ls":
        return np.linalg.pinv(columns) @ K @ alpha  # (14)
    return alpha[R] + (np.multiply.outer(K[R, slot], alpha[slot]) if name == "fklms" else 0.0)  # (16); (9)


def deterioration(name, model, slot):
    """lambda by the report's formulas."""
    K, columns, alpha, R = without(model, slot)
    a2 = np.sum(alpha[slot] ** 2)
    kappa = K[slot, slot] - K[slot, R] @ np.linalg.solve(K[np.ix_(R, R)], K[R, slot])  # (13)
    fast = 1.0 - np.sum(K[slot, R] ** 2)
    if name.startswith("ls"):
        new = beta("ls", model, slot)
        lam = np.sum((K @ alpha - columns @ new) ** 2) / len(K)
        return lam + (1e-2 / len(R) * np.sum(new**2) if name == "ls_regularised" else 0.0)  # (20)
    return {"klms": kappa, "mklms": kappa * a2, "fast_klms": fast, "fast_mklms": max(fast, 0.0) * a2,
            "fmklms": a2 * (1.0 - K[slot, R].max()), "magnitude": np.sqrt(a2),
            "fklms": 1.0 - max(K[slot, :slot], default=0.0), "age": slot - len(K)}[name]


@pytest.mark.parametrize("name", PROJECTIONS)
def test_every_projection_is_its_equation(name, model):
    for slot in model.held:
        fresh = model_of(model.V[model.held], model.alpha[model.held])
        expected = beta(name, fresh, slot)
        PROJECTIONS[name].apply(fresh, slot)
        fresh.remove(slot)
        np.testing.assert_allclose(fresh.alpha[fresh.held], expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_is_its_equation_for_every_candidate_at_once(name, model):
    metric = METRICS[name](1e-2)
    metric.resize(model.capacity)
    growing = Expansion(model.capacity, 2, KERNEL)
    for slot in model.held:
        d2 = growing.distances(model.V[slot])
        growing.insert(slot, model.V[slot], 0.0, d2)
        metric.on_insert(growing, slot, d2)
    expected = [deterioration(name, model, slot) for slot in model.held]
    lam = metric.deterioration(model)
    np.testing.assert_allclose(lam[model.held], expected, rtol=1e-6, atol=1e-9)
    assert np.all(lam[len(expected):] == np.inf)
    newest = max(np.flatnonzero(lam == lam.min()))
    assert metric.select_victim(model) == (newest, pytest.approx(min(expected)))


def test_klms_changes_the_output_at_the_removed_vector_only(model):
    V = model.V[model.held]
    before = expand(KERNEL, V, V, model.alpha[model.held])
    kappa = METRICS["klms"](0.0).deterioration(model)[4]
    gone = model.alpha[4].copy()
    PROJECTIONS["klms"].apply(model, 4)
    change = before - expand(KERNEL, V, V, model.alpha[model.held])
    np.testing.assert_allclose(change[4], kappa * gone, rtol=1e-6)  # (13)
    np.testing.assert_allclose(np.delete(change, 4, axis=0), 0.0, atol=1e-8)


@pytest.mark.parametrize("columns", [1, 3])
def test_the_updated_inverse_is_the_inverse_through_removals_and_insertions(columns):
    rng = np.random.default_rng(columns)
    gram, V = Gram(12), rng.uniform(-3, 3, (12, columns))
    held = np.zeros(12, dtype=bool)
    for step in range(300):
        slot = step % 12 if step < 12 else int(rng.integers(12))
        if held[slot]:
            some = np.ix_(held, held)
            K = gram.K[some] + JITTER * np.eye(held.sum())
            np.testing.assert_allclose(gram.inverse[some] @ K, np.eye(held.sum()), atol=5e-3)
            gram.remove(slot)
        V[slot] = rng.uniform(-3, 3, columns)
        held[slot] = False
        gram.insert(slot, np.where(held, np.exp(-np.sum((V - V[slot]) ** 2, axis=1)), 0.0))
        held[slot] = True


@pytest.mark.parametrize("reduction", ["klms", "mklms", "ls", "ls_regularised"])
def test_linearly_dependent_vectors_cause_no_error(reduction):
    """K_RR is singular: thirty vectors within a hundredth of sigma."""
    X = np.random.default_rng(3).uniform(0, 0.01, (90, 1))
    learner = KernelLMS(1, Gaussian(1.0), 0.5, 0.0, reduction, 30)
    learner.learn(X, np.ones(90))
    assert learner.status is Status.OK
    np.testing.assert_allclose(learner.predict(X[:5]), 1.0, atol=1e-4)


@pytest.mark.parametrize(("reduction", "outputs"), [("klms", ()), ("mklms", ()), ("mklms", (2,)), ("ls", ())])
def test_a_stream_equals_one_with_a_fresh_inverse_per_candidate_and_step(reduction, outputs):
    rng = np.random.default_rng(7)
    X, Y = rng.uniform(-2, 2, (60, 2)), rng.normal(size=(60, *outputs))
    learner = KernelLMS(2, KERNEL, 0.3, 0.05, reduction, 8, outputs)
    f = learner.learn(X, Y)
    V, alpha = np.zeros((0, 2)), np.zeros((0, *outputs))
    projection, metric = REDUCTIONS[reduction]
    for x, y, f_p in zip(X, Y, f, strict=True):
        if len(V) == 8:
            slow = model_of(V, alpha)
            gone = int(np.argmin([deterioration(metric, slow, slot) for slot in range(8)]))
            V, alpha = np.delete(V, gone, axis=0), beta(projection, slow, gone)
        e = y - KERNEL(x[np.newaxis], V)[0] @ alpha
        np.testing.assert_allclose(f_p, y - e, rtol=1e-5, atol=1e-6)
        V, alpha = np.vstack((V, x)), np.concatenate((alpha * (1 - 0.3 * 0.05), [0.3 * e]))
    model = learner.model
    order = model.held[np.argsort(model.rank[model.held])]
    np.testing.assert_array_equal(model.V[order], V)


@pytest.mark.parametrize("reduction", [*REDUCTIONS, "none"])
def test_every_reduction_counts_updates_its_own_twin_and_stays_finite(reduction):
    rng = np.random.default_rng(4)
    X, y = rng.integers(-3, 4, (200, 2)).astype(float), rng.normal(size=200)
    learner = KernelLMS(2, KERNEL, 0.3, 0.1, reduction, 12, **MORE.get(reduction, {}))
    learner.learn(X, y)
    model, limit = learner.model, 12 if reduction != "none" else 49
    assert learner.status is Status.OK and np.all(np.isfinite(model.alpha))
    assert learner.history.N.max() <= limit
    assert sorted(model.rank[model.held]) == list(range(model.count)) == list(range(learner.history.N[-1]))
    assert len(np.unique(model.V[model.held], axis=0)) == model.count
    twin = model.held[np.argmax(np.abs(model.alpha[model.held]))]
    before = model.alpha.copy()
    f = learner.learn(model.V[[twin]], [0.5])[0]
    others = np.delete(np.arange(model.capacity), twin)
    np.testing.assert_allclose(model.alpha[twin], before[twin] * 0.97 + 0.3 * (0.5 - f), rtol=1e-12)
    if reduction != "mt":
        np.testing.assert_allclose(model.alpha[others], before[others] * 0.97, rtol=1e-12)


@pytest.mark.parametrize("metric", METRICS)
def test_of_equal_vectors_the_newest_is_evicted(metric):
    if metric == "age":
        return  # no two are alike
    learner = KernelLMS(2, KERNEL, 0.5, 0.0, "fklms", 4, metric=metric)
    learner.learn([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]], np.zeros(4))  # a square
    learner.model.alpha[:] = 1.0
    learner.learn([[9.0, 9.0]], [1.0])
    np.testing.assert_array_equal(learner.model.V[3], [9.0, 9.0])


# ---- strategies ----
def test_nt_discards_the_smallest_and_at_the_oldest():
    X, y = np.arange(6.0)[:, np.newaxis] * 50, np.array([5.0, 1.0, 4.0, 3.0, 2.0, 6.0])
    smallest, oldest = (KernelLMS(1, KERNEL, 0.1, 0.0, name, 4) for name in ("nt", "at"))
    smallest.learn(X, y)
    oldest.learn(X, y)
    np.testing.assert_array_equal(np.sort(smallest.model.V[:, 0]), [0.0, 100.0, 150.0, 250.0])
    np.testing.assert_array_equal(np.sort(oldest.model.V[:, 0]), [100.0, 150.0, 200.0, 250.0])


def test_mt_discards_all_below_its_magnitude_and_max_age_all_that_are_older():
    X, y = np.arange(40.0)[:, np.newaxis] * 50, np.random.default_rng(5).normal(size=40)
    faded = KernelLMS(1, KERNEL, 0.5, 0.2, "mt", None, max_deterioration=0.05)
    faded.learn(X, y)
    alpha = 0.5 * y * 0.9 ** np.arange(39, -1, -1)
    np.testing.assert_array_equal(np.sort(faded.model.V[faded.model.held, 0]), X[np.abs(alpha) > 0.05, 0])
    aged = KernelLMS(1, KERNEL, 0.5, 0.2, "none", max_age=7)
    aged.learn(X, y)
    np.testing.assert_array_equal(np.sort(aged.model.V[aged.model.held, 0]), X[-7:, 0])
    assert aged.history.N.tolist() == [*range(1, 7), *[7] * 34]


@pytest.mark.parametrize("kernel", [Gaussian(0.5), Laplacian(0.5)])
def test_fklms_of_fixed_deterioration_needs_only_compare_the_newest_vector(kernel):
    rng = np.random.default_rng(6)
    X, y = rng.uniform(-1, 1, (400, 2)), rng.normal(size=400)
    both = [KernelLMS(2, kernel, 0.2, 0.0, "fklms", None, max_deterioration=0.3, newest_only=newest)
            for newest in (False, True)]
    for learner in both:
        learner.learn(X, y)
    full, newest = (learner.state() for learner in both)
    for name in ("count", "V", "alpha", "rank"):
        np.testing.assert_array_equal(full[name], newest[name])
    V = both[0].model.V[both[0].model.held]
    K = kernel(V, V) - np.eye(len(V))
    assert 1 < len(V) < 100 and K.max() < 1 - 0.3
    lam = both[0].history.deterioration
    assert np.sum(~np.isnan(lam)) == 400 - len(V) and np.nanmax(lam) <= 0.3


@pytest.mark.parametrize("reduction", ["klms", "mklms"])
@pytest.mark.parametrize("newest_only", [False, True])
def test_fixed_deterioration_adds_vectors_only_while_data_are_new(reduction, newest_only):
    X = np.random.default_rng(8).uniform(-3, 3, (400, 1))
    learner = KernelLMS(1, Gaussian(0.5), 0.3, 0.0, reduction, None, max_deterioration=1e-3,
                        newest_only=newest_only)
    learner.learn(X, np.sinc(X[:, 0]))
    N = learner.history.N
    assert 8 <= N[-1] <= 24 and N[-1] <= N[199] + 4
    assert np.mean((learner.predict(X) - np.sinc(X[:, 0])) ** 2) < 2e-3


@pytest.mark.parametrize("reduction", ["mklms", "fklms", "fmklms"])
def test_without_a_budget_there_is_room_for_whatever_is_new(reduction):
    X = np.random.default_rng(11).permutation(np.arange(150.0))[:, np.newaxis] * 3
    learner = KernelLMS(1, KERNEL, 0.3, 0.0, reduction, None, max_deterioration=1e-6)
    learner.learn(np.concatenate((X, X + 1e-5)), np.ones(300))
    assert learner.model.count == 150 and learner.status is Status.OK
    np.testing.assert_allclose(learner.predict(X), 1 - 0.7**2, rtol=2e-2)


def test_both_strategies_together_keep_both_limits():
    X = np.random.default_rng(9).uniform(-9, 9, (300, 2))
    learner = KernelLMS(2, KERNEL, 0.3, 0.0, "fklms", 20, max_deterioration=0.5)
    learner.learn(X, X[:, 0])
    V = learner.model.V[learner.model.held]
    assert len(V) == 20 and (KERNEL(V, V) - np.eye(20)).max() < 0.5


def test_truncation_before_projection_saves_projections_and_little_error():
    X, grid = np.random.default_rng(1).uniform(-3, 3, (100, 1)), np.linspace(-3, 3, 601)[:, np.newaxis]
    errors, projections = [], []
    for truncation in (None, 3e-4):
        learner = KernelLMS(1, Gaussian(0.5), 0.1, 0.0, "mklms", 14, truncation=truncation)
        for _ in range(10):
            learner.learn(X, np.sinc(X[:, 0]))
        projections.append(np.sum(~np.isnan(learner.history.deterioration)))
        errors.append(np.mean((learner.predict(grid) - np.sinc(grid[:, 0])) ** 2))
    assert projections[1] < 0.8 * projections[0] and errors[1] < 1.3 * errors[0]


@pytest.mark.parametrize(("reduction", "more"), [
    ("nt", {}), ("at", {}), ("fmklms", {}), ("mklms", {}), ("ls", {}), ("fklms", {"truncation": 1e-2}),
    ("fklms", {"max_age": 60}),
])
def test_forgetting_follows_a_stream_whose_inputs_move_away(reduction, more):
    X = np.random.default_rng(10).uniform(-1, 1, (600, 1)) + np.arange(600)[:, np.newaxis] / 30
    learner = KernelLMS(1, Gaussian(0.3), 0.5, 0.1, reduction, 14, **more)
    learner.learn(X, np.sin(2 * X[:, 0]))
    assert learner.model.V[learner.model.held].min() > X[300, 0]
    assert np.sqrt(np.mean(learner.history.error[300:] ** 2)) < 0.6 * np.std(np.sin(2 * X[:, 0]))


def test_without_rho_number_truncation_keeps_its_first_vectors():
    X = np.random.default_rng(10).uniform(-1, 1, (600, 1)) + np.arange(600)[:, np.newaxis] / 30
    learner = KernelLMS(1, Gaussian(0.5), 0.5, 0.0, "nt", 14)
    learner.learn(X, np.sin(2 * X[:, 0]))
    assert learner.model.V[learner.model.held].min() < X[300, 0]


def test_the_sinc_task_at_14_vectors_and_more():
    """KLMS and MKLMS within 30 % of the reference."""
    grid = np.linspace(-3, 3, 601)[:, np.newaxis]

    def mse(reduction, budget):
        errors = []
        for seed in range(4):
            X = np.random.default_rng(seed).uniform(-3, 3, (100, 1))
            learner = KernelLMS(1, Gaussian(0.5), 0.1, 0.0, reduction, budget)
            for _ in range(10):
                learner.learn(X, np.sinc(X[:, 0]))
            errors.append(np.mean((learner.predict(grid) - np.sinc(grid[:, 0])) ** 2))
        return np.mean(errors)

    reference = mse("none", 0)
    assert mse("klms", 14) < 1.3 * reference > mse("klms", 22)
    assert mse("mklms", 14) < 1.3 * reference > mse("mklms", 22)


# ---- refusals ----
@pytest.mark.parametrize(("options", "code"), [
    ({"projection": "magic"}, "E230"), ({"metric": "magic"}, "E230"), ({"reduction": None}, "E230"),
    ({"truncation": -1.0}, "E258"), ({"truncation": float("nan")}, "E258"), ({"truncation": "mt"}, "E258"),
    ({"max_deterioration": float("nan")}, "E258"), ({"max_age": 0}, "E258"), ({"max_age": 1.5}, "E258"),
    ({"ls_penalty": -1.0}, "E258"), ({"ls_penalty": None}, "E258"), ({"reduction": "mt"}, "E258"),
    ({"budget": None}, "E229"), ({"reduction": "fmklms", "budget": 1}, "E229"),
    ({"reduction": "nt", "budget": 0}, "E229"), ({"reduction": "klms", "budget": 0}, "E229"),
])
def test_bad_parts_are_refused_with_code_place_and_remedy(options, code):
    with pytest.raises(KerncastError) as caught:
        KernelLMS(2, KERNEL, 0.1, **options)
    problem = caught.value.problems[0]
    assert problem.code == code
    assert problem.where and problem.allowed and problem.remedy


def test_samples_without_columns_are_refused():
    with pytest.raises(KerncastError, match="E224"):
        KernelLMS(0, KERNEL, 0.1)


@pytest.mark.parametrize("rho", [0.0, 0.5])
def test_the_rule_is_stable_below_its_bound_and_unstable_above(rho):
    X, y = np.zeros((4000, 1)), np.ones(4000)
    for factor, status in ((0.99, "ok"), (1.01, "diverged")):
        eta = factor * stable_eta(rho)
        learner = KernelLMS(1, KERNEL, eta, min(rho, 1 / eta), "none")
        learner.learn(X, y)
        assert learner.status == status


def test_fklms_needs_truncation_to_evict_what_a_stream_has_left_behind():
    X = np.random.default_rng(10).uniform(-1, 1, (300, 1)) + np.arange(300)[:, np.newaxis] / 30
    kept = KernelLMS(1, Gaussian(0.3), 0.5, 0.1, "fklms", 8)
    kept.learn(X, np.sin(2 * X[:, 0]))
    assert kept.model.V[kept.model.held].min() < X[30, 0] + 2
