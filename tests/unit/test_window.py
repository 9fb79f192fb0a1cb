"""The window of a grid: a prediction reads its vectors only, and no other has a kernel value."""

import numpy as np
import pytest

from kerncast.sim.fxp_model import open_fxp_model
from kerncast.sim.model import open_model
from kerncast.sim.model.kernel import kernel, kernel_constants, term
from kerncast.sim.model.ranges import NULL_LOG
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec
from kerncast.sim.window import grid_window, window

GRIDS = [(64, 1, 3.0, "gaussian", 16), (64, 3, 5.0, "gaussian", 16), (48, 7, 4.0, "laplacian", 32),
         (64, 2, 0.5, "gaussian", 24)]


def planned(n, step, sigma, kernel="gaussian", word=16, **toeplitz):
    return make_plan(Spec(
        model={"name": "t", "algorithm": "toeplitz_rls"}, input={"word": "u10f0", "offset": 300},
        output={"word": "s12f0"}, numbers={"word": word}, kernel={"type": kernel, "sigma": sigma},
        toeplitz={"n": n, "lambda": 0.1, "scheme": "uniform", "step": step, **toeplitz}))


@pytest.mark.parametrize(("n", "step", "sigma", "kind", "word"), GRIDS)
def test_no_vector_outside_the_window_has_a_kernel_value(n, step, sigma, kind, word):
    plan = planned(n, step, sigma, kind, word)
    read, k = window(plan), kernel_constants(plan)
    for x in range(plan.signals["x"].lo, plan.signals["x"].hi + 1):  # before, within and behind the grid
        first = int(np.clip(x - read.low, 0, read.high)) // read.step
        assert 0 <= first <= n - read.vectors
        for i in (*range(first), *range(first + read.vectors, n)):
            assert kernel(term(0, x, i * read.step, k), k, NULL_LOG) == 0


@pytest.mark.parametrize(("step", "sigma", "word"), [(1, 1.5, 16), (3, 5.0, 16), (7, 4.0, 32)])
def test_a_prediction_equals_the_sum_over_all_vectors(step, sigma, word):
    n = 32  # most that the twin takes
    plan = planned(n, step, sigma, word=word)
    assert window(plan).vectors < n
    model, twin = open_model(plan), open_fxp_model(plan)  # the twin reads all vectors
    y, x = np.random.default_rng(5).integers(-2048, 2048, n), np.arange(0, 1024, 3)[:, None]
    for each in (model, twin):
        each.train(None, y)
    np.testing.assert_array_equal(model.predict(x)["f"], twin.predict(x)["f"])


def test_a_prediction_reads_no_more_than_the_window():
    plan = planned(64, 2, 3.0)
    model, read = open_model(plan), window(plan)
    model.train(None, np.arange(64))
    model.trace(0)
    model.predict(np.array([[350]]))
    of_one = 2 * read.vectors + 2  # a distance and a kernel value each; x and f
    assert model.trace(0).count == of_one
    assert plan.operations["predict"]["kernel_values"].count == read.vectors < 64


def test_candidates_share_the_window_of_the_widest():
    plan = planned(128, 1, 3.0, solver="banded", candidates=[[6.0, 0.1]])
    assert window(plan) == window(planned(128, 1, 6.0, solver="banded"))
    assert plan.operations["predict"]["kernel_values"].count == window(plan).vectors


def test_a_kernel_as_wide_as_half_the_grid_has_no_window():
    assert grid_window(64, 1, 32) is None
    assert window(planned(16, 1, 40.0)) is None
