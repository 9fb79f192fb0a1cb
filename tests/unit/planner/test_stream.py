"""The taps of a stream: a row of the exact inverse, the bounds of their errors, the range of the sums."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

from kerncast.sim.errors import KerncastError
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.reference.backend import FloatReference
from kerncast.sim.spec import Spec

CASES = [(3.0, 0.1, 16, "gaussian", 29), (3.0, 0.1, 24, "gaussian", 12), (3.0, 0.1, 32, "gaussian", 60),
         (6.0, 0.01, 16, "gaussian", 74), (2.0, 0.5, 16, "laplacian", 20), (0.3, 1.0, 16, "gaussian", 1),
         (1.0, 0.001, 32, "gaussian", 21)]


def plan_of(sigma: float, lam: float, word: int, kernel: str, lag: int | None, n: int = 256,
            **toeplitz: object) -> Plan:
    return make_plan(Spec(
        model={"name": "t", "algorithm": "toeplitz_rls"}, input={"word": "u16f0"},
        output={"word": "u12f0", "offset": 2048}, kernel={"type": kernel, "sigma": sigma},
        numbers={"word": word},
        toeplitz={"n": n, "lambda": lam, "scheme": "uniform", "stream_lag": lag, **toeplitz}))


def stored(plan: Plan) -> np.ndarray:
    return np.array(plan.tables["taps"].values) / 2.0 ** plan.integer("stream_shift")


@pytest.mark.parametrize(("sigma", "lam", "word", "kernel", "lag"), CASES)
def test_the_taps_are_within_the_stated_bounds_of_the_exact_row(
        sigma: float, lam: float, word: int, kernel: str, lag: int) -> None:
    plan = plan_of(sigma, lam, word, kernel, lag)
    system = scipy.linalg.toeplitz(FloatReference(plan).first_column(None))
    row = (np.eye(256) - lam * np.linalg.inv(system))[128]
    inside, full = slice(128 - lag, 129 + lag), 2.0 ** (word - 2)
    bound = plan.evidence["stream"]["bound"]
    noise = full * 1e-12  # of float64
    inner = np.abs(row[inside] - stored(plan)).sum() * full
    outer = np.abs(np.delete(row, np.r_[inside])).sum() * full
    assert inner + outer <= bound["taps"] + bound["truncation"] + noise
    assert bound["taps"] <= inner + 0.01 and bound["truncation"] <= outer + 0.1  # the bounds are tight


@pytest.mark.parametrize(("sigma", "lam", "word", "kernel", "lag"), CASES)
def test_no_sum_of_products_leaves_the_accumulator(sigma: float, lam: float, word: int, kernel: str,
                                                   lag: int) -> None:
    plan = plan_of(sigma, lam, word, kernel, lag)
    taps = plan.tables["taps"]
    assert sum(map(abs, taps.values)) << (word - 1) < 1 << 62
    assert taps.values == taps.values[::-1] and len(taps.values) == plan.stream_taps == 2 * lag + 1


def test_the_plan_states_the_lag_whose_omitted_taps_are_within_an_lsb() -> None:
    short = plan_of(3.0, 0.1, 16, "gaussian", 12).evidence["stream"]
    assert short["bound"]["truncation"] > 1
    at = {lag: plan_of(3.0, 0.1, 16, "gaussian", lag).evidence["stream"]["bound"]["truncation"]
          for lag in (short["enough"] - 1, short["enough"])}
    assert at[short["enough"]] <= 1 < at[short["enough"] - 1]


def test_the_solver_does_not_change_the_taps() -> None:
    found = {plan_of(3.0, 0.1, 16, "gaussian", 20, solver=name).tables["taps"].values
             for name in ("levinson", "banded", "schur")}
    assert len(found) == 1


def test_a_plan_without_a_stream_has_no_trace_of_it() -> None:
    plan = plan_of(3.0, 0.1, 16, "gaussian", None)
    assert plan.stream_taps == 0 and "taps" not in plan.tables and "stream" not in plan.evidence


def test_a_kernel_wider_than_the_record_is_refused() -> None:
    with pytest.raises(KerncastError, match="more than half of n"):
        plan_of(20.0, 0.1, 16, "gaussian", 30, n=128, solver="levinson")
