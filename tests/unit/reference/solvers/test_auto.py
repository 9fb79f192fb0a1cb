"""The solvers of kernel systems: every method against the dense solution, and what they refuse."""

import doctest
import importlib
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kerncast.sim.errors import KerncastError
from kerncast.sim.kernels import Gaussian, Linear, Polynomial
from kerncast.sim.reference import solve_kernel
from kerncast.sim.reference.solvers import auto as door
from kerncast.sim.reference.solvers.auto import SAMPLE_SOLVERS, SOLVERS, solve_system
from kerncast.sim.reference.systems.system import DenseSystem, KernelSystem, System, ToeplitzSystem

N = 60
DIRECT = ("elimination", "cholesky", "eigh")
ITERATIVE = [("cg", {"preconditioner": "none"}), ("cg", {"preconditioner": "nystrom", "landmarks": 20}),
             ("block_gauss_seidel", {"block": 25}), ("block_gauss_seidel", {"block": 25, "interleave": True})]


def samples():
    rng = np.random.default_rng(3)
    return rng.normal(size=(N, 3)), rng.normal(size=(N, 2))


def systems() -> list[System]:
    """The three ways to hold a matrix."""
    X, _ = samples()
    r = np.exp(-np.arange(N) ** 2 / 8.0)
    r[0] += 0.1
    kernel = KernelSystem(Gaussian(1.2), X, 0.3)
    return [DenseSystem(kernel.dense()), kernel, ToeplitzSystem(r), KernelSystem(Linear(), X, 0.3),
            KernelSystem(Polynomial(2, 0.5, 1.0), X, 0.3)]


def name_of(system):
    return system.kernel.name if isinstance(system, KernelSystem) else type(system).__name__


@pytest.mark.parametrize("system", systems(), ids=name_of)
def test_every_representation_of_a_matrix_has_the_same_entries(system):
    A = system.dense()
    np.testing.assert_array_equal(A, A.T)
    np.testing.assert_allclose(system.diagonal(), np.diagonal(A), rtol=1e-15)
    np.testing.assert_allclose(system.block(slice(5, 9), np.array([8, 2, 59])), A[5:9][:, [8, 2, 59]],
                               rtol=0, atol=1e-13 * np.abs(A).max())
    V = np.random.default_rng(0).normal(size=(N, 2))
    np.testing.assert_allclose(system @ V, A @ V, atol=1e-12 * np.abs(A).max())
    np.testing.assert_allclose(system @ V[:, 0], A @ V[:, 0], atol=1e-12 * np.abs(A).max())


def test_a_product_made_in_strips_is_the_product(monkeypatch):
    X, Y = samples()
    system = KernelSystem(Gaussian(1.2), X, 0.3)
    whole = system @ Y
    monkeypatch.setattr("kerncast.sim.reference.systems.system.BLOCK_VALUES", 7 * N)
    np.testing.assert_allclose(system @ Y, whole, rtol=0, atol=1e-13)
    assert system.product_cost.kernel_values < 0.7 * N * N  # each pair of samples is looked at once


@pytest.mark.parametrize("system", systems(), ids=name_of)
@pytest.mark.parametrize("method", SOLVERS)
def test_every_method_solves_every_system_it_takes(system, method):
    _, Y = samples()
    solution = solve_system(system, Y, method)
    exact = np.linalg.solve(system.dense(), Y)
    assert solution.ok and solution.method == method
    assert np.abs(solution.x - exact).max() <= 1e-7 * np.abs(exact).max()
    found = np.linalg.norm(Y - system @ solution.x, axis=0).max()
    assert solution.residual == pytest.approx(found, abs=1e-12)
    assert solution.bytes > 0 and solution.operations > 0
    if not isinstance(system, KernelSystem):
        assert solution.kernel_values == 0


def ill_conditioned(condition: float) -> list[System]:
    """Dense of that condition, and a kernel matrix of about it."""
    rng = np.random.default_rng(5)
    Q = np.linalg.qr(rng.normal(size=(N, N)))[0]
    A = Q * np.geomspace(1.0, 1.0 / condition, N) @ Q.T
    return [DenseSystem((A + A.T) / 2), KernelSystem(Gaussian(3.0), samples()[0], 50.0 / condition)]


@pytest.mark.parametrize("condition", [1e3, 1e7, 1e11])
@pytest.mark.parametrize("method", DIRECT)
def test_direct_solutions_are_as_good_as_the_condition_lets_them(method, condition):
    for system in ill_conditioned(condition):
        A = system.dense()
        exact = np.random.default_rng(1).normal(size=(N, 2))
        solution = solve_system(system, A @ exact, method)
        assert solution.ok
        error = np.linalg.norm(solution.x - exact) / np.linalg.norm(exact)
        assert error <= 1e-14 * np.linalg.cond(A)


@pytest.mark.parametrize("tolerance", [1e-5, 1e-10])
@pytest.mark.parametrize(("method", "options"), ITERATIVE, ids=str)
def test_iterations_are_as_good_as_tolerance_and_condition_let_them(method, options, tolerance):
    for system in ill_conditioned(30.0):
        A, Y = system.dense(), samples()[1]
        solution = solve_system(system, Y, method, tolerance=tolerance, **options)
        exact = np.linalg.solve(A, Y)
        assert solution.ok, solution.why
        sizes = np.linalg.norm(Y, axis=0)
        assert np.all(np.linalg.norm(Y - A @ solution.x, axis=0) <= 1.02 * tolerance * sizes)
        error = np.linalg.norm(solution.x - exact) / np.linalg.norm(exact)
        assert error <= 10 * tolerance * np.linalg.cond(A)


@pytest.mark.parametrize("method", SOLVERS)
def test_outputs_are_solved_side_by_side_as_if_alone(method):
    system, (_, Y) = systems()[1], samples()
    Y = np.column_stack((Y * [1.0, 1e-9], np.zeros(N)))
    together = solve_system(system, Y, method).x
    for c in range(3):
        alone = solve_system(system, Y[:, c], method)
        assert alone.ok and alone.x.shape == (N,)
        size = np.abs(alone.x).max()
        np.testing.assert_allclose(together[:, c], alone.x, rtol=0, atol=1e-8 * size + 1e-300)


# ---- what has no solution ----
ODD = {"zero": np.zeros((3, 3)), "indefinite": np.array([[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
       "singular": np.ones((3, 3)), "negative": -np.eye(3), "huge": 1e300 * np.eye(3),
       "tiny": 1e-300 * np.eye(3), "nearly singular": np.array([[1, 1, 0], [1, 1 + 1e-15, 0], [0, 0, 1.0]])}


def holds(A, y, solution):
    """A right answer, or zeros and a reason."""
    assert np.isfinite(solution.x).all() and np.isfinite(solution.residual)
    if solution.ok:
        assert np.linalg.norm(y - A @ solution.x) <= 1.1e-6 * np.linalg.norm(y)
    else:
        assert not solution.x.any() and solution.why


@pytest.mark.parametrize("kind", ODD)
@pytest.mark.parametrize(("method", "options"), [*((m, {}) for m in SOLVERS), *ITERATIVE[1:], ("auto", {})],
                         ids=str)
def test_a_singular_or_indefinite_matrix_gets_an_answer_or_status_not_nan(method, options, kind):
    if method == "cg":
        options = options | ({"landmarks": 2} if "landmarks" in options else {})
    y = np.array([1.0, 2.0, -1.0])
    solution = solve_system(DenseSystem(ODD[kind]), y, method, **options)
    holds(ODD[kind], y, solution)
    if kind in ("zero", "singular"):
        assert not solution.ok
    if kind in ("huge", "tiny") and method in DIRECT:
        assert solution.ok
    if kind in ("indefinite", "negative") and method in ("elimination", "eigh", "auto"):
        assert solution.ok
    if kind == "indefinite" and method == "cholesky":
        assert solution.status == "not_positive_definite"


@settings(max_examples=80, deadline=None)
@given(st.lists(st.integers(-2, 2), min_size=10, max_size=10), st.integers(0, 2**32 - 1),
       st.sampled_from([*((m, {}) for m in SOLVERS if m != "wavelet"),
                        ("block_gauss_seidel", {"block": 2, "max_sweeps": 50}),
                        ("block_gauss_seidel", {"block": 2, "interleave": True})]))
def test_any_symmetric_matrix_gives_a_right_answer_or_none(entries, seed, chosen):
    A = np.zeros((4, 4))
    A[np.tril_indices(4)] = entries
    A = A + np.tril(A, -1).T
    y = np.random.default_rng(seed).normal(size=4)
    holds(A, y, solve_system(DenseSystem(A), y, chosen[0], **chosen[1]))


def test_a_matrix_beyond_the_memory_is_refused_with_its_bytes():
    X, y = np.zeros((10**6, 1)), np.zeros(10**6)
    with pytest.raises(KerncastError, match=r"E237[\s\S]*8,000,000,000,000 bytes"):
        solve_kernel(X, y, 1.0, 1.0, "cholesky")
    for method, options in (("block_gauss_seidel", {"block": 10**6}), ("subset", {"landmarks": 10**6})):
        with pytest.raises(KerncastError, match="E237"):
            solve_kernel(X, y, 1.0, 1.0, method, **options)


# ---- the linear kernel ----
@pytest.mark.parametrize("lam", [1.0, 1e-5])
@pytest.mark.parametrize("method", ["linear_svd", "linear_direct"])
@pytest.mark.parametrize("shape", [(N, 3), (5, 8)])
def test_the_linear_paths_give_alpha_and_the_weights(method, lam, shape):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=shape) * np.geomspace(1, 30, shape[1]), rng.normal(size=(shape[0], 2))
    system = KernelSystem(Linear(), X, lam)
    A = system.dense()
    solution, exact = solve_system(system, Y, method), np.linalg.solve(A, Y)
    assert solution.ok and solution.method == method
    assert np.abs(solution.x - exact).max() <= 1e-14 * np.linalg.cond(A) * np.abs(exact).max()
    w = np.linalg.solve(X.T @ X + lam * np.eye(shape[1]), X.T @ Y)
    if shape[0] > shape[1] or lam == 1.0:
        np.testing.assert_allclose(solution.w, w, rtol=0, atol=1e-8 * np.abs(w).max())
    Z = X - X.mean(axis=0)
    w = np.linalg.solve(Z.T @ Z + lam * np.eye(shape[1]), Z.T @ Y)  # a bias that is not regularised
    solution = solve_system(system, Y, method, fit_intercept=True)
    if shape[0] > shape[1] or lam == 1.0:
        np.testing.assert_allclose(solution.w, w, rtol=0, atol=1e-8 * np.abs(w).max())
        np.testing.assert_allclose(solution.bias, (Y - X @ w).mean(axis=0), rtol=0, atol=1e-8)


# ---- the door ----
def test_auto_reports_its_choice_and_the_reason(monkeypatch):
    X, Y = samples()
    dense = solve_kernel(X, Y, 1.2, 0.3)
    assert dense.method == "cholesky" and dense.why.startswith(f"cholesky: {N} rows")
    linear = solve_kernel(X, Y, Linear(), 0.3)
    assert linear.method == "linear_svd" and "3 columns" in linear.why and linear.w is not None
    toeplitz = solve_system(ToeplitzSystem(np.r_[2.0, 0.5, np.zeros(1998)]), np.ones(2000))
    assert toeplitz.ok and toeplitz.why.startswith("a Toeplitz matrix of 2000 rows; banded: ")
    t = np.linspace(0.0, 60.0, 30_000)
    grid = solve_kernel(t, np.sin(t), 0.2, 1.0, fit_intercept=True)
    assert grid.ok and grid.method == "pcg" and "a Toeplitz matrix" in grid.why and grid.kernel_values == 0
    indefinite = solve_system(DenseSystem(np.array([[1.0, 2.0], [2.0, 1.0]])), np.ones(2))
    assert indefinite.method == "elimination" and "not cholesky: not_positive_definite" in indefinite.why
    monkeypatch.setattr(door, "free_bytes", lambda: 2 * 8 * N * N - 1)
    large = solve_kernel(X, Y, 1.2, 0.3)
    assert large.method == "cg" and "bytes" in large.why
    np.testing.assert_allclose(large.x, dense.x, rtol=0, atol=1e-8 * np.abs(dense.x).max())


@pytest.mark.parametrize(("change", "code"), [
    ({"sigma": 0.0}, "E220"), ({"lam": 0.0}, "E221"), ({"X": [[np.nan]]}, "E224"),
    ({"y": [1.0, 2.0]}, "E225"), ({"method": "gauss"}, "E238"),
    ({"landmarks": 3}, r"E238[\s\S]*no options"),
    ({"method": "cg", "block": 3}, r"E238[\s\S]*allowed: preconditioner, tolerance, max_steps, steps"),
    ({"X": [[1e200]], "sigma": Linear()}, r"E224[\s\S]*overflows"),
    ({"method": "cg", "tolerance": 0.0}, "E236"), ({"method": "cg", "preconditioner": "ilu"}, "E236"),
    ({"method": "cg", "preconditioner": "strang"}, "E236"), ({"method": "cg", "steps": 0}, "E238"),
    ({"method": "cg", "max_steps": 1.5}, "E238"),
    ({"method": "cg", "preconditioner": "nystrom", "landmarks": 2}, "E238"),
    ({"method": "subset", "landmarks": [0, 0]}, "E238"), ({"method": "subset", "landmarks": [1]}, "E238"),
    ({"method": "subset", "seed": -1}, "E238"), ({"method": "linear_svd"}, r"E238[\s\S]*linear"),
    ({"method": "block_gauss_seidel", "block": 0}, "E238"),
    ({"method": "block_gauss_seidel", "workers": 0}, "E238"),
    ({"method": "block_gauss_seidel", "tolerance": float("nan")}, "E236")])
def test_bad_input_is_refused_by_code(change, code):
    good = {"X": [[1.0]], "y": [1.0], "sigma": 1.0, "lam": 1.0, "method": "cholesky"}
    with pytest.raises(KerncastError, match=code):
        solve_kernel(**good | change)


@pytest.mark.parametrize("method", ["cholesky", "block_gauss_seidel", "auto"])
def test_without_scipy_the_package_is_named(monkeypatch, method):
    monkeypatch.setitem(sys.modules, "scipy.linalg", None)
    with pytest.raises(KerncastError, match=r"E501[\s\S]*pip install scipy"):
        solve_kernel([[1.0]], [1.0], 1.0, 1.0, method)
    assert solve_kernel([[1.0]], [1.0], 1.0, 1.0, "elimination").ok


@pytest.mark.parametrize("method", SAMPLE_SOLVERS)
def test_methods_of_samples_refuse_a_matrix(method):
    with pytest.raises(KerncastError, match="E238"):
        solve_system(DenseSystem(np.eye(2)), np.ones(2), method)


@pytest.mark.parametrize("name", ["solvers.auto", "selection.loo", "selection.path"])
def test_the_examples_in_the_docstrings_are_true(name):
    results = doctest.testmod(importlib.import_module(f"kerncast.sim.reference.{name}"))
    assert results.attempted > 0 and results.failed == 0


@pytest.mark.parametrize("options", [{"landmarks": -3}, {"landmarks": N + 1}, {"seed": "x"}, {"seed": -1}])
def test_landmarks_and_seed_are_checked_whether_they_are_used_or_not(options):
    X, Y = samples()
    for preconditioner in ("auto", "none", "nystrom"):
        with pytest.raises(KerncastError, match="E238"):
            solve_kernel(X, Y, 1.2, 0.3, "cg", preconditioner=preconditioner, **options)


def test_a_lambda_that_dwarfs_the_kernel_leaves_the_subset_an_answer():
    X, Y = samples()
    solution = solve_kernel(X, Y, 1.2, 1e300, "subset", landmarks=10)
    assert solution.ok and len(solution.support) == 10 and np.abs(solution.x).max() < 1e-298


def test_the_largest_threshold_of_the_wavelet_is_allowed():
    t = np.linspace(0.0, 1.0, 64)
    assert "threshold" not in solve_kernel(t, t, 0.1, 10.0, "wavelet", threshold=1.0).why
    with pytest.raises(KerncastError, match="E238"):
        solve_kernel(t, t, 0.1, 10.0, "wavelet", threshold=1.01)
