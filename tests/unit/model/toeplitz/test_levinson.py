"""The integer Levinson recursion against exact and float64 solutions of the same system."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given
from hypothesis import strategies as st

from kerncast.sim.model.kernel import Cast
from kerncast.sim.model.ranges import LOGGED
from kerncast.sim.model.statuses import NOT_POSITIVE_DEFINITE, OK
from kerncast.sim.model.toeplitz.levinson import LevinsonConstants, levinson
from kerncast.sim.model.trace_hooks import Log

HALF_UP = 1


def constants(word: int, n: int, lam: float) -> LevinsonConstants:
    """As the planner decides them, written down once more for systems that no kernel makes."""
    log_n = (n - 1).bit_length()
    power = (1 + lam) / lam
    a_exp_max = int(np.ceil(np.log2(power) / 2)) + 2
    alpha_exp_max = int(np.ceil(np.log2(np.sqrt(n) * power))) + 3
    full = 2 ** (word - 1)
    xi_frac = 61 - log_n - a_exp_max
    return LevinsonConstants(word, 0 if word < 32 else log_n, xi_frac, 61 - log_n - alpha_exp_max, 0,
                             a_exp_max, -8, alpha_exp_max, int(2**xi_frac * lam / (1 + lam) / 2), n - 1,
                             0,
                             Cast(HALF_UP, -full, full - 1))


def solve(word: int, r: list[float], y: list[float], lam: float = 0.05) -> tuple[int, np.ndarray]:
    """Status and solution of T x = y, T with first row (1, r[1], ...), in floats."""
    n = len(y)
    k = constants(word, n, lam)
    r_words = np.array([0, *(round(v * 2 ** (word - 1)) for v in r[1:])], dtype=np.int64)
    y_words = np.array([round(v * 2 ** (word - 2)) for v in y], dtype=np.int64)
    a, x, out = (np.zeros(size, dtype=np.int64) for size in (n, n, 5 + n))
    log = Log(np.zeros((len(LOGGED), 3), dtype=np.int64), None)
    status = levinson(y_words.reshape(1, n), r_words, a, x.reshape(1, n), out, k, log)
    return status, x * 2.0 ** (int(out[2]) - (word - 1))


@pytest.mark.parametrize(("word", "tolerance"), [(16, 2e-4), (24, 1e-6), (32, 1e-8)])
def test_the_check_value_of_the_paper(word: int, tolerance: float) -> None:
    """Paper 000: k = [2, 1, .5, .25], y = [1, 2, 3, 4] gives [0, 1/3, 1/2, 5/3]; halved and over 4 here."""
    status, x = solve(word, [1, 0.5, 0.25, 0.125], [0.25, 0.5, 0.75, 1.0])
    assert status == OK
    expected = np.array([0, 1 / 3, 1 / 2, 5 / 3]) * 2 / 4
    assert np.abs(x - expected).max() <= tolerance * expected.max()


@pytest.mark.parametrize("word", [16, 24, 32])
@pytest.mark.parametrize("n", [2, 3, 8, 33])
def test_the_identity_returns_its_right_hand_side_exactly(word: int, n: int) -> None:
    """r = 0: every residual is y itself, zeros among them."""
    random = Random(n)
    y = [random.choice((0, 0, 1, -1, 0.5, -0.125)) for _ in range(n)]
    status, x = solve(word, [1] + [0] * (n - 1), y)
    assert status == OK and x.tolist() == y


@pytest.mark.parametrize("word", [16, 24, 32])
@pytest.mark.parametrize("zeros", [1, 15, 31])
def test_targets_that_are_zero_cost_no_accuracy_and_are_not_refused(word: int, zeros: int) -> None:
    """A zero has no exponent: while mu = 0 the exponent of x stays (it once rose at every step)."""
    n = 32
    r = np.exp(-np.arange(n) ** 2 / 8.0) / 1.1
    r[0] = 1.0
    y = np.array([0.0] * zeros + [0.75] * (n - zeros))
    status, x = solve(word, r.tolist(), y.tolist(), lam=0.1)
    assert status == OK
    expected = scipy.linalg.solve_toeplitz(r, y)
    assert np.linalg.norm(x - expected) <= {16: 5e-3, 24: 2e-5, 32: 1e-6}[word] * np.linalg.norm(expected)


@pytest.mark.parametrize("word", [16, 24, 32])
def test_all_targets_zero_give_zero(word: int) -> None:
    status, x = solve(word, [1, 0.9, 0.7, 0.4], [0, 0, 0, 0])
    assert status == OK and not x.any()


@pytest.mark.parametrize("word", [16, 24, 32])
@pytest.mark.parametrize("r", [
    [1, 1, 1, 1], [1, -1, 1, -1], [1, 0.9, -0.9, 0], [1, 0, 1, 0], [1, 0.5, -0.9, 0.9]])
def test_a_matrix_that_is_not_positive_definite_is_refused(word: int, r: list[float]) -> None:
    assert np.linalg.eigvalsh(scipy.linalg.toeplitz(r))[0] < 1e-9
    largest = 1 - 2.0 ** (1 - word)  # r of a positive definite matrix is below 1; so the format ends there
    status, _ = solve(word, [1.0, *(min(v, largest) for v in r[1:])], [1, -1, 1, 0.5])
    assert status == NOT_POSITIVE_DEFINITE


def exact_solution(r: list[Fraction], y: list[Fraction]) -> list[Fraction]:
    """Gaussian elimination in fractions."""
    n = len(y)
    rows = [[r[abs(i - j)] for j in range(n)] + [y[i]] for i in range(n)]
    for i in range(n):
        pivot = rows[i][i]
        rows[i] = [v / pivot for v in rows[i]]
        for k in range(n):
            if k != i:
                rows[k] = [v - rows[k][i] * w for v, w in zip(rows[k], rows[i], strict=True)]
    return [row[n] for row in rows]


@given(st.sampled_from((16, 24, 32)), st.integers(2, 6), st.data())
def test_small_systems_are_solved_to_a_few_lsb_of_the_exact_solution(
        word: int, n: int, data: st.DataObject) -> None:
    """Diagonally dominant T, its eigenvalues from 1/2 to 3/2: against fractions."""
    most = 64 // (n - 1)
    row = data.draw(st.lists(st.integers(-most, most), min_size=n - 1, max_size=n - 1))
    r = [Fraction(1), *(Fraction(v, 256) for v in row)]
    y = [Fraction(data.draw(st.integers(-256, 256)), 256) for _ in r]
    status, x = solve(word, [float(v) for v in r], [float(v) for v in y], lam=0.4)
    assert status == OK
    expected = np.array([float(v) for v in exact_solution(r, y)])
    assert np.abs(x - expected).max() <= 32 * 2.0**-word * max(np.abs(expected).max(), 2.0**-8)
