"""docs/measured/gaps.md: filled gaps give the solution without the missing samples."""

import numpy as np
import pytest

from kerncast import KernelRLSRegressor
from kerncast.benchmarks.gaps import (
    GAPS,
    N,
    exact,
    held,
    interpolated,
    inverse_blocks,
    parts,
    predicted,
    signal,
    word_errors,
)
from kerncast.benchmarks.solvers import first_row

SIGMA, LAM = 3.0, 0.1


@pytest.mark.parametrize("gap", GAPS)
def test_predictions_give_the_solution_without_the_missing_samples(gap):
    y, missing = signal(SIGMA, 1), GAPS[gap](1)
    none = np.zeros(N, dtype=bool)
    whole = word_errors(y, exact(y, none, SIGMA, LAM), none, SIGMA, LAM)
    alpha = exact(y, missing, SIGMA, LAM)
    found = word_errors(predicted(y, missing, SIGMA, LAM), alpha, missing, SIGMA, LAM)
    assert found[0] < 1.5 * whole[0] and found[1] < 2 * whole[1]
    assert word_errors(interpolated(y, missing), alpha, missing, SIGMA, LAM)[0] > 5 * found[0]


@pytest.mark.parametrize("length", [1, 2, 8])
def test_one_correction_solves_one_gap_away_from_both_ends(length):
    row, y, missing = first_row(N, SIGMA, LAM), signal(SIGMA, 2), np.zeros(N, dtype=bool)
    missing[90: 90 + length] = True
    wanted, y = exact(y, missing, SIGMA, LAM), held(y, missing)
    y[missing] -= inverse_blocks(row)[length] @ np.linalg.solve(matrix(row), y)[missing]
    found = np.linalg.solve(matrix(row), y)
    assert np.abs(found - wanted).max() < 1e-7 * np.abs(wanted).max()


def matrix(row):
    return row[np.abs(np.subtract.outer(np.arange(N), np.arange(N)))]


def test_an_intercept_is_kept_by_predictions_with_an_intercept():
    y, missing, ones = 5000 + signal(SIGMA, 3), GAPS["8 samples"](3), np.ones(N)
    t = np.arange(float(N)).reshape(-1, 1)
    host = KernelRLSRegressor(sigma=SIGMA, lam=LAM, fit_intercept=True).fit(t[~missing], y[~missing])
    y[missing] = host.predict(t[missing])
    nu, eta = (np.linalg.solve(matrix(first_row(N, SIGMA, LAM)), side) for side in (y, ones))
    alpha = nu - eta * (eta @ y) / eta.sum()
    assert np.abs(alpha[missing]).max() < 1e-9 * np.abs(alpha).max()


def test_long_runs_are_corrected_in_parts():
    missing = np.isin(np.arange(N), [0, *range(20, 32)])
    assert [(part.start, part.stop) for part in parts(missing)] == [(0, 1), (20, 28), (28, 32)]


def test_held_samples_repeat_the_last_present_one():
    y, missing = np.arange(float(N)), np.isin(np.arange(N), [0, 1, 5, 6])
    assert held(y, missing)[:8].tolist() == [2, 2, 2, 3, 4, 4, 4, 7]
