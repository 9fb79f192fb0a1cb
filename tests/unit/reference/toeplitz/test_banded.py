"""Banded Toeplitz systems: the factor by Schur's recursion, its limits, and the choice of "auto"."""

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st

from kerncast.sim.errors import KerncastError
from kerncast.sim.reference import Status, first_row, residual_norm, solve_toeplitz
from kerncast.sim.reference.toeplitz.banded import NEGLIGIBLE, bandwidth, factorise


def gaussian_row(n, sigma=3.0, lam=0.1):
    r = first_row(np.arange(float(n)), sigma)
    r[0] += lam
    return r


def band(n, *entries):
    return np.concatenate((entries, np.zeros(n - len(entries))))


@pytest.mark.parametrize("n", [1, 2, 3, 5, 17, 255, 256, 700])
@pytest.mark.parametrize("shape", [(), (1,), (3,)])
def test_the_solution_is_that_of_a_dense_solver(n, shape):
    for entries in ([2.0], [2.0, 0.9], [4.0, 1.0, -0.5], [3.0, 0.0, 1.0, 0.4]):
        r, Y = band(n + 3, *entries)[:n], np.random.default_rng(n).normal(size=(n, *shape))
        if np.count_nonzero(r[-1:]) and n > 1:
            continue
        solution = solve_toeplitz(r, Y, "banded")
        assert solution.ok and solution.x.shape == Y.shape
        exact = np.linalg.solve(scipy.linalg.toeplitz(r), Y)
        np.testing.assert_allclose(solution.x, exact, rtol=0, atol=1e-13)
        assert solution.residual == pytest.approx(residual_norm(r, solution.x, Y), abs=1e-13)


@pytest.mark.parametrize(("sigma", "lam"), [(1.0, 1.0), (3.0, 0.1), (3.0, 1e-3), (10.0, 1e-4)])
def test_the_error_is_within_the_conditioning_of_a_gaussian_kernel(sigma, lam):
    r, y = gaussian_row(600, sigma, lam), np.random.default_rng(2).normal(size=600)
    T = scipy.linalg.toeplitz(r)
    solution, exact = solve_toeplitz(r, y, "banded"), np.linalg.solve(T, y)
    assert np.linalg.norm(solution.x - exact) <= 1e-14 * np.linalg.cond(T) * np.linalg.norm(exact)


@pytest.mark.parametrize("n", [40, 300])
def test_the_log_determinant_comes_with_the_factor(n):
    r = gaussian_row(n)
    solution = solve_toeplitz(r, np.ones(n), "banded")
    assert solution.log_det == pytest.approx(np.linalg.slogdet(scipy.linalg.toeplitz(r))[1], rel=1e-12)


def test_the_columns_of_the_factor_are_those_of_cholesky():
    r, n = gaussian_row(200), 200
    factor = factorise(r[: bandwidth(r) + 1], n)
    L = scipy.linalg.cholesky(scipy.linalg.toeplitz(r), lower=True)
    rows = len(factor.pivots)
    assert factor.positive and rows < 70
    for i in (0, 1, rows - 1, 120):
        column = factor.columns[min(i, rows - 1)]
        np.testing.assert_allclose(L[i + 1: i + 1 + len(column), i] / L[i, i], column, rtol=0, atol=1e-14)
        assert factor.pivots[min(i, rows - 1)] == pytest.approx(L[i, i] ** 2, rel=1e-14)


@pytest.mark.parametrize(("entries", "order"), [
    ([0.0], 1), ([-1.0, 0.2], 1), ([1.0, 1.0], 2), ([1.0, 0.9], 3), ([1.0, 0.51], 15)])
def test_an_indefinite_band_is_refused_at_levinsons_row(entries, order):
    r = band(300, *entries)
    solution, other = (solve_toeplitz(r, np.ones(300), method) for method in ("banded", "levinson"))
    assert solution.status is other.status is Status.NOT_POSITIVE_DEFINITE
    assert f"order {order} " in solution.why and f"order {order} " in other.why and not np.any(solution.x)


@given(st.lists(st.floats(-0.2, 0.2), min_size=1, max_size=5), st.integers(8, 400))
@settings(max_examples=60, deadline=None)
def test_a_dominant_diagonal_is_always_solved_to_rounding(entries, n):
    r, y = band(n, 2.0, *entries), np.cos(np.arange(n))
    solution = solve_toeplitz(r, y, "banded")
    assert solution.ok and solution.residual <= 1e-13 * np.linalg.norm(y)


def test_a_tail_below_the_rounding_of_the_diagonal_is_outside_the_band():
    edge = NEGLIGIBLE / 2
    assert bandwidth(np.array([1.0, 0.5, edge / 2, edge / 2])) == 1
    assert bandwidth(np.array([1.0, 0.5, edge, edge])) == 2
    assert bandwidth(np.array([1.0, 0.0, 0.0])) == 0
    assert bandwidth(np.zeros(3)) == 0


def test_a_matrix_without_a_band_is_refused_with_its_remedy():
    with pytest.raises(KerncastError) as caught:
        solve_toeplitz([2.0, 1.0, 0.5], [1.0, 2.0, 3.0], "banded")
    assert caught.value.problems[0].code == "E226" and "auto" in caught.value.problems[0].remedy


def test_auto_takes_the_band_where_it_is_narrow():
    y = np.ones(400)
    assert solve_toeplitz(gaussian_row(400), y).method == "banded"
    assert solve_toeplitz(gaussian_row(400, 20.0), y).method == "levinson"


def test_auto_looks_ahead_where_the_band_is_indefinite():
    solution = solve_toeplitz(band(64, 1.0, 0.8), np.ones(64))
    assert solution.method == "lookahead" and "banded failed" in solution.why


def test_a_million_rows_are_solved_to_rounding():
    n = 10**6
    y = np.sin(np.arange(n) / 7.0)
    solution = solve_toeplitz(gaussian_row(n), y)
    assert solution.method == "banded" and solution.residual <= 1e-14 * np.linalg.norm(y)
