"""Conjugate gradients with Nystrom's preconditioner, and domain decomposition."""

import tracemalloc

import numpy as np
import pytest
import scipy.linalg

from kerncast.sim.kernels import Gaussian, Linear
from kerncast.sim.reference import solve_kernel
from kerncast.sim.reference.solvers.block_gauss_seidel import Domains, SymmetricSweep, block_gauss_seidel
from kerncast.sim.reference.solvers.cg import cg
from kerncast.sim.reference.solvers.nystrom import Nystrom, partial_cholesky
from kerncast.sim.reference.systems.system import DenseSystem, KernelSystem

N = 90


def samples(n=N, columns=3):
    rng = np.random.default_rng(11)
    return rng.normal(size=(n, columns)), rng.normal(size=(n, 2))


def system(n=N, sigma=1.5, lam=0.1):
    return KernelSystem(Gaussian(sigma), samples(n)[0], lam)


# ---- conjugate gradients ----
def test_landmarks_make_the_steps_few():
    A, y = system(200, 2.0, 1e-2), samples(200)[1][:, 0]
    plain, near = (cg(A, y, preconditioner=kind, landmarks=count)
                   for kind, count in (("none", None), ("nystrom", 80)))
    assert plain.ok and near.ok and 80 in (int(word) for word in near.why.split() if word.isdigit())
    assert near.iterations < plain.iterations / 5
    np.testing.assert_allclose(near.x, plain.x, rtol=0, atol=1e-6 * np.abs(plain.x).max())


@pytest.mark.parametrize("lam", [0.3, 1e-12])
def test_nystrom_divides_by_its_stated_matrix(lam):
    A = system(lam=lam)
    F = partial_cholesky(A, 20).F
    U, S, _ = np.linalg.svd(F, full_matrices=False)
    left = S[-1] ** 2 + lam
    C = F @ F.T + lam * U @ U.T + left * (np.eye(N) - U @ U.T)
    solved = Nystrom(A, 20).solve(C)
    np.testing.assert_allclose(solved / left, np.eye(N), atol=1e-10 / left**0.5)


def test_a_matrix_that_is_not_known_to_be_shifted_is_preconditioned_too():
    A = DenseSystem(system().dense())
    solution = cg(A, samples()[1], preconditioner="nystrom", landmarks=30)
    assert solution.ok and solution.kernel_values == 0


@pytest.mark.parametrize("steps", [1, 5])
def test_a_given_number_of_steps_runs_without_a_tolerance(steps):
    A, Y = system(), samples()[1]
    solution = cg(A, Y, steps=steps)
    assert solution.ok and solution.iterations == steps and len(solution.history) == steps + 1
    # the best point of the Krylov space in the norm of A
    for c in range(2):
        krylov = np.stack([np.linalg.matrix_power(A.dense(), k) @ Y[:, c] for k in range(steps)], axis=1)
        Q = np.linalg.qr(krylov)[0]
        best = Q @ np.linalg.solve(Q.T @ A.dense() @ Q, Q.T @ Y[:, c])
        np.testing.assert_allclose(solution.x[:, c], best, rtol=0, atol=1e-8 * np.abs(best).max())
    assert cg(A, 0 * Y, steps=steps).iterations == 0


def test_cg_steps_beyond_the_rounding_error_end_with_the_answer():
    x = np.array([-82.0, -20, -27, -16, 100, 112, -25, 108, 46, -13, 2, 102, 9, -13, 96])
    y = np.array([-257.0, -71, -99, -63, 309, 329, -90, 320, 118, -33, 21, 323, 26, -51, 279])
    A = KernelSystem(Linear(), x[:, None], 0.1)
    for Y in (y, np.column_stack((y, 0 * y, x))):
        solution = cg(A, Y, steps=2000)
        assert solution.ok and 2 <= solution.iterations < 2000
        np.testing.assert_allclose(solution.x, np.linalg.solve(A.dense(), Y), rtol=0, atol=1e-6)
        assert len(solution.history) == solution.iterations + 1


def test_cg_refuses_an_indefinite_matrix():
    indefinite = DenseSystem(np.diag([3.0, 1.0, -1e-3]))
    assert cg(indefinite, np.ones(3), steps=2000).status == "not_positive_definite"


def test_the_history_is_the_residual_before_the_first_step_and_after_each():
    A, y = system(), samples()[1][:, 0]
    few = [cg(A, y, steps=k).residual for k in (1, 2, 3)]
    solution = cg(A, y, preconditioner="none", tolerance=1e-12)
    np.testing.assert_allclose(solution.history[:4], [np.linalg.norm(y), *few], rtol=1e-10)
    assert len(solution.history) == solution.iterations + 1
    assert solution.history[-1] <= 1e-12 * np.linalg.norm(y)


def test_an_unmet_tolerance_is_not_converged_and_keeps_the_history():
    A, y = system(sigma=8.0, lam=1e-9), samples()[1][:, 0]
    for solution in (cg(A, y, tolerance=1e-15, max_steps=200), cg(A, y, max_steps=3),
                     block_gauss_seidel(A, y, block=20, max_sweeps=3)):
        assert solution.status == "not_converged" and "not reached" in solution.why
        assert not solution.x.any() and len(solution.history) == solution.iterations + 1


def test_values_of_any_size_keep_their_digits():
    A, y = system(), samples()[1][:, 0]
    usual = cg(A, y).x
    for size in (1e-250, 1e250):
        np.testing.assert_allclose(cg(A, size * y).x, size * usual, rtol=1e-8, atol=0)


# ---- domain decomposition ----
def test_sweeps_are_those_of_block_gauss_seidel():
    k, Y = 25, samples()[1]
    A = system(lam=1.0).dense()
    solution = block_gauss_seidel(DenseSystem(A), Y, block=k, tolerance=1e-9)
    subset = np.arange(N) // k
    lower = np.where(subset[:, np.newaxis] >= subset, A, 0.0)
    x, expected = np.zeros_like(Y), []
    for _ in range(6):
        expected.append(np.linalg.norm(Y - A @ x, axis=0).max())
        x = x + np.linalg.solve(lower, Y - A @ x)
    np.testing.assert_allclose(solution.history[:6], expected, rtol=1e-9)
    assert solution.ok and solution.iterations == len(solution.history) - 1


def test_the_preconditioner_is_a_sweep_forward_and_back():
    k, A = 25, system(lam=1.0).dense()
    subset = np.arange(N) // k
    D = np.where(subset[:, np.newaxis] == subset, A, 0.0)
    L = np.where(subset[:, np.newaxis] > subset, A, 0.0)
    C = (D + L) @ np.linalg.solve(D, (D + L).T)
    sweep = SymmetricSweep(Domains(DenseSystem(A), k, 1), N, 0)
    np.testing.assert_allclose(sweep.solve(C), np.eye(N), atol=1e-10)
    one = SymmetricSweep(Domains(DenseSystem(A), N, 1), N, 0)
    np.testing.assert_allclose(one.solve(A), np.eye(N), atol=1e-10)


@pytest.mark.parametrize("interleave", [False, True])
def test_any_number_of_workers_gives_the_same_bits(monkeypatch, interleave):
    monkeypatch.setattr("kerncast.sim.reference.solvers.block_gauss_seidel.BLOCK_VALUES", 25 * 8)
    A, Y = system(lam=1.0), samples()[1]
    one, three = (block_gauss_seidel(A, Y, 25, 1e-4, interleave=interleave, workers=w) for w in (1, 3))
    assert one.ok and one.iterations == three.iterations
    np.testing.assert_array_equal(one.x, three.x)


def test_interleaved_conjugate_gradients_need_fewer_sweeps():
    A, Y = system(lam=0.1), samples()[1]
    alone, both = (block_gauss_seidel(A, Y, 30, 1e-5, interleave=i) for i in (False, True))
    assert alone.ok and both.ok and both.iterations < alone.iterations / 5


def test_block_gauss_seidel_refuses_an_indefinite_block():
    A = scipy.linalg.block_diag(np.eye(2), -np.eye(2))
    assert block_gauss_seidel(DenseSystem(A), np.ones(4), block=2).status == "not_positive_definite"


def test_block_gauss_seidel_refuses_a_matrix_on_which_its_sweeps_diverge():
    rng = np.random.default_rng(0)
    B = np.eye(4) + 3.0 * (1 - np.eye(4))  # ones on the diagonal, and indefinite
    solution = block_gauss_seidel(DenseSystem(B), rng.normal(size=4), block=1)
    assert solution.status == "not_positive_definite" and not solution.x.any()


# ---- memory ----
@pytest.mark.parametrize(("method", "options"), [
    ("cg", {"preconditioner": "none"}), ("cg", {"preconditioner": "nystrom", "landmarks": 30}),
    ("block_gauss_seidel", {"block": 30}), ("subset", {"landmarks": 30})], ids=str)
def test_memory_is_a_few_columns_as_reported(monkeypatch, method, options):
    n = 1000
    for module in ("systems.system", "solvers.block_gauss_seidel"):  # strips of the size tried here
        monkeypatch.setattr(f"kerncast.sim.reference.{module}.BLOCK_VALUES", 1 << 14)
    X, Y = samples(n, 4)
    run = {"tolerance": 1e-2} if method != "subset" else {}
    solve_kernel(X, Y, 0.2, 3.0, method, **options, **run)  # what is loaded or compiled once
    tracemalloc.start()
    solution = solve_kernel(X, Y, 0.2, 3.0, method, **options, **run)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert solution.ok, solution.why
    assert peak < 8 * n * n / 4 and peak < 1.3 * solution.bytes + 40 * 8 * n


def test_a_product_with_a_linear_kernel_never_makes_the_matrix():
    n = 50_000
    X, Y = samples(n, 4)
    solution = solve_kernel(X, Y, Linear(), 1.0, "cg", preconditioner="none")
    assert solution.ok and solution.kernel_values == 0 and solution.iterations <= 6


def test_requested_steps_report_their_final_residual():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.normal(size=60)
    solution = solve_kernel(X, y, 3.0, 1e-8, "cg", steps=2)
    found = np.linalg.norm(y - (Gaussian(3.0)(X, X) + 1e-8 * np.eye(60)) @ solution.x)
    assert solution.ok and solution.residual == pytest.approx(found)
    assert f"2 of 2 steps, residual {found:.2g}, |y| {np.linalg.norm(y):.2g}" in solution.why
