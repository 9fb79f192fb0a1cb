"""Blocks of kernel matrices: fast and right, with numba and without."""

import numpy as np
import pytest

from kerncast.sim.kernels import Gaussian, Laplacian, Polynomial
from kerncast.sim.reference import compiled, expand
from kerncast.sim.reference.systems import kernel_blocks
from kerncast.sim.reference.systems.kernel_blocks import KernelBlocks, add_diagonals, same_places

RNG = np.random.default_rng(5)
X = RNG.normal(size=(70, 6))
ERROR = {np.float64: 1e-14, np.float32: 1e-6}


@pytest.fixture(params=["compiled", "numpy"])
def engine(request, monkeypatch):
    monkeypatch.setattr(compiled, "COMPILED_FROM", 0 if request.param == "compiled" else 1 << 60)
    return request.param == "compiled"


@pytest.mark.parametrize("dtype", ERROR)
@pytest.mark.parametrize("kernel", [Gaussian(1.5), Laplacian(2.0), Polynomial(2, 0.5, 1.0)],
                         ids=lambda k: k.name)
@pytest.mark.parametrize(("rows", "columns"), [
    (slice(0, 70), slice(0, 70)), (slice(3, 9), slice(5, 64)), (np.array([4, 2, 4]), np.array([2, 69, 4]))])
def test_a_block_holds_the_values_of_the_kernel(engine, kernel, dtype, rows, columns):
    block = KernelBlocks(kernel, X, dtype).block(rows, columns)
    exact = kernel(X[rows], X[columns])
    assert block.dtype == dtype
    np.testing.assert_allclose(block, exact, rtol=ERROR[dtype], atol=ERROR[dtype])


@pytest.mark.parametrize("dtype", ERROR)
@pytest.mark.parametrize("shift", [0.0, 1e8])
def test_the_matrix_is_exactly_symmetric_with_ones_on_the_diagonal(engine, dtype, shift):
    K = KernelBlocks(Gaussian(1.0), X + shift, dtype).block(slice(0, 70), slice(0, 70))
    assert np.array_equal(K, K.T) and np.all(np.diag(K) == 1.0)


@pytest.mark.parametrize("dtype", ERROR)
@pytest.mark.parametrize("sigma", [1e-3, 1e-6, 1e-120])
def test_samples_many_sigma_apart_lose_no_digits(dtype, sigma):
    spread = np.concatenate((X[:30], X[:30] + sigma * RNG.normal(size=(30, 6))))  # near pairs, far apart
    block = KernelBlocks(Gaussian(sigma), spread, dtype).block(slice(0, 30), slice(30, 60))
    exact = Gaussian(sigma)(spread[:30], spread[30:])
    np.testing.assert_allclose(block, exact, rtol=0, atol=10 * ERROR[dtype])
    assert sigma < 1e-100 or exact.max() > 0.01


@pytest.mark.parametrize("dtype", ERROR)
def test_the_exponential_is_right_to_two_roundings_over_its_whole_range(engine, dtype):
    v = -np.concatenate((np.linspace(0, 85, 20_000), np.logspace(-20, 0, 500))).astype(dtype)[np.newaxis]
    found = v.copy()
    kernel_blocks._exponentials(found, np.zeros(1, dtype), np.zeros(v.shape[1], dtype), engine)
    exact = np.exp(v.astype(np.longdouble))
    assert np.abs(found / exact - 1).max() <= 2 * np.finfo(dtype).eps
    far = np.array([[-1e30, -np.inf, -800.0, 0.5]], dtype=dtype)
    kernel_blocks._exponentials(far, np.zeros(1, dtype), np.zeros(4, dtype), engine)
    assert np.all((far[0, :3] >= 0) & (far[0, :3] < 1e-37)) and far[0, 3] == 1.0


@pytest.mark.parametrize("shape", [(4, 9), (9, 4), (1, 1)])
@pytest.mark.parametrize("first", [0, 2, 20])
def test_diagonals_are_added_in_place_and_those_below_the_first_left_out(engine, shape, first):
    K = RNG.normal(size=shape)
    sums = np.ones(first + shape[1])
    add_diagonals(K, sums, first, engine)
    wanted = [1.0 + np.trace(K, offset=j - first) if -shape[0] < j - first else 1.0 for j in range(len(sums))]
    np.testing.assert_allclose(sums, wanted, atol=1e-14)


def test_places_of_the_same_sample_are_found_in_any_selection():
    rows, columns = np.array([3, 3, 5, 0]), np.array([5, 3, 1, 3])
    i, j = same_places(10, rows, columns)
    expected = np.argwhere(rows[:, np.newaxis] == columns)
    assert sorted(zip(i, j, strict=True)) == [tuple(place) for place in expected]
    assert [len(part) for part in same_places(10, slice(0, 4), slice(4, 9))] == [0, 0]


@pytest.mark.parametrize("kernel", [Gaussian(1.5), Laplacian(2.0)], ids=lambda k: k.name)
@pytest.mark.parametrize("outputs", [(), (2,)])
def test_an_expansion_of_many_values_is_evaluated_by_blocks(kernel, outputs):
    rng = np.random.default_rng(2)
    points, vectors = rng.normal(size=(1300, 3)), rng.normal(size=(1700, 3))
    alpha = rng.normal(size=(1700, *outputs))
    exact = kernel(points, vectors) @ alpha
    np.testing.assert_allclose(expand(kernel, points, vectors, alpha), exact, rtol=0, atol=1e-14 * 1700)
