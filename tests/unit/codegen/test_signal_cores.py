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


@pytest.mark.parametrize("cores", [CORES, HLS_CORES])
def test_solver_and_predictor_support_several_outputs_and_the_trainer_one(cores):
    refused = {core.name: core.refusal(plan_of(False)) for core in cores}
    assert refused["solver"] is None and refused["predictor"] is None
    assert refused["trainer"].problems[0].where == "[output] outputs"


@pytest.mark.parametrize("cores", [CORES, HLS_CORES])
def test_cores_refuse_the_intercepts_of_several_outputs(cores):
    refused = {core.name: core.refusal(plan_of(True)) for core in cores}
    for name in ("solver", "predictor", "trainer"):
        assert refused[name].problems[0].where == "[toeplitz] bias"
