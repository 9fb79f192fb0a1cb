"""Section 4.3: whether the Toeplitz approximation applies."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from kerncast.sim.errors import KerncastError
from kerncast.sim.kernels import Laplacian
from kerncast.sim.reference import toeplitz_applies

QUICK = {"samples": 200, "splits": 1, "lams": [0.01, 1.0]}


def noisy_sine(x):
    return np.sin(x / 9) + 0.1 * np.random.default_rng(0).normal(size=len(x))


def digits(*labels):
    X, y = load_digits(return_X_y=True)
    chosen = np.isin(y, labels)
    order = np.random.default_rng(0).permutation(chosen.sum())
    return X[chosen][order], y[chosen][order]


def test_on_a_uniform_grid_the_answer_is_yes_and_both_methods_are_one():
    t = np.arange(1000.0)
    verdict = toeplitz_applies(t, noisy_sine(t), **QUICK)
    exact, toeplitz = verdict.choices
    assert verdict.applies and verdict.trainer == "toeplitz_rls" and "Lemma 1" in verdict.words
    assert (exact.sigma, exact.lam, exact.error) == (toeplitz.sigma, toeplitz.lam, toeplitz.error)
    assert exact.error < 0.2 and verdict.samples == 200


def test_on_shuffled_digits_toeplitz_does_not_apply_and_cg_does_better():
    X, y = digits(1, 3, 8, 9)
    verdict = toeplitz_applies(X, y, samples=500, splits=2, sigmas=[6.0, 24.0], lams=[0.01, 1.0])
    exact, toeplitz, cg = verdict.choices
    assert not verdict.applies and verdict.trainer == "kernel_cg"
    assert exact.error <= cg.error < toeplitz.error
    assert "approximation is not suitable" in verdict.words and "conjugate gradients" in verdict.words


def test_where_the_methods_agree_the_answer_is_yes():
    # Widths far below the distance of the samples: K is close to the identity, hence to Toeplitz.
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 30))
    verdict = toeplitz_applies(X, rng.normal(size=200), sigmas=[0.2, 0.4], **QUICK)
    assert verdict.applies and verdict.trainer == "toeplitz_rls" and "both methods" in verdict.words
    assert f"Exact: sigma {verdict.model.sigma:.4g}" in verdict.words  # the pair that agrees is the one told


def test_a_signal_at_uneven_times_learns_what_equal_steps_would_give():
    x = np.sort(np.random.default_rng(2).uniform(0, 300, 200))
    verdict = toeplitz_applies(x, noisy_sine(x), **QUICK)
    assert not verdict.applies and "nonuniformly sampled" in verdict.words


def test_a_uniform_grid_out_of_order_is_to_be_sorted():
    x = np.random.default_rng(3).permutation(200.0 + np.arange(200.0))
    verdict = toeplitz_applies(x, noisy_sine(x), **QUICK)
    assert not verdict.applies and "Sort them" in verdict.words


def test_the_choice_has_the_smallest_error_and_a_flag_for_the_grid_s_edge():
    t = np.arange(300.0)
    verdict = toeplitz_applies(t, noisy_sine(t), kernel=Laplacian(1.0), sigmas=[1.0, 2.0, 4.0],
                               lams=[1e-3, 1e-1, 10.0], samples=100)
    choice = verdict.choices[0]
    assert choice.errors.shape == (3, 3) and choice.error == choice.errors.min()
    assert choice.at_edge == (choice.sigma in (1.0, 4.0) or choice.lam in (1e-3, 10.0))


def test_the_same_seed_gives_the_same_verdict():
    first, second = (toeplitz_applies(*digits(3, 8), seed=7, sigmas=[10.0], **QUICK) for _ in range(2))
    assert first.words == second.words


def test_labels_of_any_kind_are_classes():
    X, y = digits(3, 8)
    verdict = toeplitz_applies(X, np.where(y == 3, "three", "eight"), sigmas=[20.0], **QUICK)
    assert verdict.measure == "error rate"


@pytest.mark.parametrize(("change", "code"), [
    ({"sigmas": [0.0]}, "E220"), ({"sigmas": []}, "E220"),
    ({"lams": [-1.0]}, "E221"), ({"scheme": "rows"}, "E222"),
    ({"X": np.full((9, 2), np.nan)}, "E224"), ({"y": np.zeros(8)}, "E225"),
    ({"y": np.zeros(9), "task": "classification"}, "E232"), ({"task": "ranking"}, "E238"),
    ({"samples": 1}, "E238"), ({"splits": 0}, "E238"), ({"steps": 0}, "E238")])
def test_bad_input_is_refused_by_code(change, code):
    rng = np.random.default_rng(0)
    given = {"X": rng.normal(size=(9, 2)), "y": rng.normal(size=9)} | change
    with pytest.raises(KerncastError, match=code):
        toeplitz_applies(**given)
