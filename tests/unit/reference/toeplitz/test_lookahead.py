"""Toeplitz systems that are not positive definite: look-ahead Levinson, and what "auto" makes of them."""

import tracemalloc

import numpy as np
import pytest
import pywt
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st

from kerncast.sim.reference import Status, first_row, solve_toeplitz
from kerncast.sim.reference.toeplitz import lookahead as module
from kerncast.sim.reference.toeplitz.product import ToeplitzInverse, ToeplitzProduct


def shifted(r, order, which):
    """`r` less the eigenvalue `which` of its leading block: the minor of that order becomes zero."""
    r = np.array(r, dtype=float)
    r[0] -= np.linalg.eigvalsh(scipy.linalg.toeplitz(r[:order]))[which]
    return r


def ecg_row(n):
    """Autocorrelation of a real ECG, biased: the first row of a real positive definite T."""
    y = pywt.data.ecg().astype(float)
    y = y - y.mean()
    r = np.array([y[j:] @ y[: len(y) - j] for j in range(n)])
    return r / r[0]


def assert_as_good_as_dense(r, Y, solution, factor=1e-14):
    """Error at most factor * cond against numpy, and the residual as small as that allows."""
    T = scipy.linalg.toeplitz(r)
    cond = np.linalg.cond(T)
    exact = np.linalg.solve(T, Y)
    assert solution.ok, solution.why
    assert np.linalg.norm(solution.x - exact) <= factor * cond * np.linalg.norm(exact)
    assert solution.residual <= 1e-14 * np.linalg.norm(T, 2) * np.linalg.norm(solution.x)
    assert sum(solution.blocks) == len(r) and solution.iterations == len(solution.blocks)


ROWS = {
    "first minor zero": [0, 1, 0.3, -0.2, 0.5, 0.1],
    "second minor zero": [1, 1, 0.3, -0.2, 0.5, 0.1],
    "second minor zero, negative": [1, -1, 0.3, 0.7, 0.2, 0.1],
    "third minor exactly zero": [2, 1, -1, 0.5, 0.25, 0.125],  # (k0 - k2)(k0 (k0 + k2) - 2 k1^2) = 3 (2 - 2)
    "first and second minor zero": [0, 0, 1, 0.5, 0.25, 0.1],
    "decreasing in steps of one": [1, 2, 3, 4],
    "nearly zero": [1e-13, 1, 0.3, -0.2, 0.5, 0.1],
    "nearly equal": [1, 1 - 1e-12, 0.3, -0.2, 0.5, 0.1],
    "minus the identity": [-1, 0, 0, 0],
}


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("shape", [(), (1,), (3,)])
def test_systems_with_singular_leading_minors_match_a_dense_solver(name, shape):
    r = np.array(ROWS[name], dtype=float)
    Y = np.random.default_rng(0).normal(size=(len(r), *shape))
    solution = solve_toeplitz(r, Y, "lookahead")
    assert solution.x.shape == Y.shape
    assert_as_good_as_dense(r, Y, solution)
    assert solution.residual <= 1e-11 * np.linalg.norm(Y)


def test_a_singular_minor_is_stepped_over_with_a_log_entry():
    assert solve_toeplitz([0, 1, 0.3, 0.1], np.ones(4), "lookahead").blocks[0] == 2
    assert solve_toeplitz([1, 1, 0.3, 0.1], np.ones(4), "lookahead").blocks[:2] == (1, 2)
    third = solve_toeplitz(ROWS["third minor exactly zero"], np.ones(6), "lookahead").blocks
    assert 3 not in np.cumsum(third)


@pytest.mark.covering
@pytest.mark.parametrize("order", [2, 3, 5, 8])
@pytest.mark.parametrize("which", [0, 1, -1])
@pytest.mark.parametrize("n", [40, 400])
def test_lambda_equal_to_minus_an_eigenvalue_of_a_leading_block(order, which, n):
    rng = np.random.default_rng([order, n])
    y = rng.normal(size=n)
    for row in (ecg_row(n), rng.normal(size=n) / np.arange(1, n + 1)):
        r = shifted(row, order, which)
        assert_as_good_as_dense(r, y, solve_toeplitz(r, y, "lookahead"))


@pytest.mark.parametrize("n", [2, 3, 10, 60, 300])
def test_random_indefinite_systems_agree_with_a_dense_solver(n):
    for seed in range(8):
        rng = np.random.default_rng([n, seed])
        r, Y = rng.normal(size=n), rng.normal(size=(n, 2))
        assert_as_good_as_dense(r, Y, solve_toeplitz(r, Y, "lookahead"))


@pytest.mark.parametrize("order", [3, 4])
def test_blocks_do_not_multiply_the_errors_of_those_before(monkeypatch, order):
    r = shifted(np.exp(-np.arange(500.0) ** 2 / 18.0), order, 0)
    y = np.random.default_rng(3).normal(size=500)
    for name, threshold in (("_GOOD", 0.3), ("_NEAR_BEST", 0.9)):  # many blocks
        monkeypatch.setattr(module, name, threshold)
    solution = module.lookahead(r, y)
    assert sum(p > 1 for p in solution.blocks) >= 20
    assert_as_good_as_dense(r, y, solution)
    assert solution.residual <= 1e-11 * np.linalg.norm(y)
    monkeypatch.setattr(module, "_corrected", lambda k, gw: gw)
    assert module.lookahead(r, y).status == "breakdown"  # what the refinement of each block is for


def test_of_a_positive_definite_matrix_the_steps_are_those_of_levinson():
    r = first_row(np.arange(300.0), 3.0)
    r[0] += 0.01
    y = np.random.default_rng(0).normal(size=300)
    solution, levinson = solve_toeplitz(r, y, "lookahead"), solve_toeplitz(r, y, "levinson")
    assert set(solution.blocks) == {1}
    np.testing.assert_allclose(solution.x, levinson.x, rtol=0, atol=1e-11 * np.abs(levinson.x).max())


@pytest.mark.parametrize("good", [0.3, 1e-3])
@pytest.mark.parametrize("near_best", [0.9, 0.1])
def test_the_answer_does_not_hang_on_the_thresholds(monkeypatch, good, near_best):
    monkeypatch.setattr(module, "_GOOD", good)
    monkeypatch.setattr(module, "_NEAR_BEST", near_best)
    rng = np.random.default_rng(7)
    r, y = rng.normal(size=200), rng.normal(size=200)
    assert_as_good_as_dense(r, y, solve_toeplitz(r, y, "lookahead"))


# ---- saying no ----
def test_a_gap_wider_than_the_block_bound_is_a_breakdown():
    r = np.zeros(20)
    r[10] = 1.0  # minors of order 1 to 19 are zero, T is a permutation
    y = np.arange(1.0, 21.0)
    solution = solve_toeplitz(r, y, "lookahead")
    assert solution.status == "breakdown" and np.all(solution.x == 0.0) and solution.blocks == ()
    assert "row 0 of 20" in solution.why and "max_block" in solution.why
    assert solution.residual == pytest.approx(np.linalg.norm(y))


def test_a_larger_block_bound_solves_over_a_wide_gap():
    r = np.zeros(20)
    r[10] = 1.0
    y = np.arange(1.0, 21.0)
    wider = solve_toeplitz(r, y, "lookahead", max_block=20)
    assert wider.blocks == (20,)
    assert_as_good_as_dense(r, y, wider)


@pytest.mark.parametrize("r", [[0, 0, 0], [1, 1, 1], [1, -1, 1], [2, -1, -1], [0.0], [1e-320, 0],
                               [0.1, 0.1, 0.1]])
@pytest.mark.parametrize("method", ["lookahead", "auto"])
def test_a_singular_matrix_is_a_breakdown_never_a_number(r, method):
    solution = solve_toeplitz(r, np.arange(1.0, len(r) + 1), method)
    assert solution.status is Status.BREAKDOWN and solution.why
    assert np.all(solution.x == 0.0) and np.isfinite(solution.residual)


@pytest.mark.parametrize("exponent", range(4, 18, 2))
def test_towards_a_singular_matrix_an_answer_is_right_or_refused(exponent):
    r = shifted(np.cos(np.arange(30.0)) * 0.98 ** np.arange(30), 30, 12)
    r[0] += 10.0 ** -exponent
    y = np.random.default_rng(0).normal(size=30)
    solution = solve_toeplitz(r, y, "lookahead")
    residual = np.linalg.norm(y - scipy.linalg.toeplitz(r) @ solution.x)
    assert residual <= 1.1e-6 * np.linalg.norm(y) if solution.ok else np.all(solution.x == 0.0)
    assert solution.ok or exponent > 8


@settings(max_examples=150, deadline=None)
@given(st.lists(st.one_of(st.integers(-2, 2).map(float), st.floats(-2, 2)), min_size=1, max_size=10),
       st.integers(0, 2**32 - 1), st.sampled_from(["lookahead", "auto"]))
def test_any_first_column_gives_a_right_answer_or_none(r, seed, method):
    y = np.random.default_rng(seed).normal(size=len(r))
    solution = solve_toeplitz(r, y, method)
    T = scipy.linalg.toeplitz(r)
    if solution.ok:
        assert np.linalg.norm(y - T @ solution.x) <= 1.1e-6 * np.linalg.norm(y)
    else:
        assert np.all(solution.x == 0.0) and solution.why
        assert np.linalg.cond(T) > 1e8


def test_a_system_of_integers_is_refused_only_where_the_matrix_is_singular():
    for seed in range(60):
        rng = np.random.default_rng(seed)
        r = rng.integers(-1, 2, size=12).astype(float)
        solution = solve_toeplitz(r, rng.normal(size=12), "lookahead")
        assert solution.ok == (abs(np.linalg.det(scipy.linalg.toeplitz(r))) > 0.5)


# ---- auto ----
def test_auto_uses_levinson_if_possible_and_states_the_reason():
    solution = solve_toeplitz([2, 1, 0.5, 0.25], [1, 2, 3, 4])
    assert (solution.method, solution.blocks) == ("levinson", ())
    assert solution.why == "levinson: the matrix is positive definite"


def test_auto_uses_lookahead_if_a_leading_minor_is_not_positive():
    solution = solve_toeplitz([1, 2, 3, 4], [1, 2, 3, 4])
    assert solution.ok and solution.method == "lookahead"
    for word in ("levinson failed", "minor of order 2", "lookahead"):
        assert word in solution.why
    assert_as_good_as_dense(np.array([1.0, 2, 3, 4]), np.array([1.0, 2, 3, 4]), solution)


# ---- the inverse in closed form, and what it costs ----
@pytest.mark.parametrize("r", [[2, 1, 0.5, 0.25], [0, 1, 0.3, -0.2], [2, 1, -1, 0.5], [0, 1], [3.0]])
def test_the_inverse_from_two_vectors_does_not_need_a_regular_minor_before(r):
    T = scipy.linalg.toeplitz(r)
    inverse = np.linalg.inv(T)
    rho = np.append(r[1:], 0.7)
    product = ToeplitzInverse(inverse[:, 0], -inverse @ rho)
    np.testing.assert_allclose(product @ np.eye(len(r)), inverse, atol=1e-14)
    np.testing.assert_allclose(ToeplitzProduct(np.array(r)) @ np.eye(len(r)), T, atol=1e-14)


def test_lookahead_never_stores_the_matrix():
    rng = np.random.default_rng(0)
    r, y = rng.normal(size=1200), rng.normal(size=1200)
    tracemalloc.start()
    assert solve_toeplitz(r, y, "lookahead").ok
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1200 * 1200 * 8 / 8
