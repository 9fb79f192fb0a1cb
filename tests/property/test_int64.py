"""No intermediate of the integer models leaves 64 bits: run on integers that refuse to, and proved
from the plan's own constants for sizes too large to run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kerncast.sim.errors import KerncastError
from kerncast.sim.model.toeplitz.block_vectors import BLOCK, GUARD
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.primitives import bit_length
from kerncast.sim.spec import Spec

PROGRAM = Path(__file__).parent / "checked_int.py"
LIMIT = 2**62


def run_checked(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-W", "error::RuntimeWarning", *arguments], check=False,
                          capture_output=True, text=True, cwd=PROGRAM.parent,
                          env={**os.environ, "KERNCAST_ENGINE": "python"})


@pytest.mark.parametrize("first", range(0, 1200, 300))
def test_no_intermediate_leaves_int64_and_no_signal_its_planned_range(first: int) -> None:
    """Extreme plans (lambda 1e-12 to 1e12, all word lengths, all roundings) with data at the rails."""
    found = run_checked(str(PROGRAM), str(first), str(first + 300))
    assert (found.returncode, found.stdout) == (0, ""), found.stdout + found.stderr


@pytest.mark.campaign
@pytest.mark.parametrize("first", range(10_000, 100_000, 10_000))
def test_no_intermediate_leaves_int64_in_many_more_plans(first: int) -> None:
    found = run_checked(str(PROGRAM), str(first), str(first + 10_000))
    assert (found.returncode, found.stdout) == (0, ""), found.stdout + found.stderr


@pytest.mark.parametrize("expression", [
    "big * 2", "big + big", "big << 1", "-(-big - 1)", "3 * big", "1 - (-big)"])
def test_the_checker_notices_an_overflow(expression: str) -> None:
    code = f"import checked_int; big = checked_int.CheckedInt(2**63 - 1); {expression}"
    found = run_checked("-c", code)
    assert found.returncode != 0 and "Int64Overflow" in found.stderr


WORDS = st.sampled_from((16, 24, 32))
LAMBDAS = st.floats(-12, 12).map(lambda e: 10.0**e)


def toeplitz_plan(word: int, n: int, lam: float) -> Plan | None:
    try:
        return make_plan(Spec(
            model={"name": "t", "algorithm": "toeplitz_rls"}, input={"word": "u8f0"},
            output={"word": "s32f0"}, kernel={"sigma": 2.0},
            toeplitz={"n": n, "lam": lam, "scheme": "diagonal_mean"}, numbers={"word": word}))
    except KerncastError as error:
        assert [p.code for p in error.problems] == ["E205"]
        return None


@given(WORDS, st.one_of(st.integers(2, 40), st.integers(2, 65535)), LAMBDAS)
def test_the_trainer_s_sums_fit_for_every_accepted_n_and_lambda(
        word: int, n: int, lam: float) -> None:
    plan = toeplitz_plan(word, n, lam)
    if plan is None:
        return
    full, mac = 2 ** (word - 1), plan.integer("mac_shift")
    xi_frac, innov_frac = plan.integer("xi_frac"), plan.integer("innov_frac")
    acc_frac = 2 * (word - 1) - mac
    acc = n * (full * full >> mac)  # every product at the rail
    assert acc <= LIMIT
    x_exponents = range(plan.integer("alpha_exp_min"), plan.integer("alpha_exp_max") + 1)
    for frac, exponents in ((xi_frac, range(plan.integer("a_exp_max") + 1)), (innov_frac, x_exponents)):
        for exponent in exponents:
            shift = acc_frac - frac - exponent
            assert -62 <= shift <= 62
            aligned = acc >> shift if shift >= 0 else acc << -shift
            rest = full << (frac - (word - 2))  # y; r[m] is half of it
            assert aligned + rest < LIMIT  # the numerator of a division
    assert max(xi_frac, innov_frac) <= 61
    for exponent in x_exponents:
        shift = plan.integer("f_shift") - exponent
        assert -62 <= shift <= 62
        assert acc <= LIMIT >> max(-shift, 0)
    assert 0 < plan.integer("alpha_scale") < 2**31 and plan.integer("ridge_scale") < 2**31


@given(WORDS, st.integers(2, 65535), st.floats(1e-6, 1.999999))
def test_the_learner_s_sums_fit_for_every_budget_and_eta(word: int, budget: int, eta: float) -> None:
    plan = make_plan(Spec(model={"name": "t", "algorithm": "kernel_lms"}, input={"word": "u8f0"},
                          output={"word": "s32f0"}, kernel={"sigma": 2.0}, numbers={"word": word},
                          online={"budget": budget, "eta": eta}))
    full, one = 2 ** (word - 1), 2 ** (word - 1)
    assert budget * (full * one >> plan.integer("mac_shift")) <= LIMIT
    assert 2 * full * plan.integer("eta") <= LIMIT  # (y - f) eta
    assert all(0 <= plan.integer(s) <= 62 for s in ("mac_shift", "f_shift", "eta_shift", "project_shift"))
    assert 0 <= plan.integer("decay") <= 2 ** plan.integer("decay_shift")


@given(st.integers(1, 65535))
def test_the_look_ahead_s_sums_fit_for_every_n(n: int) -> None:
    """A row of T times a vector stays a wide number; a vector's terms leave room for all of them."""
    word, wide = 2**31, 2**62
    assert n * (word * word >> bit_length(n)) <= wide  # what the model takes for its shift
    assert (2 + BLOCK) * (wide >> GUARD) <= wide
