"""Samples of one column and a kernel that spans few of them: the band of K, factorised."""

import numpy as np
import pytest

from kerncast import KernelRLSRegressor, solve_kernel
from kerncast.sim.errors import KerncastError
from kerncast.sim.kernels import Gaussian, Laplacian, Linear, Matern32, Matern52, Periodic
from kerncast.sim.reference.solvers.banded import banded, bandwidth
from kerncast.sim.reference.systems.system import DenseSystem, KernelSystem

KERNELS = [Gaussian(1.5), Laplacian(0.4), Matern32(0.7), Matern52(0.9)]


def samples(n=300):
    rng = np.random.default_rng(0)
    return rng.uniform(0, n, (n, 1)), rng.normal(size=(n, 2))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("lam", [1.0, 1e-3, 1e-8])
def test_the_band_gives_what_the_whole_matrix_gives_whatever_the_order(kernel, lam):
    X, Y = samples()
    A = KernelSystem(kernel, X, lam).dense()
    exact = np.linalg.solve(A, Y)
    solution = solve_kernel(X, Y, kernel, lam, "banded")
    assert solution.ok and solution.method == "banded"
    assert np.linalg.norm(solution.x - exact) <= 1e-14 * np.linalg.cond(A) * np.linalg.norm(exact)
    found = np.linalg.norm(Y - A @ solution.x, axis=0).max()
    assert solution.residual == pytest.approx(found, abs=1e-12 * np.abs(exact).max())
    one = solve_kernel(X, Y[:, 0], kernel, lam, "banded")
    np.testing.assert_allclose(one.x, solution.x[:, 0], rtol=0, atol=1e-14 * np.linalg.cond(A))


@pytest.mark.parametrize("kernel", KERNELS)
def test_what_is_outside_the_band_is_less_than_rounding(kernel):
    X = np.sort(samples()[0], axis=0)
    K, b = kernel(X, X), bandwidth(KernelSystem(kernel, X, 0.0))
    assert 5 < b < 100
    assert K[np.abs(np.subtract.outer(np.arange(300), np.arange(300))) > b].max() <= 1e-18


def test_a_bias_is_solved_for_beside_the_band():
    X, Y = samples()
    exact = solve_kernel(X, Y, 1.5, 0.1, "cholesky", fit_intercept=True)
    found = solve_kernel(X, Y, 1.5, 0.1, "banded", fit_intercept=True)
    np.testing.assert_allclose(found.x, exact.x, atol=1e-11)
    np.testing.assert_allclose(found.bias, exact.bias, atol=1e-12)


def test_long_signals_at_irregular_times_are_exact_in_memory_of_the_band():
    n = 20_000
    t = np.sort(np.random.default_rng(1).uniform(0, n, n))[:, np.newaxis]
    y = np.sin(t[:, 0] / 9)
    model = KernelRLSRegressor(3.0, 1e-4, fit_intercept=True).fit(t, y)
    assert (model.solver_, model.status_) == ("banded", "ok") and model.why_.startswith("banded: a band")
    assert model.residual_ < 1e-10 and model.score(t, y) > 0.99999
    assert np.abs(model.predict(t) - (y - 1e-4 * model.dual_coef_)).max() < 1e-10


def test_wide_kernels_and_several_columns_are_not_taken_for_bands():
    X, Y = samples(1200)
    assert solve_kernel(X, Y, 2.0, 1.0).method == "banded"
    assert solve_kernel(X, Y, 100.0, 1.0).method == "cholesky"
    assert solve_kernel(np.hstack((X, X)), Y, 2.0, 1.0).method == "cholesky"


@pytest.mark.parametrize("system", [
    DenseSystem(np.eye(3)), KernelSystem(Periodic(1.0, 3.0), np.zeros((3, 1)), 1.0),
    KernelSystem(Linear(), np.zeros((3, 1)), 1.0), KernelSystem(Gaussian(1.0), np.zeros((3, 2)), 1.0)])
def test_what_is_no_band_is_refused(system):
    assert bandwidth(system) is None
    with pytest.raises(KerncastError, match="E238"):
        banded(system, np.ones(3))


def test_equal_samples_without_a_regulariser_have_a_status():
    solution = banded(KernelSystem(Gaussian(1.0), np.zeros((5, 1)), 0.0), np.arange(5.0))
    assert solution.status == "not_positive_definite" and not solution.x.any() and solution.why


def test_a_band_beyond_the_memory_is_refused():
    X = np.arange(200_000.0)[:, np.newaxis]
    with pytest.raises(KerncastError, match="E237"):
        solve_kernel(X, X[:, 0], 1e5, 1.0, "banded")
