"""Leave-one-out errors against machines trained without the sample; the bias; subset of regressors."""

import numpy as np
import pytest

import kerncast
from kerncast.sim.errors import KerncastError
from kerncast.sim.kernels import Gaussian, Kernel, Laplacian, Linear
from kerncast.sim.reference import solve_kernel
from kerncast.sim.reference.bias import solve_with_bias
from kerncast.sim.reference.selection.path import CholeskyPath, EigenPath, GramPath, SvdPath
from kerncast.sim.reference.solvers.auto import SOLVERS, solve_system
from kerncast.sim.reference.solvers.elimination import elimination
from kerncast.sim.reference.solvers.nystrom import partial_cholesky
from kerncast.sim.reference.solvers.subset import SubsetPath
from kerncast.sim.reference.systems.system import DenseSystem, KernelSystem

N, D = 40, 3
GAUSS = Gaussian(1.2)
PATHS = [(GAUSS, "cholesky"), (GAUSS, "eigh"), (Laplacian(2.0), "auto"), (Linear(), "linear_svd"),
         (Linear(), "linear_direct"), (Linear(), "cholesky"), (Linear(), "auto")]


def samples():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(N, D))
    return X, np.column_stack((np.sin(X[:, 0]) + 3.0, rng.normal(size=N)))


def trained(K, Y, lam, bias):
    """Alpha (n, m) and b (m,) by the bordered system, eliminated whole."""
    n = len(K)
    bordered = np.zeros((n + 1, n + 1))
    bordered[1:, 1:] = K + lam * np.eye(n)
    bordered[0, 1:] = bordered[1:, 0] = float(bias)
    bordered[0, 0] = 0.0 if bias else 1.0
    solution = np.linalg.solve(bordered, np.vstack((np.zeros((1, Y.shape[1])), Y)))
    return solution[1:], solution[0]


def brute_force(kernel: Kernel, X, Y, lam, bias):
    errors = np.empty(Y.shape)
    for i in range(len(X)):
        kept = np.arange(len(X)) != i
        alpha, b = trained(kernel(X[kept], X[kept]), Y[kept], lam, bias)
        errors[i] = Y[i] - (kernel(X[i: i + 1], X[kept]) @ alpha)[0] - b
    return errors


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize(("kernel", "method"), PATHS, ids=lambda v: getattr(v, "name", v))
def test_loo_errors_are_those_of_machines_trained_without_the_sample(kernel, method, bias):
    (X, Y), lams = samples(), [1e-3, 0.1, 10.0]
    errors = kerncast.loo_errors(X, Y, kernel, lams, method=method, fit_intercept=bias)
    assert errors.shape == (3, N, 2)
    for lam, found in zip(lams, errors, strict=True):
        np.testing.assert_allclose(found, brute_force(kernel, X, Y, lam, bias), rtol=0, atol=1e-9)
    one = kerncast.loo_errors(X, Y[:, 0], kernel, 0.1, method=method, fit_intercept=bias)
    np.testing.assert_allclose(one, errors[1:2, :, 0], rtol=0, atol=1e-10)


@pytest.mark.parametrize("bias", [False, True])
def test_loo_errors_of_a_subset_keep_the_regressors(bias):
    (X, Y), lam, R = samples(), 0.1, [3, 17, 20, 31, 5]
    errors = kerncast.loo_errors(X, Y, 1.2, [lam], method="subset", landmarks=R, fit_intercept=bias)[0]
    for i in range(N):
        kept = np.arange(N) != i
        c, b = least_squares(GAUSS(X[kept], X[R]), GAUSS(X[R], X[R]), Y[kept], lam, bias)
        np.testing.assert_allclose(errors[i], Y[i] - GAUSS(X[i: i + 1], X[R])[0] @ c - b, rtol=0, atol=1e-9)


def least_squares(K_TR, K_RR, Y, lam, bias):
    """Minimise |y - K_TR c - b|^2 + lambda c'K_RR c by the normal equations."""
    ones = np.ones((len(Y), 1)) if bias else np.zeros((len(Y), 0))
    Z = np.column_stack((K_TR, ones))
    penalty = np.zeros((Z.shape[1],) * 2)
    penalty[: len(K_RR), : len(K_RR)] = lam * K_RR
    solution = np.linalg.solve(Z.T @ Z + penalty, Z.T @ Y)
    return solution[: len(K_RR)], solution[len(K_RR)] if bias else np.zeros(Y.shape[1])


@pytest.mark.parametrize("bias", [False, True])
def test_every_path_gives_the_coefficients_of_every_lambda(bias):
    X, Y = samples()
    paths = [(GAUSS, CholeskyPath(GAUSS(X, X), Y)), (GAUSS, EigenPath(GAUSS(X, X), Y)),
             (Linear(), SvdPath(X, Y)), (Linear(), GramPath(X, Y))]
    for kernel, path in paths:
        for lam in (1e-4, 0.1, 30.0):
            alpha, b = path.coefficients(lam, bias)
            exact, exact_b = trained(kernel(X, X), Y, lam, bias)
            assert np.abs(alpha - exact).max() <= 1e-8 * np.abs(exact).max()
            np.testing.assert_allclose(b, exact_b, atol=1e-8)


def test_the_least_loo_error_finds_a_lambda_near_the_noise():
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 6, size=(150, 1))
    y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=150)
    lams = 10.0 ** np.arange(-9, 4)
    errors = kerncast.loo_errors(X, y, 1.0, lams)
    best = np.argmin(np.mean(errors**2, axis=1))
    assert 1e-4 <= lams[best] <= 1.0 and np.sqrt(np.mean(errors[best] ** 2)) < 0.12


def test_the_normal_equations_are_refused_where_the_svd_is_needed():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(11, 30)), rng.normal(size=(11, 1))
    with pytest.raises(KerncastError, match=r"E239[\s\S]*linear_svd"):
        kerncast.loo_errors(X, y, Linear(), 1e-15, method="linear_direct")
    for method, lam in (("linear_svd", 1e-15), ("linear_direct", 1e-5)):
        found = kerncast.loo_errors(X, y, Linear(), lam, method=method)[0]
        np.testing.assert_allclose(found, brute_force(Linear(), X, y, lam, False), rtol=0, atol=1e-6)


def test_a_lambda_near_the_rounding_error_needs_the_eigendecomposition():
    X, y = np.zeros((50, 1)), np.arange(50.0)
    with pytest.raises(KerncastError, match="E239"):
        kerncast.loo_errors(X, y, 1.0, [1e-17], method="cholesky")
    assert np.isfinite(kerncast.loo_errors(X, y, 1.0, [1e-17])).all()


@pytest.mark.parametrize(("change", "code"), [
    ({"lams": []}, "E221"), ({"lams": [1.0, 0.0]}, "E221"), ({"lams": [np.nan]}, "E221"),
    ({"method": "cg"}, "E238"), ({"method": "linear_svd"}, "E238"), ({"y": [1.0]}, "E225"),
    ({"sigma": Linear(), "X": [[1e200], [0.0]]}, "E224"),
    ({"sigma": -1.0}, "E220"), ({"X": [[np.inf], [0.0]]}, "E224")])
def test_bad_input_is_refused_by_code(change, code):
    good = {"X": [[1.0], [2.0]], "y": [1.0, 0.0], "sigma": 1.0, "lams": [1.0]}
    with pytest.raises(KerncastError, match=code):
        kerncast.loo_errors(**good | change)


# ---- the bias ----
@pytest.mark.parametrize("method", [*(m for m in SOLVERS if m != "wavelet"), "auto"])
@pytest.mark.parametrize("outputs", [0, 2])
def test_every_method_solves_for_the_bias(method, outputs):
    X, Y = samples()
    y = Y if outputs else Y[:, 0]
    solution = solve_kernel(X, y, 1.2, 0.1, method, fit_intercept=True)
    alpha, b = trained(GAUSS(X, X), Y, 0.1, True)
    assert solution.ok and solution.x.shape == y.shape and solution.bias.shape == y.shape[1:]
    np.testing.assert_allclose(solution.x, alpha if outputs else alpha[:, 0], rtol=0, atol=1e-7)
    np.testing.assert_allclose(solution.bias, b if outputs else b[0], rtol=0, atol=1e-7)
    assert np.abs(solution.x.sum(axis=0)).max() < 1e-7


def test_an_undetermined_bias_is_a_breakdown():
    Z = DenseSystem(np.diag([1.0, -1.0]))
    solution = solve_with_bias(lambda Y: elimination(Z, Y), np.array([1.0, 2.0]))
    assert solution.status == "breakdown" and "bias is not determined" in solution.why
    assert not solution.x.any() and solution.bias == 0.0


def test_a_refused_solution_has_a_bias_per_right_hand_side():
    Z = DenseSystem(np.diag([1.0, -1.0]))
    refused = solve_system(Z, np.ones((2, 3)), "cholesky", fit_intercept=True)
    assert not refused.ok and refused.x.shape == (2, 3) and refused.bias.shape == (3,)


# ---- subset of regressors ----
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("outputs", [0, 2])
def test_a_subset_minimises_its_own_objective(bias, outputs):
    (X, Y), R, lam = samples(), [3, 17, 20, 31, 5], 0.1
    y = Y if outputs else Y[:, 0]
    solution = solve_kernel(X, y, 1.2, lam, "subset", landmarks=R, fit_intercept=bias)
    c, b = least_squares(GAUSS(X, X[R]), GAUSS(X[R], X[R]), Y, lam, bias)
    assert solution.ok and solution.support.tolist() == R and solution.kernel_values == 5 * N
    np.testing.assert_allclose(solution.x, c if outputs else c[:, 0], rtol=0, atol=1e-9)
    np.testing.assert_allclose(solution.bias, b if outputs else b[0], rtol=0, atol=1e-9)


def test_all_samples_as_regressors_give_the_full_solution():
    (X, Y), lam = samples(), 0.1
    solution = solve_kernel(X, Y, 1.2, lam, "subset", landmarks=N, seed=3)
    full = solve_kernel(X, Y, 1.2, lam, "cholesky")
    assert len(solution.support) == N
    np.testing.assert_allclose(solution.x, full.x[solution.support], rtol=0, atol=1e-8)


def test_regressors_that_repeat_others_are_left_out_and_predictions_keep():
    X, Y = samples()
    X[10:20] = X[:10]
    solution = solve_kernel(X, Y, 1.2, 1e-6, "subset", landmarks=N)
    assert solution.ok and len(solution.support) == N - 10 == len({tuple(x) for x in X[solution.support]})
    full = solve_kernel(X, Y, 1.2, 1e-6, "cholesky")
    np.testing.assert_allclose(GAUSS(X, X[solution.support]) @ solution.x, GAUSS(X, X) @ full.x, atol=1e-6)


def test_a_kernel_that_is_zero_everywhere_has_no_regressors():
    solution = solve_kernel(np.zeros((3, 1)), np.ones(3), Linear(), 1.0, "subset")
    assert solution.status == "breakdown" and "zero at every sample" in solution.why
    assert solution.x.shape == (0,)


def test_the_factor_is_that_of_rifkin():
    X, _ = samples()
    system, R = KernelSystem(GAUSS, X, 0.7), np.array([4, 9, 2])
    F, rows = partial_cholesky(system, R)
    K_TR, K_RR = GAUSS(X, X[R]), GAUSS(X[R], X[R])
    np.testing.assert_array_equal(rows, R)
    np.testing.assert_allclose(F[R], np.linalg.cholesky(K_RR), atol=1e-14)
    np.testing.assert_allclose(F @ F.T, K_TR @ np.linalg.solve(K_RR, K_TR.T), atol=1e-13)
    drawn = partial_cholesky(system, 5, seed=1)
    assert drawn.R.tolist() == partial_cholesky(system, 5, seed=1).R.tolist()
    assert SubsetPath(drawn, np.ones(N)).regressors(0.1).shape == (5,)


@pytest.mark.parametrize("method", ["auto", "cholesky", "eigh", "subset"])
def test_leave_one_out_with_a_bias_is_finite_or_refused(method):
    with pytest.raises(KerncastError, match=r"E224[\s\S]*2 samples or more"):
        kerncast.loo_errors([1.0], [2.0], 1.0, 1.0, method=method, fit_intercept=True)
    with pytest.raises(KerncastError, match="E239"):
        kerncast.loo_errors(np.zeros((5, 1)), np.arange(5.0), 1.0, 1e-300, method=method, fit_intercept=True)


def test_leave_one_out_of_a_zero_kernel_is_the_distance_to_the_others_mean():
    y = np.arange(4.0)
    for method in ("auto", "linear_svd", "linear_direct", "eigh", "cholesky"):
        found = kerncast.loo_errors(np.zeros((4, 2)), y, Linear(), [1e-300, 1.0], method=method,
                                    fit_intercept=True)
        np.testing.assert_allclose(found, [(y - y.mean()) * 4 / 3] * 2, atol=1e-14)
    with pytest.raises(KerncastError, match=r"E239[\s\S]*range of float64"):
        kerncast.loo_errors(np.zeros((4, 2)), y * 1e100, Linear(), 1e-300)
