"""The solver's core gives the integer model's words, in the clocks that codegen states."""

from collections.abc import Callable

import numpy as np
import pytest

from kerncast.codegen.rtl.solver import read_lags, recursion_cycles, solver_cycles
from kerncast.sim.model.statuses import NOT_POSITIVE_DEFINITE, OK, SATURATED

from .conftest import LONG
from .solver_cases import SolverCore, build, case_plan, choices, problems, recursion, solution

STALLS = [(0.0, 0.0), (0.5, 0.0), (0.0, 0.6), (0.4, 0.4)]
SMALL = [("half_up16", "icarus"), ("even24", "icarus"), ("floor32", "icarus"), ("floor32", "verilator"),
         ("short16", "icarus"), ("short24", "icarus"), ("short32", "icarus"),
         ("bias16", "icarus"), ("bias24", "icarus"), ("bias32", "icarus"), ("bias16", "verilator"),
         pytest.param("half_up16", "verilator", marks=pytest.mark.campaign)]
#: What one core shows as well as another.
ONE = [("floor32", "icarus")] + [pytest.param(*case, marks=pytest.mark.campaign)
                                 for case in (*SMALL[:2], *SMALL[4:7], ("half_up16", "verilator"))]
#: And with an intercept.
BOTH = [*ONE, ("bias16", "icarus"), *(pytest.param(*case, marks=pytest.mark.campaign) for case in (
    ("bias24", "icarus"), ("bias32", "icarus")))]


@pytest.fixture(scope="module")
def built(require_simulator, tmp_path_factory) -> Callable[[str, str], SolverCore]:
    """``built(case, simulator)``: the core of a case, built once."""
    cores: dict[tuple[str, str], SolverCore] = {}

    def get(case: str, simulator: str) -> SolverCore:
        require_simulator(simulator)
        if (case, simulator) not in cores:
            cores[case, simulator] = build(case, simulator, tmp_path_factory.mktemp(case))
        return cores[case, simulator]

    return get


def solvable(core: SolverCore, count: int, seed: int):
    """Systems that the model solves, so that the core takes all its clocks."""
    found = [pair for pair in problems(core.plan, 3 * count, seed) if solution(core.plan, *pair)[0] >= 0]
    return found[:count]


@pytest.mark.covering(case=choices)
@pytest.mark.parametrize(("case", "simulator"), SMALL)
def test_every_value_equals_the_model_in_the_clocks_stated(built, ledger, case, simulator):
    core = built(case, simulator)
    watched = solvable(core, 2, 3)
    core.do("watch", 0)
    for r, y in watched:
        core.solved(r, y)
    core.do("spans")
    for r, y in problems(core.plan, (72 if simulator == "icarus" else 220) if LONG else 24, 1):
        core.solved(r, y)
    core.do("errors")
    statuses = {want[0] for want in core.wanted}
    words, mismatches, (spans, errors) = core.run()
    assert statuses == ({OK, NOT_POSITIVE_DEFINITE} | (
        {SATURATED} if core.plan.options["scaling"] == "static" else set()))
    assert spans == [solver_cycles(core.plan, core.lanes)] * len(watched)
    assert errors == [0, 0]
    ledger.record(backend=f"rtl:{simulator}:solver", words=words, mismatches=mismatches,
                  case=f"solver {case}")


@pytest.mark.parametrize(("case", "simulator"), [case for case in ONE if "verilator" not in str(case)])
def test_inner_values_of_a_and_x_equal_the_model_at_every_step(built, ledger, case, simulator):
    core = built(case, simulator)
    n, sign = core.plan.sizes["n"], 1 << (core.plan.word - 1)
    [(r, y)] = solvable(core, 1, 9)
    core.do("watch", 1)
    core.solved(r, y)
    core.do("spans")
    core.do("written")
    _, mismatches, (_, written) = core.run()
    assert mismatches == 0
    found = {(name, m, i): (word ^ sign) - sign for name, m, i, word in written}
    assert len(found) == len(written)
    traced: dict[str, list[bool]] = {"a": [], "x": []}
    for m in range(n):
        _, a, x, _ = recursion(core.plan, r, y, m + 1)
        traced["a"] += [found.pop(("a", m, i)) == a[i] for i in range(1, m + 1)]
        traced["x"] += [found.pop(("x", m, i)) == x[i] for i in range(m + 1)]
    assert not found
    for name, equal in traced.items():
        ledger.record(backend=f"rtl:{simulator}:solver-traced", words=len(equal),
                      mismatches=equal.count(False),
                      case=f"solver {case} traced {name}")


@pytest.mark.parametrize(("case", "simulator"), BOTH)
def test_idle_and_back_pressure_change_no_value_of_consecutive_systems(built, ledger, case, simulator):
    core = built(case, simulator)
    for seed, (idle, pressure) in enumerate(STALLS):
        core.do("stall", idle, pressure, seed)
        core.do("watch", 0)
        asked = list(problems(core.plan, 2, seed + 1))
        for r, y in asked:  # both of them wait at the core
            core.solve(r, y)
        for _ in asked:
            core.do("solution")
        core.do("spans")
    core.do("stall", 0.0, 0.0, 0)
    core.do("waiting")
    words, mismatches, rest = core.run()
    assert rest[-1] == 0
    ledger.record(backend=f"rtl:{simulator}:solver", words=words, mismatches=mismatches,
                  case=f"stalled {case}")


@pytest.mark.parametrize(("case", "simulator"), BOTH)
def test_reset_at_any_clock_recovers_and_a_bad_frame_is_dropped_and_reported(built, ledger, case, simulator):
    core = built(case, simulator)
    [(r, y), other], n = solvable(core, 2, 2), core.plan.sizes["n"]
    last = n + solver_cycles(core.plan, core.lanes)
    for cut in range(1, last, last // (7 if simulator == "icarus" else 60)):
        core.do("r", core.beats(r))
        core.do("y", core.beats(y))
        core.do("cycles", cut)
        core.do("reset")
        core.do("waiting")
        core.solved(r, y)
    for k, (stream, length) in enumerate((("r", 1), ("y", n - 1), ("r", n + 1), ("y", 2 * n))):
        for name in ("ry", "yr")[k % 2]:  # what belongs to it goes with it, come before or after
            core.do(name, [1] * length if name == stream else core.beats(r if name == "r" else y))
        core.solved(*other)  # close behind them
        core.do("errors")
        core.do("clear_errors")
        core.do("errors")
    words, mismatches, rest = core.run()
    assert rest[-8:] == [[1, 0], [0, 0], [0, 1], [0, 0]] * 2
    assert not any(rest[:-8])
    ledger.record(backend=f"rtl:{simulator}:solver", words=words, mismatches=mismatches,
                  case=f"solver {case} reset")


def test_words_of_the_row_after_its_last_lag_are_taken_as_zero(built, ledger):
    core = built("short16", "icarus")
    [(r, y)], lag = solvable(core, 1, 4), read_lags(core.plan)
    assert lag < core.plan.sizes["n"] - 1
    core.solve(np.where(np.arange(r.size) > lag, 12345, r), y)
    core.wanted = [solution(core.plan, r, y)]
    core.do("solution")
    words, mismatches, _ = core.run()
    ledger.record(backend="rtl:icarus:solver", words=words, mismatches=mismatches, case="solver short16 tail")


def test_full_size_equals_the_model_in_the_clocks_promised(built, ledger):
    core = built("full16", "verilator")
    n = core.plan.sizes["n"]
    core.do("watch", 0)
    core.solved(*next(problems(core.plan, 1, 5)))
    core.do("spans")
    [[status, *_]] = core.wanted
    words, mismatches, (spans,) = core.run()
    assert status == 0
    assert spans == [solver_cycles(core.plan)]
    ledger.record(backend="rtl:verilator:solver", words=words, mismatches=mismatches, case=f"solver n = {n}")


def test_the_lanes_multiply_in_all_but_a_fraction_of_their_clocks():
    n = case_plan("full16").sizes["n"]
    for lanes in (1, 2, 4):
        assert recursion_cycles(n, lanes) <= 1.15 * 2 * n**2 / lanes
        assert recursion_cycles(n, lanes, n - 1) == recursion_cycles(n, lanes)
    assert recursion_cycles(n, 1, 14) <= 1.15 * n**2


@pytest.mark.campaign
@pytest.mark.parametrize(("case", "simulator", "count"), [
    ("half_up16", "verilator", 18000), ("bias16", "verilator", 9000), ("floor32", "icarus", 400),
    ("even24", "icarus", 500), ("bias24", "icarus", 250)])
def test_long_random_runs_equal_the_model(built, ledger, case, simulator, count):
    start = int(np.random.default_rng().integers(1 << 30))
    core, chance = built(case, simulator), np.random.default_rng(start)
    for k, (r, y) in enumerate(problems(core.plan, count, start)):
        if k % 20 == 0:
            idle, pressure = chance.choice([0.0, 0.0, 0.3, 0.7], 2)
            core.do("stall", float(idle), float(pressure), k)
        if k % 50 == 49:  # a reset at any clock of a system
            core.do("r", core.beats(r))
            core.do("y", core.beats(y))
            core.do("cycles", int(chance.integers(1, 2 * solver_cycles(core.plan, core.lanes))))
            core.do("reset")
        core.solved(r, y)
    words, mismatches, _ = core.run()
    ledger.record(backend=f"rtl:{simulator}:solver", words=words, mismatches=mismatches,
                  case=f"solver {case} from seed {start}")
