"""FPGA cores of a Toeplitz trainer with several outputs: which there are, and why not the others."""

import pytest

from kerncast.codegen.hls.cores import CORES as HLS_CORES
from kerncast.codegen.rtl import CORES
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec


def plan_of(bias):
    return make_plan(Spec(model={"name": "leads", "algorithm": "toeplitz_rls"}, input={"word": "u16f0"},
                          output={"word": "s12f0", "outputs": 3}, kernel={"sigma": 2.0},
                          toeplitz={"n": 64, "lambda": 0.1, "scheme": "uniform", "solver": "banded",
                                    "bias": bias}))


@pytest.mark.parametrize("bias", [False, True])
def test_rtl_cores_that_support_one_output_are_refused(bias):
    refused = {core.name: core.refusal(plan_of(bias)) for core in CORES}
    assert [name for name, error in refused.items() if error is None] == [] if bias else ["predictor"]
    assert {refused[name].problems[0].where for name in ("solver", "trainer")} == {"[output] outputs"}
    if bias:
        assert refused["predictor"].problems[0].where == "[toeplitz] bias"


def test_hls_cores_are_refused_with_the_key_of_the_spec():
    refused = [core.refusal(plan_of(False)) for core in HLS_CORES]
    assert all(error is not None for error in refused)
    assert [error.problems[0].where for error in refused].count("[output] outputs") == 3
