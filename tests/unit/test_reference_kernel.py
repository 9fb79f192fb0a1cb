"""The solvers of kernel systems: every method against the dense solution, and what they refuse."""

import numpy as np
import pytest

from kerncast.sim.errors import KerncastError
from kerncast.sim.kernels import Gaussian
from kerncast.sim.reference import solve_kernel
from kerncast.sim.reference.kernel import SOLVERS, solve_system
from kerncast.sim.reference.system import DenseSystem, KernelSystem, System, ToeplitzSystem

N = 60


def samples():
    rng = np.random.default_rng(3)
    return rng.normal(size=(N, 3)), rng.normal(size=(N, 2))


def systems() -> list[System]:
    """The three ways to hold a matrix."""
    X, _ = samples()
    r = np.exp(-np.arange(N) ** 2 / 8.0)
    r[0] += 0.1
    kernel = KernelSystem(Gaussian(1.2), X, 0.3)
    return [DenseSystem(kernel.dense()), kernel, ToeplitzSystem(r)]


@pytest.mark.parametrize("system", systems(), ids=lambda s: type(s).__name__)
def test_every_way_to_hold_a_matrix_tells_the_same_entries(system):
    A = system.dense()
    np.testing.assert_array_equal(A, A.T)
    np.testing.assert_array_equal(system.diagonal(), np.diagonal(A))
    some = system.block(slice(5, 9), np.array([8, 2, 59]))
    np.testing.assert_allclose(some, A[5:9][:, [8, 2, 59]], rtol=1e-14)
    V = np.random.default_rng(0).normal(size=(N, 2))
    np.testing.assert_allclose(system @ V, A @ V, atol=1e-13)
    np.testing.assert_allclose(system @ V[:, 0], A @ V[:, 0], atol=1e-13)


@pytest.mark.parametrize("system", systems(), ids=lambda s: type(s).__name__)
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


def test_a_matrix_that_is_not_positive_definite_gets_a_status_and_zeros():
    solution = solve_system(DenseSystem(np.array([[1.0, 2.0], [2.0, 1.0]])), np.ones(2), "cholesky")
    assert solution.status == "not_positive_definite" and not solution.x.any() and solution.why


def test_a_matrix_beyond_the_memory_is_refused_with_its_bytes():
    with pytest.raises(KerncastError, match=r"E237[\s\S]*8,000,000,000,000 bytes"):
        solve_kernel(np.zeros((10**6, 1)), np.zeros(10**6), 1.0, 1.0, "cholesky")


@pytest.mark.parametrize(("change", "code"), [
    ({"sigma": 0.0}, "E220"), ({"lam": 0.0}, "E221"), ({"X": [[np.nan]]}, "E224"),
    ({"y": [1.0, 2.0]}, "E225"), ({"method": "gauss"}, "E238")])
def test_bad_input_is_refused_by_code(change, code):
    good = {"X": [[1.0]], "y": [1.0], "sigma": 1.0, "lam": 1.0, "method": "cholesky"}
    with pytest.raises(KerncastError, match=code):
        solve_kernel(**good | change)
