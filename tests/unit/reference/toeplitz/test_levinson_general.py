"""Levinson without symmetry, and two orders of it in one sweep, against dense solutions and each other."""

import numpy as np
import pytest
import scipy.linalg

from kerncast.sim.reference import compiled, first_row, solve_toeplitz
from kerncast.sim.reference.toeplitz.auto import levinson_general
from kerncast.sim.reference.toeplitz.levinson import one_order
from kerncast.sim.reference.toeplitz.levinson_sweeps import two_orders

RNG = np.random.default_rng(11)


def gaussian_row(n, lam=0.1):
    r = first_row(np.arange(float(n)), 3.0)
    r[0] += lam
    return r


# ---- two orders in one sweep ----
@pytest.mark.parametrize("columns", [1, 3])
@pytest.mark.parametrize("n", [*range(1, 14), 1023, 1024, 1026, 2100])
def test_two_orders_in_one_sweep_are_the_recursion_in_print(n, columns):
    r, Y = gaussian_row(n), RNG.normal(size=(n, columns))
    x, xi, eps, well, held = two_orders(r, Y)
    printed = one_order(r, Y)
    np.testing.assert_allclose(x, printed[0], rtol=0, atol=1e-12 * np.abs(x).max())
    np.testing.assert_allclose(xi, printed[1], rtol=0, atol=1e-13)
    assert eps == pytest.approx(printed[2], rel=1e-12) and well and held > 0


@pytest.mark.parametrize("r", [
    [1, 1, 1], [1, 2, 0], [1, 0.9, 0.2], [1, 0.9, 0.2, 0, 0, 0], [1, 0.5, 0.9, 0.1], [1, 0.1, 0.1, 1.2],
    [1, 0.1, 0.1, 0.1, 1.2], [1, 0.5, float("inf"), 1, 1]])
def test_both_stop_at_the_same_order(r):
    r, Y = np.array(r, dtype=float), np.ones((len(r), 1))
    fast, printed = two_orders(r, Y), one_order(r, Y)
    assert not fast[3] and not printed[3] and len(fast[1]) == len(printed[1])


def test_without_numba_the_answer_is_the_same(monkeypatch):
    r, Y = gaussian_row(1300), RNG.normal(size=(1300, 2))
    fast = solve_toeplitz(r, Y, "levinson")
    monkeypatch.setattr("kerncast.sim.jit.COMPILED", False)
    plain = solve_toeplitz(r, Y, "levinson")
    np.testing.assert_allclose(plain.x, fast.x, rtol=0, atol=1e-12 * np.abs(fast.x).max())


# ---- no symmetry ----
def general(n, seed=0):
    rng = np.random.default_rng(seed)
    column, row = (rng.normal(size=n) / np.arange(1.0, n + 1) for _ in range(2))
    column[0] = row[0] = 3.0
    return column, row


@pytest.mark.covering
@pytest.mark.parametrize("engine", ["compiled", "numpy"])
@pytest.mark.parametrize("n", [1, 2, 3, 50, 301])
@pytest.mark.parametrize("shape", [(), (1,), (3,)])
def test_a_matrix_without_symmetry_is_solved_as_densely(n, shape, engine, monkeypatch):
    monkeypatch.setattr(compiled, "COMPILED_FROM", 0 if engine == "compiled" else 1 << 60)
    column, row = general(n)
    Y = RNG.normal(size=(n, *shape))
    solution = solve_toeplitz(column, Y, r_row=row)
    T = scipy.linalg.toeplitz(column, row)
    exact = np.linalg.solve(T, Y)
    assert solution.ok and solution.x.shape == Y.shape and solution.method == "levinson"
    assert np.linalg.norm(solution.x - exact) <= 1e-14 * np.linalg.cond(T) * np.linalg.norm(exact)
    assert solution.residual == pytest.approx(np.linalg.norm(Y - T @ solution.x, axis=0).max(), abs=1e-13)
    ratio = np.linalg.det(T) / np.linalg.det(T[:-1, :-1]) if 1 < n < 100 else solution.eps
    assert solution.eps == pytest.approx(ratio)


def test_many_rows_without_symmetry_are_judged_by_fft():
    column, row = general(5000)
    y = RNG.normal(size=5000)
    solution = solve_toeplitz(column, y, r_row=row)
    assert solution.ok and solution.residual <= 1e-12 * np.linalg.norm(y)
    np.testing.assert_allclose(solution.x, scipy.linalg.solve_toeplitz((column, row), y), rtol=0, atol=1e-12)


@pytest.mark.parametrize("engine", ["compiled", "numpy"])
@pytest.mark.parametrize(("column", "row"), [
    ([0, 1, 2], [0, 3, 1]), ([1, 2, 1], [1, 0.5, 7]), ([1, 1], [1, 1])])
def test_a_leading_minor_of_zero_is_a_breakdown_and_gives_zeros(column, row, engine, monkeypatch):
    monkeypatch.setattr(compiled, "COMPILED_FROM", 0 if engine == "compiled" else 1 << 60)
    solution = levinson_general(*map(np.array, (column, row)), np.ones(len(column)))
    assert solution.status == "breakdown" and not solution.x.any()
    assert "leading minor of order" in solution.why


# ---- what the steps cost ----
@pytest.mark.parametrize("method", ["levinson", "schur", "lookahead", "pcg"])
def test_reported_bytes_and_operations_grow_as_the_method_states(method):
    small, large = (solve_toeplitz(gaussian_row(n), np.ones(n), method) for n in (1100, 4400))
    power = 1 if method == "pcg" else 2
    assert 0 < 2 * small.bytes < large.bytes <= 6 * small.bytes
    assert 0.5 * 4**power * small.operations < large.operations < 2.5 * 4**power * small.operations


@pytest.mark.parametrize("r", [[1, 2, 3, 4], [0, 1, 0.3], [1, 1, 0.5], [1, -1, 1, 0.5, 0.1], [0, 0, 1, 0],
                               [2, 2, 1, 2, 0.5]])
def test_auto_solves_despite_singular_leading_minors(r):
    T, y = scipy.linalg.toeplitz(r), np.arange(1.0, len(r) + 1)
    solution = solve_toeplitz(r, y)
    exact = np.linalg.solve(T, y)
    assert solution.ok and solution.residual <= 1e-11 * np.linalg.norm(y)
    assert np.linalg.norm(solution.x - exact) <= 1e-14 * np.linalg.cond(T) * np.linalg.norm(exact)
