"""Norms are rounded to the safe side, and the bound_from_norm bound holds in exact arithmetic."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kerncast.sim.model import open_model
from kerncast.sim.model.bound import (
    NO_BOUND,
    BoundConstants,
    add_square,
    bound_from_norm,
    bound_within,
    norm_reduced,
)
from kerncast.sim.model.certify import certify
from kerncast.sim.model.statuses import OK
from kerncast.sim.model.toeplitz.first_row import row_of
from kerncast.sim.model.toeplitz.trainer import certified_accurate, certified_bound
from kerncast.sim.model.toeplitz.trainer import certify_constants as trained_constants
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.planner.certify import certify_constants, norm_bits
from kerncast.sim.spec import Spec

SIZES = st.lists(st.integers(0, 2**62 - 1) | st.integers(0, 100), min_size=1, max_size=40)


@given(SIZES, st.sampled_from((2, 40, 512, 65535)))
def test_a_norm_is_below_and_above_its_roundings_and_close_to_both(sizes: list[int], n: int) -> None:
    exact = sum(v * v for v in sizes)
    for up in (0, 1):
        total, s = 0, 0
        for v in sizes:
            total, s = add_square(total, s, v, norm_bits(n), up)
        assert 0 <= total < 2**62
        found = total << 2 * s
        assert found >= exact if up else found <= exact
        # each component is cut to `norm_bits` bits of the largest one, once or, as steps grow, twice
        room = 3 * len(sizes) * max(sizes) * 2.0 ** -(norm_bits(n) - 1) + 2
        assert abs(isqrt(found) - isqrt(exact)) <= room


@pytest.mark.parametrize("word", [16, 24, 32])
@pytest.mark.parametrize("lam", [1e-3, 0.1, 1.0, 50.0])
@given(data=st.data())
def test_the_bound_is_the_norm_over_lambda_rounded_up(word: int, lam: float, data: st.DataObject) -> None:
    shift = data.draw(st.integers(0, 20))
    c = certify_constants(word, 64, Fraction(lam), Fraction(0), shift, 0.5)
    k = BoundConstants(c["norm_bits"], c["bound_gain"], c["bound_shift"], c["tolerance"])
    squares, s = data.draw(st.integers(1, 2**61)), data.draw(st.integers(0, 36))
    bound = bound_from_norm(squares, s, k)
    # |residual| (1 + lambda) / lambda, a step of the residual being 2**-(W - 1 - shift) words of alpha
    gain = (1 + Fraction(lam)) / Fraction(lam) * Fraction(2) ** (s - (word - 1 - shift))
    assert bound == NO_BOUND or bound**2 >= squares * gain**2
    assert bound == NO_BOUND or bound <= (isqrt(squares) + 1) * gain * (1 + Fraction(1, 2**28)) + 1
    assert bound != NO_BOUND or (isqrt(squares) + 2) * gain > 2**60


def test_without_a_premise_there_is_no_bound() -> None:
    c = certify_constants(16, 64, Fraction(1, 100), Fraction(1, 50), 0, 0.5)
    k = BoundConstants(c["norm_bits"], c["bound_gain"], c["bound_shift"], c["tolerance"])
    assert c["bound_gain"] == 0
    assert bound_from_norm(1, 0, k) == NO_BOUND and bound_from_norm(0, 0, k) == 0
    assert not bound_within(NO_BOUND, 2**60, 0, k)


@given(st.integers(0, 2**61), st.integers(0, 40), st.integers(0, 2**61), st.integers(0, 40),
       st.integers(0, 1))
def test_reduced_compares_the_norms(new: int, new_s: int, old: int, old_s: int, quarter: int) -> None:
    assert norm_reduced(new, new_s, old, old_s, quarter) == (
        new * Fraction(4) ** new_s <= old * Fraction(4) ** (old_s - quarter))


def solve(rows: list[list[Fraction]], y: list[Fraction]) -> list[Fraction]:
    """Gaussian elimination of a positive definite system in fractions."""
    n = len(y)
    table = [[*row, right] for row, right in zip(rows, y, strict=True)]
    for i in range(n):
        for k in range(i + 1, n):
            factor = table[k][i] / table[i][i]
            table[k] = [v - factor * w for v, w in zip(table[k], table[i], strict=True)]
    x = [Fraction(0)] * n
    for i in reversed(range(n)):
        x[i] = (table[i][n] - sum(table[i][j] * x[j] for j in range(i + 1, n))) / table[i][i]
    return x


OPTIONS = ({}, {"bias": True}, {"scaling": "static"}, {"refine": 1}, {"bias": True, "refine": 2})


@pytest.mark.covering
@pytest.mark.parametrize(("word", "toeplitz"), [
    (word, options) for word in (16, 24, 32) for options in OPTIONS if word < 32 or "refine" not in options])
def test_the_exact_solution_lies_within_the_bound(word: int, toeplitz: dict[str, object]) -> None:
    """Exactly, in fractions, for systems from easy to hopeless; the bound is not idle either."""
    n, rng, tight = 12, np.random.default_rng(word), []
    for sigma, lam in ((0.7, 0.5), (1.5, 0.1), (2.0, 0.02), (3.0, 1e-3), (5.0, 3.0)):
        plan = make_plan(Spec(
            model={"name": "t", "algorithm": "toeplitz_rls"}, input={"word": "u8f0"},
            output={"word": "s16f15"}, kernel={"sigma": sigma}, numbers={"word": word},
            toeplitz={"n": n, "lambda": lam, "scheme": "uniform", **toeplitz}))
        model = open_model(plan)
        for _ in range(4):
            y_raw = rng.integers(-32768, 32767, n)
            model.train(None, y_raw)
            state = model.state()
            if not state["trained"][0] or state["bound"][0] == NO_BOUND:
                continue
            scale = (1 + Fraction(lam)) / 2 ** (plan.word - 1)
            r = [1 + Fraction(lam), *(int(w) * scale for w in model.workspace()["r"][1:])]
            lsb = Fraction(2) ** (int(state["alpha_exp"][0]) - plan.integer("alpha_frac"))
            b = Fraction(int(state["bias"][0]), 2 ** (plan.word - 2)) if toeplitz.get("bias") else 0
            exact = solve([[r[abs(i - j)] for j in range(n)] for i in range(n)],
                          [Fraction(int(v), 2**15) - b for v in y_raw])
            missed = sum((int(w) * lsb - e) ** 2 for w, e in zip(state["alpha"], exact, strict=True))
            assert missed <= (int(state["bound"][0]) * lsb) ** 2
            tight.append(float(missed) ** 0.5 / (int(state["bound"][0]) * float(lsb)))
    assert len(tight) >= 8 and max(tight) > 0.02


def bounded_plan(word: int, **toeplitz: object) -> Plan:
    return make_plan(Spec(
        model={"name": "t", "algorithm": "toeplitz_rls"}, input={"word": "u8f0"}, output={"word": "s16f15"},
        kernel={"sigma": 1.5}, numbers={"word": word},
        toeplitz={"n": 12, "lambda": 0.1, "scheme": "uniform", **toeplitz}))


PLAIN = [bounded_plan(word, **options) for word in (16, 32) for options in (
    {"solver": "levinson"}, {"solver": "levinson", "scaling": "static"}, {"solver": "schur"},
    {"solver": "lookahead"})]


@given(st.sampled_from(PLAIN), st.integers(0, 2**32 - 1), st.floats(0, 1))
def test_without_an_intercept_the_bound_is_that_of_the_certificate(
        plan: Plan, seed: int, place: float) -> None:
    rng, top = np.random.default_rng(seed), 1 << (plan.word - 1)
    y, alpha = rng.integers(-top, top, (2, 12)) >> rng.integers(0, plan.word, (2, 1))
    low, high = plan.integer("alpha_exp_min"), plan.integer("alpha_exp_max")
    exponent = low + round(place * (high - low))
    state = {"alpha": alpha, "alpha_exp": np.array([exponent])}
    assert certified_bound(plan, y, state) == certify(
        y, row_of(plan, state), alpha, exponent, trained_constants(plan))


@pytest.mark.parametrize("word", [16, 24, 32])
@pytest.mark.parametrize("options", [{"bias": True}, {"solver": "levinson"}, {"solver": "banded", "n": 40},
                                     {"solver": "banded", "n": 40, "bias": True}])
def test_the_bound_recomputed_from_a_trained_model_is_its_own(word: int, options: dict[str, object]) -> None:
    plan, rng = bounded_plan(word, **options), np.random.default_rng(word)
    model = open_model(plan)
    for size in (32767, 300, 1):
        y_raw = rng.integers(-size, size + 1, plan.sizes["n"])
        status = model.train(None, y_raw)["status"][0]
        state = model.state()
        bound = certified_bound(plan, np.asarray(model._targets(y_raw)), state)
        assert bound == state["bound"][0]
        assert certified_accurate(plan, np.asarray(model._targets(y_raw)), state) == (status == OK)
