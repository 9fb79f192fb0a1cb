"""No hardware core holds a plan that compares pairs of sigma and lambda: each refuses it with a code."""

import pytest

from kerncast.codegen import hls, rtl
from kerncast.sim.errors import KerncastError
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec


def plan():
    return make_plan(Spec(
        model={"name": "t", "algorithm": "toeplitz_rls"}, input={"word": "u8f0"}, output={"word": "s12f0"},
        kernel={"sigma": 1.0}, toeplitz={"n": 32, "lambda": 0.1, "scheme": "uniform", "solver": "banded",
                                         "candidates": [[1.5, 0.1]]}))


@pytest.mark.parametrize(("cores", "code"), [(rtl, "E307"), (hls, "E311")])
def test_every_core_refuses_candidates(cores, code):
    assert not cores.fits(plan())
    with pytest.raises(KerncastError) as refused:
        cores.refuse_unfit(plan())
    problem = refused.value.problems[0]
    assert (problem.code, problem.where) == (code, "[toeplitz] candidates")


def test_the_notes_on_missing_cores_name_the_candidates():
    notes = rtl.render_refusals(plan())["rtl/README.md"]
    assert notes.count("does not compare candidates") >= 3  # predictor, solver, trainer
