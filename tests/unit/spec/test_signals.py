"""Several outputs of a Toeplitz trainer: what a spec may combine with them."""

import pytest

from kerncast.sim.errors import KerncastError
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec


def spec_of(toeplitz=None, kernel=None, output=None, **tables):
    return Spec(**{"model": {"name": "leads", "algorithm": "toeplitz_rls"}, "input": {"word": "u16f0"},
                   "output": {"word": "s12f0", "outputs": 3, **(output or {})},
                   "kernel": {"sigma": 2.0, **(kernel or {})},
                   "toeplitz": {"n": 64, "lambda": 0.1, "scheme": "uniform", "solver": "banded",
                                **(toeplitz or {})}, **tables})


def problems(make, *arguments, **keys):
    with pytest.raises(KerncastError) as found:
        make(*arguments, **keys)
    return found.value.problems


@pytest.mark.parametrize("solver", ["banded", "auto"])
@pytest.mark.parametrize("bias", [False, True])
def test_the_banded_solver_trains_several_outputs(solver, bias):
    plan = make_plan(spec_of({"solver": solver, "bias": bias}))
    assert plan.banded and plan.outputs == plan.targets == plan.sizes["C"] == 3


@pytest.mark.parametrize(("toeplitz", "key"), [
    ({"solver": "levinson"}, "outputs"), ({"solver": "schur"}, "outputs"),
    ({"solver": "lookahead"}, "outputs"), ({"solver": "auto", "scheme": "diagonal_mean"}, "outputs"),
    ({"solver": "auto", "refine": 2}, "refine"), ({"solver": "auto", "scaling": "static"}, "scaling"),
    ({"candidates": [[3.0, 0.1]]}, "candidates"), ({"stream_lag": 20}, "stream_lag")])
def test_what_supports_one_output_only_is_refused_with_its_key(toeplitz, key):
    table = "output" if key == "outputs" else "toeplitz"
    found = problems(spec_of, toeplitz)
    assert [(problem.code, problem.where) for problem in found] == [("E113", f"[{table}] {key}")]


def test_the_remedy_of_another_solver_is_one_that_works():
    found = problems(spec_of, {"solver": "schur"})[0]
    assert "banded" in found.remedy and make_plan(spec_of({"solver": "banded"})).outputs == 3


@pytest.mark.parametrize("solver", ["banded", "auto"])
def test_a_band_that_is_too_wide_has_a_remedy_for_several_outputs(solver):
    found = problems(make_plan, spec_of({"solver": solver}, {"sigma": 20.0}))[0]
    assert found.code == "E205" and "one spec per output" in found.remedy
    alone = problems(make_plan, spec_of(kernel={"sigma": 20.0}, output={"outputs": 1}))[0]
    assert "levinson" in alone.remedy and "per output" not in alone.remedy


def test_one_output_gives_the_plan_of_a_spec_without_the_key():
    alone = spec_of(output={"outputs": 1})
    assert make_plan(alone).hash == make_plan(spec_of(output={"outputs": None})).hash


@pytest.mark.parametrize("outputs", [2, 4])
def test_memory_and_multiplications_grow_by_output_and_tables_do_not(outputs):
    one, some = (make_plan(spec_of(output={"outputs": count})) for count in (None, outputs))
    n, word = one.sizes["n"], 2
    assert some.tables == one.tables and some.table_bytes == one.table_bytes
    assert some.state_bytes - one.state_bytes == (outputs - 1) * n * word
    grown = some.trainer_bytes - one.trainer_bytes - (outputs - 1) * 2 * n * word
    assert 0 < grown <= 4 * (outputs + 1) + 8  # exponents, the output, and padding
    train, predict = (some.operations[call]["multiplications"].count
                      - outputs * one.operations[call]["multiplications"].count
                      for call in ("train", "predict"))
    assert (train, predict) == (-2 * (outputs - 1), 0)  # the outputs share the bound
    assert some.operations["predict"]["kernel_values"] == one.operations["predict"]["kernel_values"]


def test_the_bound_sums_the_squares_of_all_outputs_without_overflow():
    one, many = (make_plan(spec_of(output={"outputs": count})) for count in (None, 255))
    assert (one.integer("norm_bits") - many.integer("norm_bits")) == 4
    assert 64 * 255 << (2 * many.integer("norm_bits")) < 1 << 62
