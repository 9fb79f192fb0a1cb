"""Matern kernels: their words against the derived bound, their limits, and the refusals."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import Matern as SklearnMatern

from kerncast.sim.errors import KerncastError
from kerncast.sim.jit import jit
from kerncast.sim.kernels import Matern32, Matern52, make_kernel
from kerncast.sim.model.kernel import exponent, kernel_constants, kernel_word, matern_word
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.planner.kernel import word_error
from kerncast.sim.planner.matern import argument, last_exponent, profile
from kerncast.sim.planner.words import WORD_CLASSES
from kerncast.sim.spec import Spec

KINDS = ("matern32", "matern52")
#: Bounds of the exponential near t = 0, in LSB: docs/measured/exp2.md.
EXP2 = {16: {"small": 1.961, "medium": 0.764, "large": 0.583},
        32: {"small": 1.080, "medium": 0.924, "large": 0.887}}


def spec_of(kind: str, word: int, columns: int = 1, table: str = "large", **more: Any) -> Spec:
    return Spec(**{"model": {"name": "probe", "algorithm": "kernel_cg"}, "input": {"word": "s16f14",
                "columns": columns}, "output": {"word": "s12f0"}, "kernel": {"type": kind, "sigma": 0.7},
                "numbers": {"word": word, "exp_table": table}, "cg": {"n": 4, "lambda": 0.5}, **more})


@jit
def _words(t: Any, k: Any, out: Any) -> None:
    for i in range(len(t)):
        out[i] = matern_word(t[i], k)


def bound(plan: Plan, table: str, roots: int | None = None) -> float:
    """The derivation of :mod:`kerncast.sim.planner.matern`, for every t, in LSB.

    With `roots`, 0 or 1, the errors of t are included: of kernel_c, of its rounding, and of roots.
    """
    short = plan.word == 16
    u, e_lsb, q_lsb = (2.0**-20, 2.0**-15, 2.0**-20) if short else (2.0**-32, 2.0**-31, 2.0**-31)
    t = np.linspace(0, last_exponent(plan.kernel, WORD_CLASSES[plan.word]), 40_001)[:-1]
    whole, x = np.floor(t), t * np.log(2)
    half = np.floor(whole / 2)
    p = 1 + x + (x * x / 3 if plan.matern == 2 else 0)
    q, e = p * 2**-whole, 2**(whole - t)
    of_e = (0.5 + (EXP2[16 if short else 32][table] - 0.5) * e) * e_lsb
    of_x, shifted = u + t * 2.0**-31 * 0.08, (half > 0) * u  # ln 2 is off by 0.08 of its LSB
    of_p = of_x * 2**-half + shifted
    if plan.matern == 2:
        of_third = (u + x * 2.0**-31 / 3 + of_x / 3) * 2**-half + shifted
        of_p += x * of_third + x / 3 * 2**-half * of_x + u
    of_q = of_p * 2**(half - whole) + q_lsb / 2
    error = of_e * q + e * of_q + of_e * of_q
    if roots is not None:
        slope = x * x * (1 if plan.matern == 1 else (1 + x) / 3) * np.exp(-x)  # x |k'(x)|
        of_t = u * (1 + roots) / np.maximum(t, 1e-6)  # relative
        error += slope * (2.0**-16 if short else 2.0**-31) + slope * roots * 2.0**-30 + slope * of_t
    return float(error.max()) * 2.0 ** (plan.word - 1) + 0.5


@pytest.mark.covering
@pytest.mark.parametrize(("kind", "word", "table"),
                         [*product(KINDS, (16, 24, 32), ("small", "medium", "large"))])
def test_words_are_within_the_derived_bound(
        kind: str, word: int, table: str) -> None:
    plan = make_plan(spec_of(kind, word, table=table))
    frac, chance = WORD_CLASSES[word].t_frac, np.random.default_rng(word)
    end = last_exponent(kind, WORD_CLASSES[word]) << frac
    if word == 16:
        t = np.arange(0, end, 7, dtype=np.int64)
    else:
        near = np.add.outer(np.arange(0, end, 1 << (frac - 8)), np.arange(-3, 4)).ravel()
        t = np.clip(np.r_[near, (end * chance.random(400_000) ** 3).astype(np.int64)], 0, end - 1)
    found = np.zeros(len(t), dtype=np.int64)
    _words(t, kernel_constants(plan), found)
    x = t.astype(np.longdouble) / 2**frac * np.log(np.longdouble(2))
    exact = (1 + x + (x * x / 3 if kind == "matern52" else 0)) * np.exp(-x) * 2.0 ** (word - 1)
    assert 0.49 < float(np.abs(found - exact).max()) <= bound(plan, table)
    for roots in (0, 1):
        assert bound(plan, table, roots) <= word_error(spec_of(kind, word, 1 + roots, table),
                                                       WORD_CLASSES[word])
    assert found.max() == found[t == 0][0] == 1 << (word - 1)


@pytest.mark.parametrize(("kind", "word"), [*product(KINDS, (16, 24, 32))])
@pytest.mark.parametrize("columns", [1, 2])
def test_the_kernel_is_zero_from_the_planned_distance_on(
        kind: str, word: int, columns: int) -> None:
    plan = make_plan(spec_of(kind, word, columns))
    k, end = kernel_constants(plan), plan.integer("kernel_d2_end")
    assert end < plan.signals["distance"].hi
    value = [kernel_word(d, exponent(d, k), k, word, k.exp2_bits) for d in (end - 1, end, end + 1)]
    assert value[0] <= 1 and value[1:] == [0, 0]


@pytest.mark.parametrize("kind", KINDS)
def test_the_argument_of_a_value_is_where_the_profile_reaches_it(kind: str) -> None:
    for value in (Fraction(999_999, 1_000_000), Fraction(1, 2), Fraction(1, 10**9)):
        x = argument(kind, value)
        assert abs(profile(kind, x) - Decimal(value.numerator) / value.denominator) < Decimal("1e-20")


@pytest.mark.parametrize("columns", [1, 3])
@pytest.mark.parametrize("kernel", [Matern32(0.8), Matern52(3.0)], ids=lambda k: k.name)
def test_the_real_kernels_are_those_of_scikit_learn(kernel: Matern32 | Matern52, columns: int) -> None:
    chance = np.random.default_rng(1)
    U, V = chance.normal(size=(20, columns)), chance.normal(size=(30, columns))
    peer = SklearnMatern(kernel.sigma, nu=kernel.nu)
    np.testing.assert_allclose(kernel(U, V), peer(U, V), rtol=1e-12)
    assert kernel(np.array([[1e200]]), np.array([[-1e200]]))[0, 0] == 0.0
    assert (kernel(U, U)[np.arange(20), np.arange(20)] == 1.0).all()
    assert make_kernel({"kernel": kernel.name, "sigma": repr(kernel.sigma)}) == kernel


def test_a_limit_of_kernel_values_becomes_its_distance() -> None:
    for kind, columns in product(KINDS, (1, 2)):
        plan = make_plan(spec_of(kind, 32, columns, model={"name": "a", "algorithm": "kernel_lms"}, cg=None,
                                 online={"budget": 4, "eta": 0.1, "quantise": 0.7}))
        lsb, distance = float(Fraction(plan.units["x"])), plan.integer("quantise")
        r = np.array([distance, distance + 1.0]) ** (0.5 if columns == 2 else 1.0) * lsb
        least = make_kernel(plan.options)(r[:, np.newaxis], np.zeros((1, 1)))[:, 0]
        assert least[0] >= 0.7 > least[1]


@pytest.mark.parametrize("kind", KINDS)
def test_a_learner_in_float32_and_random_features_refuse_it(kind: str) -> None:
    for algorithm, table in (
            ("kernel_lms", {"online": {"budget": 4, "eta": 0.1, "reduction": "fklms_f32"}}),
            ("online_kernel_rls", {"rls": {"features": 4}})):
        with pytest.raises(KerncastError, match="E231"):
            spec_of(kind, 16, model={"name": "a", "algorithm": algorithm}, cg=None, **table)
