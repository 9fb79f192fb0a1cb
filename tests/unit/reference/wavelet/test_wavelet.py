"""The multi-resolution solver: Table I of its paper, its bases, one form of a matrix, and what it refuses."""

import sys

import numpy as np
import pytest

from kerncast.sim.errors import KerncastError
from kerncast.sim.kernels import Gaussian, Polynomial
from kerncast.sim.reference import solve_kernel
from kerncast.sim.reference.solvers.auto import solve_system
from kerncast.sim.reference.systems.system import DenseSystem, KernelSystem, ToeplitzSystem
from kerncast.sim.reference.wavelet.basis import transforms
from kerncast.sim.reference.wavelet.bordered import BorderedToeplitz
from kerncast.sim.reference.wavelet.factor import factorise
from kerncast.sim.reference.wavelet.ns_form import WholeScaleSpace, ns_form

BASES = ("db10", "lifting")
#: t, n_e and error as printed.
TABLE_I = [(1e-2, 1448, 9.83e-3), (1e-3, 2101, 1.31e-3), (1e-4, 2795, 1.42e-4), (1e-5, 3245, 9.21e-6),
           (1e-6, 3580, 1.62e-6), (1e-7, 4042, 1.31e-7), (1e-8, 4338, 5.20e-9), (1e-9, 4522, 1.41e-9),
           (1e-10, 5825, 2.31e-10), (1e-11, 7496, 9.08e-12)]


def paper(n: int = 256):
    """Samples, targets and width: exp(-d^2 / .4^2) is a Gaussian of sigma = .4 / sqrt(2); lambda is 1."""
    x = np.linspace(-1, 1, n)
    return x, 10 * np.sinc(10 * x / np.pi), 0.4 / np.sqrt(2)


def first_column(n: int):
    x, _, sigma = paper(n)
    r = Gaussian(sigma).pairs(x[:, np.newaxis], x[:1])
    return r + (np.arange(n) == 0)


def relative(found, exact):
    return np.linalg.norm(found - exact) / np.linalg.norm(exact)


# ---- Table I ----
@pytest.mark.parametrize(("t", "n_e", "error"), TABLE_I)
def test_table_i_matches_in_count_within_12_percent_and_error_within_2_5(t, n_e, error):
    x, y, sigma = paper()
    exact = np.linalg.solve(KernelSystem(Gaussian(sigma), x[:, np.newaxis], 1.0).dense(), y)
    found = solve_kernel(x, y, sigma, 1.0, "wavelet", levels=4, threshold=t)
    assert found.ok and len(found.nonzeros) == 5
    assert 0.88 <= sum(found.nonzeros) / n_e <= 1.12
    assert relative(found.x, exact) <= 2.5 * error


def test_a_kernel_matrix_gives_the_table_of_its_toeplitz_twin():
    x, y, sigma = paper()
    Z = KernelSystem(Gaussian(sigma), x[:, np.newaxis], 1.0).dense()
    whole = solve_system(DenseSystem(Z), y, "wavelet", threshold=1e-5)
    grid = solve_kernel(x, y, sigma, 1.0, "wavelet", threshold=1e-5)
    assert whole.nonzeros == grid.nonzeros
    assert relative(whole.x, grid.x) < 1e-12


# ---- without threshold: the dense solution ----
@pytest.mark.parametrize("basis", [*BASES, "sym6"])
@pytest.mark.parametrize("n", [1, 2, 3, 37, 101, 200, 256])
def test_without_threshold_the_solution_is_the_dense_one_for_any_n(n, basis):
    r, y = first_column(n), np.random.default_rng(n).normal(size=(n, 2))
    system = ToeplitzSystem(r)
    exact = np.linalg.solve(system.dense(), y)
    for held in (system, DenseSystem(system.dense())):
        found = solve_system(held, y, "wavelet", threshold=0.0, basis=basis)
        assert found.ok and relative(found.x, exact) < 1e-12


@pytest.mark.parametrize("levels", [0, 1, 3, 7])
def test_any_number_of_levels_gives_the_dense_solution(levels):
    x, y, sigma = paper(160)
    exact = solve_kernel(x, y, sigma, 1.0, "cholesky").x
    assert relative(solve_kernel(x, y, sigma, 1.0, "wavelet", levels=levels, threshold=0.0).x, exact) < 1e-12


@pytest.mark.parametrize("kernel", [Gaussian(0.1), Polynomial(3, 1.0, 0.5)], ids=lambda k: type(k).__name__)
def test_shuffled_samples_of_one_column_and_any_kernel_are_solved(kernel):
    rng = np.random.default_rng(5)
    x, y = rng.uniform(-1, 1, 120), rng.normal(size=120)
    exact = solve_kernel(x, y, kernel, 0.5, "cholesky").x
    assert relative(solve_kernel(x, y, kernel, 0.5, "wavelet").x, exact) < 1e-7
    grid = rng.permutation(np.linspace(0, 3, 120))
    found = solve_kernel(grid, y, kernel, 0.5, "wavelet")
    assert relative(found.x, solve_kernel(grid, y, kernel, 0.5, "cholesky").x) < 1e-7
    assert (found.kernel_values == 120) == isinstance(kernel, Gaussian)


def test_the_bias_is_that_of_the_bordered_system():
    x, y, sigma = paper(128)
    y = y + 3.0
    found = solve_kernel(x, y, sigma, 1.0, "wavelet", fit_intercept=True, threshold=1e-12)
    bordered = np.ones((129, 129))
    bordered[0, 0], bordered[1:, 1:] = 0.0, KernelSystem(Gaussian(sigma), x[:, np.newaxis], 1.0).dense()
    exact = np.linalg.solve(bordered, np.append(0.0, y))
    assert found.bias == pytest.approx(exact[0], rel=1e-10)
    assert relative(found.x, exact[1:]) < 1e-10


# ---- the bases ----
@pytest.mark.parametrize("n", [64, 67])
@pytest.mark.parametrize("basis", BASES)
def test_details_of_a_cubic_vanish_where_the_basis_sees_no_end(n, basis):
    cubic = (np.arange(n) / n) ** 3
    W = next(transforms(n, 1, basis))
    details = W.G.T @ cubic
    assert np.abs(details[:-10] if basis == "db10" else details).max() < 1e-13
    assert W.G.shape[1] + W.H.shape[1] == n


@pytest.mark.parametrize("n", [64, 67])
def test_daubechies_transform_is_orthogonal(n):
    W = next(transforms(n, 1, "db10"))
    W = np.hstack([W.G.toarray(), W.H.toarray()])
    np.testing.assert_allclose(W.T @ W, np.eye(n), atol=1e-10)  # PyWavelets tabulates its filters to 1e-11


def four_levels_of_lifting():
    """The product of four levels of lifting of 256 points, and the number of its scaling functions."""
    product, size = np.eye(256), 256
    for W in transforms(256, 4, "lifting"):
        step = np.eye(256)
        step[256 - size:, 256 - size:] = np.hstack([W.G.toarray(), W.H.toarray()])
        product, size = product @ step, W.H.shape[1]
    return product, size


def test_four_levels_of_lifting_stay_well_conditioned():
    assert np.linalg.cond(four_levels_of_lifting()[0]) < 14


def test_dual_wavelets_of_lifting_have_mean_zero():
    product, size = four_levels_of_lifting()
    dual = np.linalg.inv(product).T
    assert np.abs(np.ones(256) @ dual)[: 256 - size].max() < 1e-10


# ---- one matrix, two ways ----
@pytest.mark.parametrize("basis", BASES)
@pytest.mark.parametrize("n", [301, 512])
def test_the_border_of_a_toeplitz_matrix_gives_the_form_of_the_whole(n, basis):
    r = first_column(n)
    whole = ns_form(WholeScaleSpace(ToeplitzSystem(r)), n, 4, 0.0, basis)
    told = ns_form(BorderedToeplitz(r), n, 4, 0.0, basis)
    for one, other in zip(whole.levels, told.levels, strict=True):
        np.testing.assert_allclose(other.A.toarray(), one.A.toarray(), atol=1e-12)
        np.testing.assert_allclose(other.C.toarray(), one.C.toarray(), atol=1e-12)
    np.testing.assert_allclose(told.Z, whole.Z, atol=1e-11)


def test_cost_grows_as_n_on_a_uniform_grid():
    found = [solve_kernel(*paper(n)[:2], paper(n)[2], 1.0, "wavelet", threshold=1e-5) for n in (2048, 16384)]
    assert all(solution.ok for solution in found)
    for what in ("bytes", "operations", "kernel_values"):
        assert getattr(found[1], what) <= 10 * getattr(found[0], what)
    assert sum(found[1].nonzeros) <= 8.5 * sum(found[0].nonzeros)


def test_factors_multiply_out_to_the_form():
    r = first_column(64)
    form = ns_form(WholeScaleSpace(ToeplitzSystem(r)), 64, 1, 0.0, "db10")
    level, = factorise(form, 0.0).levels
    np.testing.assert_allclose((level.L @ level.L.T).toarray(), form.levels[0].A.toarray(), atol=1e-13)
    np.testing.assert_allclose((level.X @ level.L.T).toarray(), form.levels[0].C.toarray(), atol=1e-13)


# ---- what cannot be solved ----
@pytest.mark.parametrize("smallest", [-0.5, 0.0])
def test_a_matrix_that_is_not_positive_definite_gets_a_status_and_zeros(smallest):
    r = first_column(100)
    r[0] -= np.linalg.eigvalsh(ToeplitzSystem(r).dense())[0] - smallest
    found = solve_system(ToeplitzSystem(r), np.ones(100), "wavelet", threshold=1e-6)
    assert found.status in ("not_positive_definite", "breakdown") and not found.x.any() and found.why


def test_a_threshold_too_large_for_lambda_is_reported_with_the_threshold():
    x, y, sigma = paper()
    found = solve_kernel(x, y, sigma, 1e-6, "wavelet", threshold=1e-2)
    assert found.status == "not_positive_definite" and not found.x.any()
    assert "level" in found.why and "0.01" in found.why


@pytest.mark.parametrize(("module", "package"), [("scipy.linalg", "scipy"), ("pywt", "PyWavelets")])
def test_a_package_that_is_not_installed_is_named(monkeypatch, module, package):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(KerncastError, match=rf"E501[\s\S]*pip install {package}"):
        solve_kernel(np.arange(40.0), np.ones(40), 1.0, 1.0, "wavelet")


@pytest.mark.parametrize("option", [{"levels": -1}, {"levels": 6}, {"levels": 2.5}, {"threshold": -1e-3},
                                    {"threshold": 1.01}, {"threshold": np.nan}, {"threshold": "fine"},
                                    {"basis": "bior3.3"}, {"basis": "haarlem"}])
def test_an_option_out_of_range_is_refused(option):
    with pytest.raises(KerncastError, match=rf"{next(iter(option))}: E238"):
        solve_kernel(np.arange(40.0), np.ones(40), 1.0, 1.0, "wavelet", **option)
