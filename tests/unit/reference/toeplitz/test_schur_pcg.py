"""Positive definite Toeplitz systems: Schur's generator form, and conjugate gradients by FFT."""

import tracemalloc

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st

from kerncast.sim.reference import Status, first_row, residual_norm, solve_toeplitz
from kerncast.sim.reference.toeplitz.circulant import Circulant
from kerncast.sim.reference.toeplitz.pcg import pcg


def gaussian_row(n, sigma=3.0, lam=0.1):
    r = first_row(np.arange(float(n)), sigma)
    r[0] += lam
    return r


# ---- Schur ----
@pytest.mark.parametrize("n", [1, 2, 3, 17, 256])
@pytest.mark.parametrize("shape", [(), (1,), (3,)])
def test_schur_has_the_answer_and_the_reflection_coefficients_of_levinson(n, shape):
    r, Y = gaussian_row(n), np.random.default_rng(1).normal(size=(n, *shape))
    schur, levinson = solve_toeplitz(r, Y, "schur"), solve_toeplitz(r, Y, "levinson")
    assert schur.ok and schur.x.shape == Y.shape and schur.iterations == levinson.iterations == n - 1
    np.testing.assert_allclose(schur.x, levinson.x, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(schur.xi, levinson.xi, rtol=0, atol=1e-13)
    assert schur.eps == pytest.approx(levinson.eps)


@pytest.mark.parametrize(("sigma", "lam"), [(3.0, 0.01), (20.0, 1e-4), (20.0, 1e-7)])
def test_schur_agrees_with_a_dense_solver_to_the_conditioning(sigma, lam):
    r, y = gaussian_row(400, sigma, lam), np.random.default_rng(2).normal(size=400)
    T = scipy.linalg.toeplitz(r)
    solution = solve_toeplitz(r, y, "schur")
    exact = np.linalg.solve(T, y)
    assert solution.ok
    assert np.linalg.norm(solution.x - exact) <= 1e-14 * np.linalg.cond(T) * np.linalg.norm(exact)


@pytest.mark.parametrize("r", [[1, 1, 1], [1, 2, 0], [0, 1, 0], [-1, 0, 0], [1, 0.9, 0.2], [1, -1, 1]])
def test_schur_refuses_what_levinson_refuses_at_the_same_row(r):
    schur, levinson = (solve_toeplitz(r, [1.0, 2.0, 3.0], method) for method in ("schur", "levinson"))
    assert schur.status is levinson.status is Status.NOT_POSITIVE_DEFINITE
    assert schur.iterations == levinson.iterations and schur.why == levinson.why
    assert np.all(schur.x == 0.0) and schur.residual == pytest.approx(np.sqrt(14))


# ---- conjugate gradients ----
@pytest.mark.covering
@pytest.mark.parametrize("preconditioner", ["strang", "chan", "none"])
@pytest.mark.parametrize("n", [1, 2, 3, 16, 17, 300])
@pytest.mark.parametrize("shape", [(), (1,), (3,)])
def test_pcg_reaches_its_tolerance_for_one_and_several_right_hand_sides(preconditioner, n, shape):
    r, Y = gaussian_row(n), np.random.default_rng(1).normal(size=(n, *shape))
    solution = solve_toeplitz(r, Y, "pcg", preconditioner=preconditioner, tolerance=1e-11)
    T = scipy.linalg.toeplitz(r)
    exact = np.linalg.solve(T, Y)
    assert solution.ok and solution.x.shape == Y.shape and preconditioner in solution.why
    assert solution.residual <= 1.1e-11 * np.linalg.norm(Y)
    assert np.linalg.norm(solution.x - exact) <= 1e-10 * np.linalg.cond(T) * np.linalg.norm(exact)


def test_right_hand_sides_do_not_touch_each_other():
    r = gaussian_row(200)
    Y = np.random.default_rng(3).normal(size=(200, 3)) * [1.0, 1e8, 1e-8]
    Y[:, 1] = 0.0
    Y[:, 2] = 1e-8 * r  # done after fewer steps: T e_1
    together = solve_toeplitz(r, Y, "pcg").x
    for c in range(3):
        np.testing.assert_allclose(together[:, c], solve_toeplitz(r, Y[:, c], "pcg").x,
                                   rtol=0, atol=1e-9 * (np.abs(together[:, c]).max() + 1e-300))
    assert np.all(together[:, 1] == 0.0)


def test_a_circulant_preconditioner_makes_the_steps_few_and_independent_of_n():
    steps = {(n, kind): pcg(gaussian_row(n, 8.0, 1e-3), np.ones(n), kind).iterations
             for n in (500, 4000) for kind in ("strang", "none")}
    assert max(steps[500, "strang"], steps[4000, "strang"]) <= 20
    assert steps[4000, "none"] > 3 * steps[4000, "strang"]


@pytest.mark.parametrize("n", [5, 6])
def test_the_circulants_are_those_of_strang_and_of_chan(n):
    r = np.random.default_rng(0).normal(size=n)
    T = scipy.linalg.toeplitz(r)
    shifts = [np.roll(np.eye(n), j, axis=0) for j in range(n)]
    nearest = sum(np.sum(P * T) / n * P for P in shifts)  # the projection on the circulants
    np.testing.assert_allclose(Circulant(r, "chan").solve(nearest), np.eye(n), atol=1e-12)
    copied = scipy.linalg.circulant([r[min(j, n - j)] for j in range(n)])
    np.testing.assert_allclose(Circulant(r, "strang").solve(copied), np.eye(n), atol=1e-12)


def test_a_strang_preconditioner_that_is_indefinite_gives_way_to_chans():
    r = 1.0 - np.arange(40.0) / 40.0 - 0.3 * (np.arange(40) == 20)
    r[0] = 1.3
    assert np.linalg.eigvalsh(scipy.linalg.toeplitz(r))[0] > 0
    assert not Circulant(r, "strang").positive and Circulant(r, "chan").positive
    solution = solve_toeplitz(r, np.ones(40), "pcg")
    assert solution.ok and "chan" in solution.why


@pytest.mark.parametrize("preconditioner", ["strang", "chan", "none"])
@pytest.mark.parametrize("r", [[1, 2, 3, 4], [-1, 0, 0, 0], [0, 1, 0, 0], [1, 0.9, 0.2, 0]])
def test_pcg_reports_an_indefinite_matrix_and_gives_zeros(preconditioner, r):
    solution = solve_toeplitz(r, [1.0, -2.0, 3.0, 5.0], "pcg", preconditioner=preconditioner)
    assert solution.status is Status.NOT_POSITIVE_DEFINITE and solution.why
    assert np.all(solution.x == 0.0) and solution.residual == pytest.approx(np.sqrt(39))


def test_pcg_stops_at_its_bound_and_at_a_tolerance_out_of_reach():
    r, y = gaussian_row(300, 8.0, 1e-4), np.random.default_rng(0).normal(size=300)
    few = pcg(r, y, max_steps=3)
    assert (few.status, few.iterations) == (Status.NOT_CONVERGED, 3) and np.all(few.x == 0.0)
    far = solve_toeplitz(gaussian_row(300, 20.0, 1e-8), y, "pcg", tolerance=1e-14)
    assert far.status is Status.NOT_CONVERGED and "1e-14" in far.why and np.all(far.x == 0.0)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.floats(-2, 2), min_size=1, max_size=8), st.integers(0, 2**32 - 1),
       st.sampled_from(["schur", "pcg"]))
def test_any_first_column_gives_a_right_answer_or_none(r, seed, method):
    y = np.random.default_rng(seed).normal(size=len(r))
    solution = solve_toeplitz(r, y, method)
    if solution.ok:
        assert np.linalg.norm(y - scipy.linalg.toeplitz(r) @ solution.x) <= 1.1e-6 * np.linalg.norm(y)
    else:
        assert np.all(solution.x == 0.0) and solution.why


# ---- many rows ----
def test_auto_uses_pcg_for_many_rows_in_linear_memory_with_the_reason():
    n = 20_000
    r, y = gaussian_row(n, 100.0), np.random.default_rng(0).normal(size=n)  # too wide for banded
    tracemalloc.start()
    solution = solve_toeplitz(r, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert solution.ok and solution.method == "pcg" and f"{n} rows" in solution.why
    assert solution.iterations <= 20 and peak < 100 * n * 8


@pytest.mark.parametrize(("lam", "method"), [(1e-9, "levinson"), (-0.5, "lookahead")])
def test_auto_falls_back_if_pcg_fails_and_reports_it(lam, method):
    n = 4096
    r = 1e-6 * gaussian_row(n, 100.0, 0.0)  # too wide for banded
    r[0] = 1.0 + lam if method == "lookahead" else r[0] + lam
    if method == "lookahead":
        r[1:3] = 0.7, 0.3  # negative at the highest frequencies
    solution = solve_toeplitz(r, np.random.default_rng(0).normal(size=n), tolerance=1e-14)
    assert solution.ok and solution.method == method, solution.why
    assert solution.why.startswith("pcg failed: ")


def test_the_residual_of_many_rows_is_the_one_summed_row_by_row():
    rng = np.random.default_rng(0)
    n = 5000
    r, x, y = rng.normal(size=n), rng.normal(size=n), rng.normal(size=n)
    mirrored = np.concatenate((r[:0:-1], r))
    exact = np.array([y[i] - mirrored[n - 1 - i: 2 * n - 1 - i] @ x for i in range(n)])
    assert residual_norm(r, x, y) == pytest.approx(np.linalg.norm(exact), rel=1e-12)
