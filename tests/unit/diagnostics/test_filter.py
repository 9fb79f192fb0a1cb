"""The FIR filter of a Toeplitz design: its taps are the fitted operator's row, and when there is none."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

from kerncast.sim.diagnostics.filter import filter_of
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.reference.backend import FloatReference
from kerncast.sim.spec import Spec


def plan_of(sigma: float, lam: float, word: int = 16, kernel: str = "gaussian", n: int = 256,
            **toeplitz: object) -> Plan:
    period = {"period": 50.0} if kernel == "periodic" else {}
    return make_plan(Spec(
        model={"name": "t", "algorithm": "toeplitz_rls"}, input={"word": "u16f0"}, output={"word": "s16f0"},
        kernel={"type": kernel, "sigma": sigma, **period}, numbers={"word": word},
        toeplitz={"n": n, "lambda": lam, "scheme": "uniform", **toeplitz}))


@pytest.mark.parametrize(("sigma", "lam", "word", "kernel"), [
    (3.0, 0.1, 16, "gaussian"), (1.0, 1.0, 16, "gaussian"), (6.0, 0.01, 16, "gaussian"),
    (3.0, 0.1, 32, "gaussian"), (2.0, 0.5, 16, "laplacian")])
def test_the_taps_are_the_middle_row_of_the_fitted_operator(sigma: float, lam: float, word: int,
                                                           kernel: str) -> None:
    plan = plan_of(sigma, lam, word, kernel)
    found = filter_of(plan)
    assert found is not None
    system = scipy.linalg.toeplitz(FloatReference(plan).first_column(None))
    row = (np.eye(256) - lam * np.linalg.inv(system))[128]
    fir = np.zeros(256)
    fir[128 - found.lag: 129 + found.lag] = np.concatenate([found.taps[:0:-1], found.taps])
    lsb = 2.0 ** -(word - 1)
    assert np.abs(row - fir).sum() <= 1.01 * found.error + 1e-12 and found.error <= lsb


@pytest.mark.parametrize("plan", [
    plan_of(3.0, 0.1, kernel="periodic"), plan_of(3.0, 0.1, bias=True), plan_of(3.0, 0.1, n=40),
    plan_of(100.0, 0.1, n=128)], ids=["periodic", "intercept", "short", "wide"])
def test_there_is_no_filter_without_a_row_that_repeats(plan: Plan) -> None:
    assert filter_of(plan) is None
