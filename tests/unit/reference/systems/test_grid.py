"""Samples of one column: interpolation from a grid, and expansions within the kernel's support."""

import numpy as np
import pytest

from kerncast.sim.errors import KerncastError
from kerncast.sim.kernels import Gaussian, Laplacian, Linear, Periodic
from kerncast.sim.reference.online.expansion import expand
from kerncast.sim.reference.solvers.auto import SOLVERS, solve_system
from kerncast.sim.reference.systems.grid import STEPS_IN_WIDTH, WEIGHTS, GridSystem, interpolation

WIDTH, LAM = 2.0, 0.1


def irregular(n=150):
    """Places in no order, and a noisy signal at them."""
    rng = np.random.default_rng(0)
    x = rng.uniform(3.0, 3.0 + n, n)
    return x, np.sin(x / 7) + 0.1 * rng.normal(size=n)


def grid(x, weights, finer=1):
    return GridSystem(Gaussian(WIDTH), x, LAM, WIDTH / (finer * STEPS_IN_WIDTH[weights]), weights)


@pytest.mark.parametrize("kernel", [Gaussian(0.3), Laplacian(0.02), Periodic(1.0, 5.0)])
@pytest.mark.parametrize("outputs", [(), (2,)])
def test_an_expansion_in_one_column_leaves_out_only_what_is_zero(kernel, outputs):
    rng = np.random.default_rng(1)
    X, V = rng.uniform(0, 100, (700, 1)), rng.uniform(0, 100, (600, 1))
    alpha = rng.normal(size=(600, *outputs))
    np.testing.assert_allclose(expand(kernel, X, V, alpha), kernel(X, V) @ alpha, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kernel", [Gaussian(0.3), Laplacian(0.02)])
def test_beyond_its_support_a_kernel_is_exactly_zero(kernel):
    assert kernel(np.array([[kernel.support_radius]]), np.zeros((1, 1))) == 0.0
    assert kernel(np.array([[0.99 * kernel.support_radius]]), np.zeros((1, 1))) > 0.0


@pytest.mark.parametrize(("weights", "degree"), [("linear", 1), ("cubic", 3)])
def test_weights_are_exact_for_polynomials_of_their_degree(weights, degree):
    u = np.linspace(-3.0, 5.0, 41)
    nodes, w = interpolation(u, weights)
    np.testing.assert_allclose(w.sum(axis=1), 1.0, atol=1e-14)
    np.testing.assert_allclose(np.sum(w * nodes**degree, axis=1), u**degree, atol=1e-12)


@pytest.mark.parametrize(("weights", "error", "gain"), [("linear", 4e-3, 4), ("cubic", 6e-4, 16)])
def test_the_interpolated_matrix_differs_from_the_kernel_s_as_its_step_says(weights, error, gain):
    x, _ = irregular()
    exact = Gaussian(WIDTH)(x[:, np.newaxis], x[:, np.newaxis]) + LAM * np.eye(len(x))
    coarse, fine = (np.abs(grid(x, weights, finer).dense() - exact).max() for finer in (1, 2))
    assert 0.5 * error < coarse < error
    assert fine < 1.2 * coarse / gain


@pytest.mark.parametrize("weights", WEIGHTS)
def test_the_grid_spans_all_samples(weights):
    system = GridSystem(Gaussian(1.0), np.array([4.0, 1.0, 2.0]), 0.0, 1.0, weights)
    assert system.nodes[0] <= 0.0 and system.nodes[-1] >= 5.0 and len(system.nodes) == system.node_count


@pytest.mark.parametrize("weights", WEIGHTS)
def test_a_sample_on_a_grid_node_is_that_node(weights):
    system = GridSystem(Gaussian(1.0), np.array([4.0, 1.0, 2.0]), 0.0, 1.0, weights)
    np.testing.assert_allclose(system.at_nodes(np.array([7.0, 5.0, 6.0])),
                               [0.0, 5.0, 6.0, 0.0, 7.0, 0.0, 0.0], atol=1e-15)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_every_way_to_request_the_matrix_gives_the_same_entries(weights):
    system = grid(irregular()[0], weights)
    A = system.dense()
    np.testing.assert_array_equal(A, A.T)
    np.testing.assert_allclose(system.diagonal(), np.diagonal(A), rtol=1e-14)
    np.testing.assert_array_equal(system.block(slice(5, 9), np.array([8, 2, 59])), A[5:9][:, [8, 2, 59]])
    V = np.random.default_rng(0).normal(size=(system.n, 2))
    np.testing.assert_allclose(system @ V, A @ V, atol=1e-12)
    np.testing.assert_allclose(system @ V[:, 0], A @ V[:, 0], atol=1e-12)
    assert np.linalg.eigvalsh(A).min() > 0.999 * LAM


@pytest.mark.parametrize("method", ["auto", *SOLVERS])
def test_every_method_solves_a_system_on_a_grid(method):
    x, y = irregular()
    system = grid(x, "cubic")
    solution = solve_system(system, y, method)
    exact = np.linalg.solve(system.dense(), y)
    assert solution.ok and np.abs(solution.x - exact).max() <= 1e-7 * np.abs(exact).max()
    assert solution.bytes > 0 and solution.operations > 0


def test_an_expansion_in_nodes_is_closer_to_the_exact_one_than_in_samples():
    x, y = irregular()
    kernel, V = Gaussian(5.0), x[:, np.newaxis]
    system = GridSystem(kernel, x, 0.01, 5.0 / STEPS_IN_WIDTH["cubic"], "cubic")
    new = np.linspace(5.0, 150.0, 333)[:, np.newaxis]
    exact = expand(kernel, new, V, np.linalg.solve(kernel(V, V) + 0.01 * np.eye(len(x)), y))
    alpha = np.linalg.solve(system.dense(), y)
    in_nodes = np.abs(expand(kernel, new, system.nodes, system.at_nodes(alpha)) - exact).max()
    in_samples = np.abs(expand(kernel, new, V, alpha) - exact).max()
    assert in_nodes < 1e-3 and 10 * in_nodes < in_samples


def test_samples_at_one_place_make_a_matrix_of_equal_entries():
    system = GridSystem(Gaussian(1.0), np.full(5, 1e9), LAM, 0.25, "cubic")
    np.testing.assert_allclose(system.dense(), 1.0 + LAM * np.eye(5), rtol=1e-15)


@pytest.mark.parametrize(("change", "code"), [
    ({"weights": "quintic"}, "E222"), ({"kernel": Linear()}, "E231"),
    ({"x": np.array([0.0, 1e15])}, "E237"), ({"x": np.array([-1e308, 1e308])}, "E237")])
def test_what_no_grid_can_hold_is_refused(change, code):
    good = {"kernel": Gaussian(1.0), "x": np.arange(3.0), "lam": 1.0, "step": 0.5, "weights": "linear"}
    with pytest.raises(KerncastError, match=code):
        GridSystem(**good | change)
