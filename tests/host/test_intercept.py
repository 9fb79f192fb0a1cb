"""Intercepts of the banded solver at the limits of the targets, in generated C."""

import numpy as np
import pytest

from kerncast.codegen.build.host import HostBackend
from kerncast.sim.model import open_model
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec
from kerncast.sim.statuses import DeviceStatus


@pytest.mark.covering
@pytest.mark.parametrize("rounding", ["floor", "half_up", "half_even"])
@pytest.mark.parametrize("word", [16, 24, 32])
def test_targets_at_full_scale_have_the_values_of_the_model(word, rounding, require_tool, ledger):
    require_tool("gcc", "sudo apt-get install -y gcc libc6-dev")
    plan = make_plan(Spec(
        model={"name": "rail", "algorithm": "toeplitz_rls"}, input={"word": "u8f0"},
        output={"word": "s32f0"}, kernel={"sigma": 1.0}, numbers={"word": word, "rounding": rounding},
        toeplitz={"n": 37, "lambda": 0.5, "scheme": "uniform", "solver": "banded", "bias": True}))
    model, host = open_model(plan), HostBackend(plan, compiler="gcc")
    lo, hi = -(1 << 31), (1 << 31) - 1
    mixed, statuses = np.where(np.arange(37) % 3 == 0, lo, hi), set()
    for y in (np.full(37, lo), np.full(37, hi), mixed, -1 - mixed, np.zeros(37, dtype=np.int64)):
        wanted, found = model.train(None, y), host.train(None, y)
        statuses.add(int(wanted["status"][0]))
        assert np.array_equal(wanted["status"], found["status"])
        state = host.state()
        assert all(np.array_equal(values, state[name]) for name, values in model.state().items())
        assert np.array_equal(model.fitted()["f"], host.fitted()["f"])
    host.close()
    assert DeviceStatus.OK in statuses
    assert rounding == "floor" or DeviceStatus.SATURATED in statuses
    ledger.record(backend="host:gcc", words=5 * 76, mismatches=0, case="banded, intercept")
