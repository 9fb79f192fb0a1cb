"""The second model: what it asks of fxpmath, what it refuses, and that it answers as a back end."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from math import floor
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kerncast.sim.backend import Backend
from kerncast.sim.errors import EXIT_TOOL_MISSING, KerncastError
from kerncast.sim.formats import Format, Rounding
from kerncast.sim.fxp_model import MOST, open_fxp_model
from kerncast.sim.fxp_model.arithmetic import (
    cast,
    exact,
    floor_at,
    product_floor,
    quotient,
    total,
    word_at,
    word_of,
    words_of,
)
from kerncast.sim.model.statuses import BAD_ARGUMENT, NOT_TRAINED
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.primitives import divide
from kerncast.sim.spec import Spec
from kerncast.sim.spec.keys import TABLE_OF

WORDS = st.integers(-(2**62), 2**62)


def plan_of(**tables: Any) -> Plan:
    algorithm = next(a for a, table in TABLE_OF.items() if table in tables)
    return make_plan(Spec(model={"name": "t", "algorithm": algorithm}, input={"word": "u8f0"},
                          output={"word": "s8f0"}, kernel={"sigma": 2.0}, **tables))


def grid(n: int = 8) -> Plan:
    return plan_of(toeplitz={"n": n, "lam": 0.1, "scheme": "uniform"})


def gradients(n: int = 8) -> Plan:
    return plan_of(cg={"n": n, "lam": 0.1})


def online(budget: int = 3) -> Plan:
    return plan_of(online={"budget": budget, "eta": 0.5})


def rounded(value: Fraction, rounding: Rounding) -> int:
    if rounding is Rounding.FLOOR:
        return floor(value)
    return floor(value + Fraction(1, 2)) if rounding is Rounding.HALF_UP else round(value)


@given(st.lists(WORDS, min_size=1, max_size=4), st.integers(-3, 70), st.sampled_from((16, 32, 48)),
       st.integers(-4, 40), st.sampled_from(Rounding))
def test_the_cast_is_exact_at_every_width(words: list[int], frac: int, bits: int, kept: int,
                                          rounding: Rounding) -> None:
    fmt = Format(True, bits, kept)
    exactly = [rounded(Fraction(w) / Fraction(2) ** (frac - kept), rounding) for w in words]
    assert words_of(cast(exact(words, frac), fmt, rounding)).tolist() == [fmt.fit(w) for w in exactly]


@given(st.integers(-(2**40), 2**40), st.integers(3, 20), st.sampled_from(Rounding))
def test_one_bit_far_below_decides_a_tie(whole: int, far: int, rounding: Rounding) -> None:
    fmt = Format(True, 44, 0)
    for lean in (-1, 0, 1):
        word = (2 * whole + 1) * 2**far + lean
        assert word_of(cast(exact(word, far + 1), fmt, rounding)) == rounded(
            Fraction(word, 2 ** (far + 1)), rounding)


@given(WORDS, st.integers(0, 60), st.integers(0, 60))
def test_floor_and_word_at_drop_bits_downward(word: int, frac: int, kept: int) -> None:
    found = floor_at(exact(word, frac), kept)
    assert found.n_frac == min(frac, kept)
    assert word_of(found) == word // 2 ** max(frac - kept, 0)
    assert word_at(exact(word, frac), kept) == floor(Fraction(word) * Fraction(2) ** (kept - frac))


@given(st.integers(0, 2**62), st.integers(0, 2**31), st.integers(60, 94))
def test_products_of_94_bits_are_floored_exactly(a: int, b: int, frac: int) -> None:
    if a * b >> (frac - 32) < 2**63:
        assert word_of(product_floor(exact(a, 0), exact(b, frac), 32)) == a * b >> (frac - 32)


def test_the_sum_of_nothing_is_zero_and_integers_of_64_bits_are_refused() -> None:
    assert word_of(total(exact(np.zeros(1), 0))) == 0
    with pytest.raises(AssertionError, match="floats"):
        exact([1, 2**63], 0)


SIZES = st.integers(0, 61).flatmap(lambda e: st.integers(2**e, 2 ** (e + 1) - 1))


@given(SIZES, SIZES, st.sampled_from((-1, 0, 1)))
def test_both_opinions_on_division_agree(size: int, den: int, sign: int) -> None:
    assert quotient(sign * size, den) == divide(sign * size, den)


@pytest.mark.parametrize(("plan", "where"), [(grid(MOST + 1), "[toeplitz] n"),
                                             (gradients(MOST + 1), "[cg] n"),
                                             (online(MOST + 1), "[online] budget")])
def test_a_plan_beyond_32_is_refused_with_e250(plan: Plan, where: str) -> None:
    with pytest.raises(KerncastError) as error:
        open_fxp_model(plan)
    problem = error.value.problems[0]
    assert (problem.code, problem.where, problem.value) == ("E250", where, str(MOST + 1))
    assert problem.allowed and problem.remedy


def test_a_plan_that_computes_in_float32_is_refused_with_e250() -> None:
    with pytest.raises(KerncastError) as error:
        open_fxp_model(plan_of(toeplitz={"n": 8, "lam": 0.1, "scheme": "uniform", "solver": "lookahead_f32"}))
    problem = error.value.problems[0]
    assert (problem.code, problem.where, problem.value) == ("E250", "[toeplitz] solver", "lookahead_f32")
    assert "lookahead" in problem.allowed


@pytest.mark.parametrize("plan", [grid(), gradients(), online()])
def test_without_fxpmath_the_command_that_adds_it_is_named(
        plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [m for m in sys.modules if m.split(".")[0] == "fxpmath"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "fxpmath", None)  # an import of it fails now
    with pytest.raises(KerncastError) as error:
        open_fxp_model(plan)
    problem = error.value.problems[0]
    assert problem.code == "E501" and "pip install fxpmath" in problem.remedy
    assert error.value.exit_code == EXIT_TOOL_MISSING


def test_kerncast_s_front_door_does_not_load_fxpmath() -> None:
    code = "import sys, kerncast, kerncast.sim.fxp_model; sys.exit('fxpmath' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("plan", [grid(), gradients(), online()])
def test_it_is_a_back_end_named_model_fxpmath(plan: Plan) -> None:
    backend = open_fxp_model(plan)
    assert isinstance(backend, Backend) and backend.name == "model:fxpmath"
    state = backend.state()
    assert [(k, v.size) for k, v in state.items()] == [(f.name, f.count) for f in plan.memory]
    assert all(v.dtype == np.int64 and not v.any() for v in state.values())
    backend.close()


def test_what_a_back_end_cannot_do_is_answered_by_a_status() -> None:
    x, y = np.zeros((3, 1), dtype=np.int64), np.zeros(3, dtype=np.int64)
    trainer, learner = open_fxp_model(grid()), open_fxp_model(online())
    assert trainer.predict(x)["status"].tolist() == [NOT_TRAINED] * 3
    assert trainer.train(None, y)["status"].tolist() == [BAD_ARGUMENT]  # three targets, not eight
    assert trainer.update(x, y)["status"].tolist() == [BAD_ARGUMENT] * 3
    assert learner.predict(x)["status"].tolist() == [NOT_TRAINED] * 3
    assert learner.train(None, y)["status"].tolist() == [BAD_ARGUMENT]


def test_no_samples_give_no_answers() -> None:
    x, y = np.zeros((0, 1), dtype=np.int64), np.zeros(0, dtype=np.int64)
    learner = open_fxp_model(online())
    for answer in (learner.update(x, y), learner.predict(x), open_fxp_model(grid()).predict(x)):
        assert [v.shape for v in answer.values()] == [(0,), (0,)]


def test_reset_clears_everything() -> None:
    learner = open_fxp_model(online())
    learner.update(np.arange(5).reshape(5, 1), np.arange(5))
    assert any(v.any() for v in learner.state().values())
    learner.reset()
    assert not any(v.any() for v in learner.state().values())
