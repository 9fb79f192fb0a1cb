"""The first row of the Toeplitz kernel matrix: Lemmas 1 and 2 of Decherchi et al."""

import tracemalloc

import numpy as np
import pytest
from scipy.linalg import eigvalsh, toeplitz

from kerncast.sim.errors import KerncastError
from kerncast.sim.kernels import Gaussian, gaussian, gaussian_of_distance, squared_distances
from kerncast.sim.reference import first_row, uniform_first_row
from kerncast.sim.reference.first_row import SCHEMES, choose_scheme

RNG = np.random.default_rng(7)


def dense_diagonal_sums(X, sigma):
    K = gaussian(X, X, sigma)
    return np.array([np.trace(K, offset=j) for j in range(len(X))])


def test_gaussian_is_the_formula_with_two_sigma_squared():
    u, v = np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]])
    assert gaussian(u, v, 2.0)[0, 0] == pytest.approx(np.exp(-25 / 8))
    assert gaussian_of_distance(np.array(25.0), 2.0) == pytest.approx(np.exp(-25 / 8))


def test_equal_vectors_have_distance_exactly_zero_and_kernel_exactly_one():
    X = RNG.normal(size=(20, 7)) * 1e6 + 1e9
    assert np.all(np.diag(squared_distances(X, X)) == 0.0)
    assert np.all(np.diag(gaussian(X, X, 1e-3)) == 1.0)


def test_distances_are_symmetric_to_the_last_bit():
    X = RNG.normal(size=(20, 5))
    d2 = squared_distances(X, X)
    assert np.array_equal(d2, d2.T)


def test_a_distance_too_large_for_a_float_gives_a_kernel_of_zero():
    assert gaussian(np.array([[-1e200]]), np.array([[1e200]]), 1.0)[0, 0] == 0.0


@pytest.mark.parametrize("step", [0.25, -3.0])
def test_uniform_first_row_is_the_first_row_of_the_kernel_matrix(step):
    X = (5.0 + step * np.arange(40))[:, np.newaxis]
    np.testing.assert_allclose(first_row(X, 2.0, "uniform"), gaussian(X, X, 2.0)[0], rtol=1e-12)
    np.testing.assert_allclose(uniform_first_row(40, step, Gaussian(2.0)), gaussian(X, X, 2.0)[0], rtol=1e-12)


def test_on_a_uniform_grid_lemma_1_and_lemma_2_agree():
    x = np.arange(50.0)
    np.testing.assert_allclose(first_row(x, 3.0, "diagonal_mean"), first_row(x, 3.0, "uniform"), rtol=1e-12)


@pytest.mark.parametrize(("n", "columns"), [(1, 1), (2, 3), (33, 1), (64, 5)])
def test_diagonal_mean_is_the_mean_of_each_diagonal_of_the_dense_matrix(n, columns):
    X = RNG.normal(size=(n, columns))
    sums = dense_diagonal_sums(X, 1.3)
    np.testing.assert_allclose(first_row(X, 1.3, "diagonal_mean"), sums / np.arange(n, 0, -1), rtol=1e-12)
    np.testing.assert_allclose(first_row(X, 1.3, "diagonal_mean_biased"), sums / n, rtol=1e-12)


def test_diagonal_mean_is_nearest_in_the_frobenius_norm():
    X = RNG.normal(size=(25, 2))
    K, r = gaussian(X, X, 1.0), first_row(X, 1.0, "diagonal_mean")
    best = np.linalg.norm(K - toeplitz(r))
    for _ in range(20):
        assert np.linalg.norm(K - toeplitz(r + 1e-3 * RNG.normal(size=25))) > best


def test_biased_means_are_positive_semidefinite_where_plain_means_are_not():
    X = np.random.default_rng(0).normal(size=(60, 2))
    assert eigvalsh(toeplitz(first_row(X, 1.0, "diagonal_mean")))[0] < -1e-3
    assert eigvalsh(toeplitz(first_row(X, 1.0, "diagonal_mean_biased")))[0] > -1e-12


def test_auto_is_uniform_on_a_grid_and_biased_elsewhere():
    grid = np.arange(30.0)[:, np.newaxis]
    assert choose_scheme(grid) == "uniform"
    assert choose_scheme(1.6e9 + grid / 1000) == "uniform"  # a clock in seconds, rounded to float64
    assert choose_scheme(grid[::-1]) == "uniform"
    assert choose_scheme(np.zeros((5, 1))) == "uniform"
    assert choose_scheme(grid + 1e-3 * RNG.normal(size=(30, 1))) == "diagonal_mean_biased"
    assert choose_scheme(np.hstack((grid, grid))) == "diagonal_mean_biased"
    assert choose_scheme(1.0 + np.array([[0], [3], [1], [4]]) * 2.0**-52) == "diagonal_mean_biased"
    np.testing.assert_array_equal(first_row(grid, 2.0), first_row(grid, 2.0, "uniform"))


@pytest.mark.parametrize("scheme", [s for s in SCHEMES if s != "uniform"])
def test_the_first_row_never_stores_the_matrix(scheme):
    X = RNG.normal(size=(8000, 3))
    first_row(X, 1.0, scheme)  # compiling takes memory too
    tracemalloc.start()
    first_row(X, 1.0, scheme)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8000 * 8000 * 8 / 50


@pytest.mark.parametrize(("X", "sigma", "scheme", "code"), [
    ([0.0, 1.0], 0.0, "auto", "E220"),
    ([0.0, 1.0], -1.0, "auto", "E220"),
    ([0.0, 1.0], float("nan"), "auto", "E220"),
    ([0.0, 1.0], float("inf"), "auto", "E220"),
    ([0.0, 1.0], 1e-200, "auto", "E220"),
    ([0.0, 1.0], "wide", "auto", "E220"),
    ([0.0, 1.0], 1.0, "median", "E222"),
    ([0.0, 1.0, 3.0], 1.0, "uniform", "E223"),
    ([[0.0, 1.0], [1.0, 2.0]], 1.0, "uniform", "E223"),
    ([0.0, float("nan")], 1.0, "auto", "E224"),
    ([0.0, float("inf")], 1.0, "auto", "E224"),
    ([], 1.0, "auto", "E224"),
    (np.zeros((2, 2, 2)), 1.0, "auto", "E224"),
    (["a", "b"], 1.0, "auto", "E224"),
])
def test_bad_input_is_refused_with_code_place_and_remedy(X, sigma, scheme, code):
    with pytest.raises(KerncastError) as caught:
        first_row(X, sigma, scheme)
    problem = caught.value.problems[0]
    assert problem.code == code
    assert problem.where and problem.allowed and problem.remedy
