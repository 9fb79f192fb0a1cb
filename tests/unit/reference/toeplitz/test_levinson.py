"""Toeplitz systems: symmetric Levinson with guard."""

import tracemalloc

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st

from kerncast.sim.errors import KerncastError
from kerncast.sim.reference import Status, first_row, residual_norm, solve_toeplitz


def positive_definite(n, seed=0, lam=0.1):
    r = first_row(np.random.default_rng(seed).normal(size=(n, 2)), 1.0, "diagonal_mean_biased")
    r[0] += lam
    return r


def test_the_check_value_of_the_paper():
    solution = solve_toeplitz([2, 1, 0.5, 0.25], [1, 2, 3, 4])
    np.testing.assert_allclose(solution.x, [0, 1 / 3, 1 / 2, 5 / 3], atol=1e-15)
    np.testing.assert_allclose(solution.xi, [-0.5, 0, 0], atol=1e-15)
    assert solution.eps == pytest.approx(1.5)
    assert (solution.status, solution.iterations) == ("ok", 3)


@pytest.mark.parametrize("n", [1, 2, 3, 17, 256])
@pytest.mark.parametrize("shape", [(), (1,), (3,)])
def test_levinson_equals_scipy_for_one_and_several_right_hand_sides(n, shape):
    r = positive_definite(n)
    Y = np.random.default_rng(1).normal(size=(n, *shape))
    solution = solve_toeplitz(r, Y)
    assert solution.ok and solution.x.shape == Y.shape
    np.testing.assert_allclose(solution.x, scipy.linalg.solve_toeplitz(r, Y), rtol=1e-9, atol=1e-12)


def test_eps_is_the_ratio_of_the_last_two_leading_minors():
    r = positive_definite(12)
    solution = solve_toeplitz(r, np.ones(12))
    minors = [np.linalg.det(scipy.linalg.toeplitz(r[:m])) for m in (11, 12)]
    assert solution.eps == pytest.approx(minors[1] / minors[0])


def test_reflection_coefficients_stay_below_one():
    solution = solve_toeplitz(positive_definite(12), np.ones(12))
    assert len(solution.xi) == 11 and np.all(np.abs(solution.xi) < 1)


def test_the_residual_bounds_the_error_by_lambda():
    lam = 1e-5
    r = first_row(np.arange(200.0), 6.0)
    r[0] += lam
    y = np.random.default_rng(2).normal(size=200)
    solution = solve_toeplitz(r, y)
    exact = np.linalg.solve(scipy.linalg.toeplitz(r), y)
    assert solution.ok
    assert np.linalg.norm(solution.x - exact) <= solution.residual / lam + 1e-9 * np.linalg.norm(exact)


def test_the_residual_is_the_one_of_the_dense_system():
    rng = np.random.default_rng(3)
    r, x, Y = rng.normal(size=30), rng.normal(size=(30, 2)), rng.normal(size=(30, 2))
    dense = np.linalg.norm(Y - scipy.linalg.toeplitz(r) @ x, axis=0)
    assert residual_norm(r, x, Y) == pytest.approx(dense.max())


@pytest.mark.parametrize("r", [[1, 1, 1], [1, 2, 0], [0, 1, 0], [-1, 0, 0], [1, 0.9, 0.2], [1, -1, 1]])
def test_a_matrix_that_is_not_positive_definite_is_named_and_gives_zeros(r):
    solution = solve_toeplitz(r, [1.0, 2.0, 3.0], method="levinson")
    assert solution.status == "not_positive_definite" and not solution.ok
    assert np.all(solution.x == 0.0)
    assert solution.residual == pytest.approx(np.sqrt(14))


def test_plain_diagonal_means_of_shuffled_data_are_refused():
    X = np.random.default_rng(0).normal(size=(60, 2))
    r = first_row(X, 1.0, "diagonal_mean")
    r[0] += 1e-4
    assert scipy.linalg.eigvalsh(scipy.linalg.toeplitz(r))[0] < 0
    assert solve_toeplitz(r, np.ones(60), "levinson").status is Status.NOT_POSITIVE_DEFINITE


@pytest.mark.parametrize("lam", [1e-9, 1e-11, 1e-13, 1e-15, 0.0])
def test_a_system_beyond_the_precision_is_a_breakdown_never_a_wrong_answer(lam):
    r = first_row(np.arange(256.0), 20.0)
    r[0] += lam
    y = np.random.default_rng(4).normal(size=256)
    solution = solve_toeplitz(r, y, method="levinson")
    if solution.ok:
        assert solution.residual <= 1e-6 * np.linalg.norm(y)
    else:
        assert solution.status in (Status.BREAKDOWN, Status.NOT_POSITIVE_DEFINITE)
        assert np.all(solution.x == 0.0)
    assert lam > 1e-10 or not solution.ok


@pytest.mark.parametrize(("r", "y"), [
    ([1e-320, 0.0], [1.0, 1.0]),
    ([1e308, 1e308 / 2], [1e308, -1e308]),
    ([1.0, 0.5], [1.7e308, 1.7e308]),
    ([1e-300, 9e-301], [1e300, 1.0]),
])
@pytest.mark.parametrize("method", ["auto", "levinson", "schur", "lookahead", "pcg"])
def test_overflow_never_enters_the_answer(r, y, method):
    solution = solve_toeplitz(r, y, method)
    assert np.all(np.isfinite(solution.x)) and not np.isnan(solution.residual)
    assert solution.ok or np.all(solution.x == 0.0)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.floats(-2, 2), min_size=1, max_size=8), st.integers(0, 2**32 - 1))
def test_any_first_column_gives_a_right_answer_or_none(r, seed):
    y = np.random.default_rng(seed).normal(size=len(r))
    solution = solve_toeplitz(r, y, method="levinson")
    if solution.ok:
        residual = np.linalg.norm(y - scipy.linalg.toeplitz(r) @ solution.x)
        assert residual <= 1.1e-6 * np.linalg.norm(y)
        assert scipy.linalg.eigvalsh(scipy.linalg.toeplitz(r))[0] > 0
    else:
        assert np.all(solution.x == 0.0)


def test_levinson_never_stores_the_matrix():
    r, y = positive_definite(1500), np.ones(1500)
    tracemalloc.start()
    assert solve_toeplitz(r, y).ok
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1500 * 1500 * 8 / 50


def test_a_right_hand_side_of_zero_is_solved_by_zero():
    solution = solve_toeplitz([1.0, 0.5], [0.0, 0.0])
    assert solution.ok and np.all(solution.x == 0.0) and solution.residual == 0.0


def test_the_arguments_are_not_changed():
    r, y = positive_definite(5), np.ones(5)
    kept = r.copy()
    solve_toeplitz(r, y)
    np.testing.assert_array_equal(r, kept)
    np.testing.assert_array_equal(y, np.ones(5))


def test_a_row_equal_to_the_column_is_accepted():
    assert solve_toeplitz([2, 1], [1, 1], r_row=[2, 1]).ok


@pytest.mark.parametrize(("r", "Y", "options", "code"), [
    ([2, 1], [1, float("nan")], {}, "E225"),
    ([2, float("inf")], [1, 1], {}, "E225"),
    ([2, 1], [1, 2, 3], {}, "E225"),
    ([[2, 1], [1, 2]], [1, 1], {}, "E225"),
    ([], [], {}, "E225"),
    ([2, 1], np.ones((2, 0)), {}, "E225"),
    ([2, 1], np.ones((2, 1, 1)), {}, "E225"),
    ([2, 1], [1, 1], {"method": "guess"}, "E226"),
    ([2, 1], [1, 1], {"r_row": [2, 0.5], "method": "pcg"}, "E227"),
    ([2, 1], [1, 1], {"r_row": [1, 0.5]}, "E225"),
    ([2, 1], [1, 1], {"r_row": [2, 0.5, 0.1]}, "E225"),
    ([2, 1], [1, 1], {"max_block": 1}, "E235"),
    ([2, 1], [1, 1], {"max_block": 2.5}, "E235"),
    ([2, 1], [1, 1], {"preconditioner": "jacobi"}, "E236"),
    ([2, 1], [1, 1], {"tolerance": 0.0}, "E236"),
    ([2, 1], [1, 1], {"tolerance": float("nan")}, "E236"),
])
def test_bad_input_is_refused_with_code_place_and_remedy(r, Y, options, code):
    with pytest.raises(KerncastError) as caught:
        solve_toeplitz(r, Y, **options)
    problem = caught.value.problems[0]
    assert problem.code == code
    assert problem.where and problem.allowed and problem.remedy
