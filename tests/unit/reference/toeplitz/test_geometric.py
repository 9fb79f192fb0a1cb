"""Toeplitz systems whose first row is geometric: the factor in O(n), its limits, and the choice of "auto"."""

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st

from kerncast.sim.errors import KerncastError
from kerncast.sim.reference import Status, residual_norm, solve_toeplitz
from kerncast.sim.reference.toeplitz.geometric import factorise, geometric_row


def laplacian_row(n, sigma, lam):
    r = np.exp(-np.arange(float(n)) / sigma)
    r[0] += lam
    return r


def rounding(r, x):
    """Return the rounding error of a product of the matrix and x, at most."""
    return 4e-15 * np.abs(r).sum() * np.linalg.norm(x)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 255, 256, 700])
@pytest.mark.parametrize("shape", [(), (1,), (3,)])
@pytest.mark.parametrize("sigma", [0.3, 3.0, 1000.0])
def test_the_solution_is_that_of_a_dense_solver(n, shape, sigma):
    r, Y = laplacian_row(n, sigma, 0.1), np.random.default_rng(n).normal(size=(n, *shape))
    solution = solve_toeplitz(r, Y, "geometric")
    assert solution.ok and solution.method == "geometric" and solution.x.shape == Y.shape
    exact = np.linalg.solve(scipy.linalg.toeplitz(r), Y)
    np.testing.assert_allclose(solution.x, exact, rtol=0, atol=1e-12 * np.abs(exact).max())
    assert solution.residual == pytest.approx(residual_norm(r, solution.x, Y), abs=rounding(r, solution.x))


@pytest.mark.covering
@pytest.mark.parametrize("sigma", [0.3, 1.0, 10.0, 1000.0])
@pytest.mark.parametrize("lam", [1e-12, 1e-4, 1.0, 100.0])
def test_the_error_is_within_the_conditioning(sigma, lam):
    r, y = laplacian_row(600, sigma, lam), np.random.default_rng(2).normal(size=600)
    T = scipy.linalg.toeplitz(r)
    solution, exact = solve_toeplitz(r, y, "geometric"), np.linalg.solve(T, y)
    assert np.linalg.norm(solution.x - exact) <= 1e-14 * np.linalg.cond(T) * np.linalg.norm(exact)
    assert solution.log_det == pytest.approx(np.linalg.slogdet(T)[1], rel=1e-11)


@pytest.mark.parametrize(("rho", "scale", "first"), [(0.7, 1.0, 1.2), (-0.6, 2.0, 2.5), (0.9, 1.0, 0.97)])
def test_the_columns_of_the_factor_are_those_of_cholesky(rho, scale, first):
    n = 60
    r = np.array([first, *(scale * rho ** np.arange(1.0, n))])
    row = geometric_row(r)
    assert row.rho == pytest.approx(rho, rel=1e-14) and row.scale == pytest.approx(scale, rel=1e-14)
    factor, L = factorise(row, n), scipy.linalg.cholesky(scipy.linalg.toeplitz(r), lower=True)
    for i in (0, 1, 2, 40):
        j = min(i, len(factor.pivots) - 1)
        np.testing.assert_allclose(L[i + 1:, i] / L[i, i],
                                   factor.generators[j] * rho ** np.arange(1.0, n - i), rtol=0, atol=1e-12)
        assert factor.pivots[j] == pytest.approx(L[i, i] ** 2, rel=1e-12)


@pytest.mark.parametrize(("rho", "first"), [(0.7, 0.0), (0.7, -1.0), (0.7, 0.3), (1.0, 0.999), (0.9, 0.85)])
def test_an_indefinite_matrix_is_refused_at_levinsons_row(rho, first):
    r = np.array([first, *(rho ** np.arange(1.0, 300))])
    solution, other = (solve_toeplitz(r, np.ones(300), method) for method in ("geometric", "levinson"))
    assert solution.status is other.status is Status.NOT_POSITIVE_DEFINITE and not np.any(solution.x)
    order = other.why.split("order ")[1].split()[0]
    assert f"order {order} " in solution.why


@given(st.floats(0.2, 1e4), st.floats(1e-3, 10.0), st.integers(32, 400))
@settings(max_examples=60, deadline=None)
def test_auto_solves_a_laplacian_kernel_in_linear_time(sigma, lam, n):
    r, y = laplacian_row(n, sigma, lam), np.cos(np.arange(n))
    solution = solve_toeplitz(r, y)
    assert solution.method == "geometric" and solution.why.startswith("geometric: the first row is geometric")
    assert solution.residual <= rounding(r, solution.x)
    assert residual_norm(r, solution.x, y) <= rounding(r, solution.x)


def test_auto_looks_ahead_if_a_geometric_matrix_is_indefinite():
    solution = solve_toeplitz([0.5, *(0.7 ** np.arange(1.0, 40))], np.ones(40))
    assert solution.ok and solution.method == "lookahead" and "geometric failed" in solution.why


@pytest.mark.parametrize("change", [1e-12, -1e-9, 0.1])
@pytest.mark.parametrize("at", [1, 2, 7, 99])
def test_a_first_row_with_another_entry_is_not_geometric(change, at):
    r = laplacian_row(100, 20.0, 0.1)
    r[at] += change
    assert geometric_row(r) is None
    with pytest.raises(KerncastError) as caught:
        solve_toeplitz(r, np.ones(100), "geometric")
    assert caught.value.problems[0].code == "E226" and "levinson" in caught.value.problems[0].remedy


def test_a_growing_first_row_is_not_geometric():
    assert geometric_row(1.5 ** np.arange(20.0)) is None


def test_a_million_rows_are_solved_to_rounding():
    n = 10**6
    y = np.sin(np.arange(n) / 7.0)
    solution = solve_toeplitz(laplacian_row(n, 30.0, 0.1), y)
    assert solution.method == "geometric" and solution.residual <= 1e-14 * np.linalg.norm(y)


def test_the_residual_of_a_nearly_geometric_row_is_that_of_the_row_itself():
    n = 4000
    r = np.exp(-0.5 * (np.arange(n) / 4.5e8) ** 2)
    r[0] += 1e-6
    y = np.random.default_rng(1).normal(size=n)
    solution = solve_toeplitz(r, y)
    assert solution.residual == pytest.approx(residual_norm(r, solution.x, y), rel=0.1)
