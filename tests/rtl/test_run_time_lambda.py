"""The solver core whose lambda is set at run time gives the integer model's values, in the clocks stated."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from kerncast.codegen.rtl import SOLVER, TRAINER, generate_rtl, rtl_sources
from kerncast.codegen.rtl.solver import solver_cycles
from kerncast.hw.backends import open_backend
from kerncast.hw.rtl.simulators import Simulation
from kerncast.sim.backend import Comparison, LambdaBackend, in_range
from kerncast.sim.errors import KerncastError
from kerncast.sim.model import open_model
from kerncast.sim.model.statuses import BAD_ARGUMENT, NOT_POSITIVE_DEFINITE, OK

from .banded_cases import BandedCore, case_plan, cores, lambdas, problems
from .conftest import make, raw_inputs

#: Clocks from the last beat of a system whose lambda is out of range to its reply.
REFUSED = 3


@pytest.fixture(scope="module")
def built(require_simulator, tmp_path_factory) -> Callable[[str, str], BandedCore]:
    return cores(require_simulator, tmp_path_factory)


@pytest.mark.parametrize(("case", "simulator"), [
    ("ranged16", "icarus"), ("ranged_thin16", "icarus"), ("ranged_high16", "icarus"),
    ("ranged_grows16", "icarus"), ("ranged16", "verilator")])
def test_any_lambda_gives_the_values_of_the_model(built, ledger, case, simulator):
    core = built(case, simulator)
    core.do("cover", ["banded_inst.state_reg"])
    core.do("watch", 0)
    given = list(zip(lambdas(core.plan, 30, 1), problems(core.plan, 30, 1), strict=True))
    for lam, y in given:
        core.solve_with(lam, y)
        core.do("solution")
    core.do("spans")
    core.do("errors")
    core.do("noted")
    words, mismatches, (spans, errors, [states]) = core.run()
    ledger.record(backend=f"rtl:{simulator}:solver", words=words, mismatches=mismatches, case=case)
    assert errors == [0]
    solved = [span for span, (lam, _) in zip(spans, given, strict=True) if in_range(core.plan, lam)]
    assert 10 < len(solved) < 30
    assert set(spans) - set(solved) == {REFUSED}
    assert min(solved) == solver_cycles(core.plan)
    assert max(solved) <= core.clocks
    assert states == list(range(6)) or case != "ranged_grows16"


@pytest.mark.parametrize("case", ["ranged16", "ranged_thin16", "ranged_high16", "ranged_full16"])
def test_without_growth_each_lambda_takes_exactly_the_clocks_stated(built, case):
    core = built(case, "icarus")
    core.do("watch", 0)
    for lam in (core.plan.integer("lambda_lo"), core.plan.integer("lambda_hi")):
        core.solve_with(lam, np.zeros(core.plan.sizes["n"], dtype=np.int64))
        core.do("solution")
    core.do("spans")
    _, mismatches, (spans,) = core.run()
    assert spans == [solver_cycles(core.plan)] * 2
    assert mismatches == 0


def test_idle_and_back_pressure_change_no_value_of_consecutive_lambdas(built, ledger):
    core = built("ranged16", "icarus")
    for seed, (idle, pressure) in enumerate([(0.0, 0.0), (0.5, 0.0), (0.0, 0.6), (0.4, 0.4)]):
        core.do("stall", idle, pressure, seed)
        given = list(zip(lambdas(core.plan, 10, seed), problems(core.plan, 10, seed + 1), strict=True))
        for lam, y in given:  # all of them wait at the core
            core.solve_with(lam, y)
        for _ in given:
            core.do("solution")
    core.do("stall", 0.0, 0.0, 0)
    core.do("waiting")
    words, mismatches, [waiting] = core.run()
    assert waiting == 0
    ledger.record(backend="rtl:icarus:solver", words=words, mismatches=mismatches, case="ranged16, stalled")


def test_reset_at_any_clock_recovers_and_a_bad_frame_is_dropped_and_reported(built, ledger):
    core = built("ranged16", "icarus")
    first, other, *_ = problems(core.plan, 2, 2)
    n, (lo, hi) = core.plan.sizes["n"], (core.plan.integer(f"lambda_{end}") for end in ("lo", "hi"))
    for cut in range(1, n + solver_cycles(core.plan), 61):
        core.do("y", core.beats(first))
        core.do("cycles", cut)
        core.do("reset")
        core.do("waiting")
        core.solve_with(lo, first)
        core.do("solution")
    for length in (1, 2, n, n + 1, n + 3, 2 * n):
        core.do("y", [1] * length)
        core.solve_with(hi, other)  # close behind it
        core.do("solution")
        core.do("errors")
        core.do("clear_errors")
        core.do("errors")
    words, mismatches, rest = core.run()
    assert rest[-12:] == [[1], [0]] * 6
    assert not any(rest[:-12])
    ledger.record(backend="rtl:icarus:solver", words=words, mismatches=mismatches, case="ranged16, reset")


def test_a_matrix_that_is_not_positive_definite_is_refused(require_simulator, ledger, tmp_path):
    """A first row that is too large is positive definite only with a large lambda."""
    require_simulator("icarus")
    plan = case_plan("ranged16")
    band = plan.tables["band"]
    large = replace(band, values=tuple(value * 21 // 20 for value in band.values))
    plan = replace(plan, tables={**plan.tables, "band": large})
    generate_rtl(plan, tmp_path)
    core = BandedCore(plan, Simulation(rtl_sources(tmp_path, plan, SOLVER), "t_solver", "icarus",
                                       tmp_path / "sim", {}), 4 * solver_cycles(plan))
    for lam, y in zip(lambdas(plan, 30, 5), problems(plan, 30, 5), strict=True):
        core.solve_with(lam, y)
        core.do("solution")
    assert {want[0] for want in core.wanted} == {OK, NOT_POSITIVE_DEFINITE, BAD_ARGUMENT}
    words, mismatches, _ = core.run()
    ledger.record(backend="rtl:icarus:solver", words=words, mismatches=mismatches,
                  case="ranged16, not positive definite")
    assert mismatches == 0


def test_the_back_end_trains_with_any_lambda_and_predicts(require_simulator, ledger, tmp_path):
    require_simulator("icarus")
    plan, found = make("ranged16"), Comparison()
    model, backend = open_model(plan), open_backend(plan, "rtl:icarus:solver", build_dir=tmp_path)
    assert isinstance(backend, LambdaBackend)
    x, y_raw, lo, hi = raw_inputs(plan, 5, 2), plan.signals["y_raw"].format, *(
        plan.integer(f"lambda_{end}") for end in ("lo", "hi"))
    for seed, lam in enumerate((lo, hi, lo - 1, (lo + hi) // 2, hi + 1)):
        y = np.random.default_rng(seed).integers(y_raw.lo, y_raw.hi + 1, plan.sizes["n"])
        found.add(f"train {lam}", model.train_with(lam, None, y), backend.train_with(lam, None, y))
        found.add(f"predict {lam}", model.predict(x), backend.predict(x))
    found.add("train", model.train(None, y), backend.train(None, y))
    backend.close()
    ledger.record(backend=backend.name, words=found.words, mismatches=found.mismatches,
                  case="ranged16 trains")
    assert found.mismatches == 0, found.first


@pytest.mark.parametrize(("case", "core", "where"), [
    ("ranged16", TRAINER, "[toeplitz] lambda_range"), ("ranged24", SOLVER, "[numbers] word"),
    ("ranged24", TRAINER, "[toeplitz] lambda_range")])
def test_a_core_that_stores_its_factor_refuses_a_range_of_lambda(case, core, where):
    with pytest.raises(KerncastError) as refused:
        core.refuse_unfit(case_plan(case))
    [problem] = refused.value.problems
    assert (problem.code, problem.where) == ("E307", where)


@pytest.mark.campaign
@pytest.mark.parametrize(("case", "count"), [
    ("ranged16", 6000), ("ranged_high16", 6000), ("ranged_grows16", 6000), ("ranged_full16", 600)])
def test_long_random_runs_of_any_lambda_equal_the_model(built, ledger, case, count):
    start = int(np.random.default_rng().integers(1 << 30))
    core, chance = built(case, "verilator"), np.random.default_rng(start)
    given = zip(lambdas(core.plan, count, start), problems(core.plan, count, start), strict=True)
    for k, (lam, y) in enumerate(given):
        if k % 20 == 0:
            idle, pressure = chance.choice([0.0, 0.0, 0.3, 0.7], 2)
            core.do("stall", float(idle), float(pressure), k)
        if k % 50 == 49:  # a reset at any clock of a system
            core.do("y", core.beats(y))
            core.do("cycles", int(chance.integers(1, 2 * solver_cycles(core.plan))))
            core.do("reset")
        core.solve_with(lam, y)
        core.do("solution")
    words, mismatches, _ = core.run()
    ledger.record(backend="rtl:verilator:solver", words=words, mismatches=mismatches,
                  case=f"{case} from seed {start}")
