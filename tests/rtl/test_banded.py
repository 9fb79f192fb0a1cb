"""The banded solver's core gives the integer model's values, in the clocks that codegen states."""

from collections.abc import Callable

import numpy as np
import pytest

from kerncast.codegen.rtl import SOLVER, TRAINER, generate_rtl, rtl_sources
from kerncast.codegen.rtl.solver import solver_cycles, worst_cycles
from kerncast.codegen.rtl.trainer import trainer_cycles
from kerncast.hw.backends import open_backend
from kerncast.hw.rtl.simulators import Simulation
from kerncast.sim.backend import Comparison
from kerncast.sim.model import open_model
from kerncast.sim.model.statuses import NOT_POSITIVE_DEFINITE, OK
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec

from .banded_cases import BandedCore, case_plan, cores, problems
from .conftest import make, raw_inputs


@pytest.fixture(scope="module")
def built(require_simulator, tmp_path_factory) -> Callable[[str, str], BandedCore]:
    return cores(require_simulator, tmp_path_factory)


BOTH = [("plain16", "icarus"), ("head32", "icarus"), ("odd24", "icarus"), ("thin16", "icarus"),
        ("grows16", "icarus"), ("plain16", "verilator"), ("bias16", "icarus"), ("bias24", "icarus"),
        ("bias32", "icarus"), ("bias_thin16", "icarus"), ("bias32", "verilator"),
        ("geometric16", "icarus"), ("geometric24", "icarus"), ("geometric32", "icarus"),
        ("geometric_thin16", "icarus"), ("geometric_all16", "icarus"), ("geometric_one24", "icarus"),
        ("geometric_grows16", "icarus"),
        ("geometric32", "verilator"),
        pytest.param("head32", "verilator", marks=pytest.mark.campaign)]


@pytest.mark.covering
@pytest.mark.parametrize(("case", "simulator"), BOTH)
def test_every_value_equals_the_model_in_the_clocks_stated(built, ledger, case, simulator):
    core = built(case, simulator)
    core.do("cover", ["banded_inst.state_reg"])
    core.do("watch", 0)
    for y in problems(core.plan, 12, 1):
        core.solved(y)
    core.do("spans")
    core.do("errors")
    core.do("noted")
    words, mismatches, (spans, errors, [states]) = core.run()
    ledger.record(backend=f"rtl:{simulator}:solver", words=words, mismatches=mismatches,
                  case=f"banded {case}")
    assert errors == [0]
    assert len(spans) == 12
    assert min(spans) == solver_cycles(core.plan)
    assert max(spans) <= worst_cycles(core.plan)
    if case in ("grows16", "geometric_grows16"):
        assert max(spans) > solver_cycles(core.plan)
        assert states == list(range(6))


@pytest.mark.parametrize("case", ["grows16", "geometric_grows16"])
def test_an_exponent_out_of_range_ends_the_solution(require_simulator, ledger, tmp_path, case):
    require_simulator("icarus")
    plan = case_plan(case)
    generate_rtl(plan, tmp_path)
    top = tmp_path / "rtl" / "t_solver.sv"
    words = mismatches = 0
    for name in ("z_exp_max", "alpha_exp_max"):
        text, most = top.read_text(), f".{name.upper()}({plan.integer(name)})"
        assert most in text
        copy = tmp_path / f"{name}.sv"
        copy.write_text(text.replace(most, f".{name.upper()}(-6)"))
        sources = [copy if path == top else path for path in rtl_sources(tmp_path, plan, SOLVER)]
        core = BandedCore(plan, Simulation(sources, "t_solver", "icarus", tmp_path / name, {}),
                          worst_cycles(plan))
        for y in problems(plan, 12, 3):
            core.solved(y, **{name: -6})
        assert {want[0] for want in core.wanted} == {OK, NOT_POSITIVE_DEFINITE}
        more, wrong, _ = core.run()
        words, mismatches = words + more, mismatches + wrong
    ledger.record(backend="rtl:icarus:solver", words=words, mismatches=mismatches,
                  case=f"banded {case}, out of range")


@pytest.mark.parametrize("case", ["plain16", "bias16", "geometric16"])
def test_idle_and_back_pressure_change_no_value_of_consecutive_systems(built, ledger, case):
    core = built(case, "icarus")
    for seed, (idle, pressure) in enumerate([(0.0, 0.0), (0.5, 0.0), (0.0, 0.6), (0.4, 0.4)]):
        core.do("stall", idle, pressure, seed)
        core.do("watch", 0)
        for y in problems(core.plan, 2, seed + 1):  # both of them wait at the core
            core.solve(y)
        core.do("solution")
        core.do("solution")
        core.do("spans")
    core.do("stall", 0.0, 0.0, 0)
    core.do("waiting")
    words, mismatches, rest = core.run()
    assert rest[-1] == 0
    ledger.record(backend="rtl:icarus:solver", words=words, mismatches=mismatches, case="banded, stalled")


@pytest.mark.parametrize("case", ["grows16", "bias16", "geometric_grows16"])
def test_reset_at_any_clock_recovers_and_a_bad_frame_is_dropped_and_reported(built, ledger, case):
    core = built(case, "icarus")
    first, other, *_ = problems(core.plan, 2, 2)
    n = core.plan.sizes["n"]
    for cut in range(1, n + solver_cycles(core.plan), 199 if case == "grows16" else 37):
        core.do("y", core.beats(first))
        core.do("cycles", cut)
        core.do("reset")
        core.do("waiting")
        core.solved(first)
    for length in (1, n - 1, n + 1, 2 * n):
        core.do("y", [1] * length)
        core.solved(other)  # close behind it
        core.do("errors")
        core.do("clear_errors")
        core.do("errors")
    words, mismatches, rest = core.run()
    assert rest[-8:] == [[1], [0]] * 4
    assert not any(rest[:-8])
    ledger.record(backend="rtl:icarus:solver", words=words, mismatches=mismatches, case="banded, reset")


@pytest.mark.parametrize(("case", "most"), [("full16", 12_000), ("geometric_full16", 9_300)])
def test_a_training_of_256_samples_takes_at_most_the_stated_clocks(built, ledger, case, most):
    core = built(case, "verilator")
    core.do("watch", 0)
    for y in problems(core.plan, 3, 5):
        core.solved(y)
    core.do("spans")
    words, mismatches, (spans,) = core.run()
    assert min(spans) >= solver_cycles(core.plan)
    assert max(spans) <= trainer_cycles(core.plan) <= most
    ledger.record(backend="rtl:verilator:solver", words=words, mismatches=mismatches, case=f"banded {case}")


@pytest.mark.parametrize("case", ["band16", "band16_bias", "geometric16"])
def test_the_back_end_trains_and_predicts_from_what_it_trained(require_simulator, ledger, tmp_path, case):
    require_simulator("icarus")
    plan = make(case)
    assert TRAINER.fits(plan)
    backend, model = open_backend(plan, "rtl:icarus", build_dir=tmp_path), open_model(plan)
    compared, x, y_raw = Comparison(), raw_inputs(plan, 5, 2), plan.signals["y_raw"].format
    for seed in range(2):
        y = np.random.default_rng(seed).integers(y_raw.lo, y_raw.hi + 1, plan.sizes["n"])
        compared.add("train", model.train(None, y), backend.train(None, y))
        compared.add("predict", model.predict(x), backend.predict(x))
    backend.close()
    ledger.record(backend=backend.name, words=compared.words, mismatches=compared.mismatches,
                  case=f"{case} trains")


@pytest.mark.parametrize(("word", "outputs", "tolerance"), [(16, 3, 0.5), (16, 2, 1e-5), (32, 2, 0.5)])
def test_signals_are_solved_one_after_the_other(
        require_simulator, ledger, tmp_path, word, outputs, tolerance):
    """The host rounds their coefficients to one exponent, and certifies them together."""
    require_simulator("icarus")
    plan = make_plan(Spec(
        model={"name": "t", "algorithm": "toeplitz_rls"}, input={"word": "u16f0"},
        output={"word": "s12f0", "outputs": outputs}, kernel={"sigma": 2.0}, numbers={"word": word},
        toeplitz={"n": 30, "lam": 0.1, "scheme": "uniform", "solver": "banded", "tolerance": tolerance}))
    backend, model = open_backend(plan, "rtl:icarus:solver", build_dir=tmp_path), open_model(plan)
    compared, x, rng = Comparison(), raw_inputs(plan, 5, 2), np.random.default_rng(word)
    y = rng.integers(-2048, 2048, (30, outputs)) >> np.array([0, 7, 3])[:outputs]  # exponents differ
    for given in (y, y[:, ::-1], np.zeros_like(y)):
        compared.add("train", model.train(None, given), backend.train(None, given))
        compared.add("predict", model.predict(x), backend.predict(x))
    backend.close()
    ledger.record(backend=backend.name, words=compared.words, mismatches=compared.mismatches,
                  case=f"banded, {outputs} signals, {word} bits")
    assert compared.mismatches == 0, compared.first


@pytest.mark.campaign
@pytest.mark.parametrize(("case", "simulator", "count"), [
    ("plain16", "verilator", 9000), ("head32", "verilator", 3300), ("odd24", "icarus", 400),
    ("geometric16", "verilator", 9000), ("geometric32", "verilator", 3300), ("geometric24", "icarus", 400)])
def test_long_random_runs_equal_the_model(built, ledger, case, simulator, count):
    start = int(np.random.default_rng().integers(1 << 30))
    core, chance = built(case, simulator), np.random.default_rng(start)
    for k, y in enumerate(problems(core.plan, count, start)):
        if k % 20 == 0:
            idle, pressure = chance.choice([0.0, 0.0, 0.3, 0.7], 2)
            core.do("stall", float(idle), float(pressure), k)
        if k % 50 == 49:  # a reset at any clock of a system
            core.do("y", core.beats(y))
            core.do("cycles", int(chance.integers(1, 2 * solver_cycles(core.plan))))
            core.do("reset")
        core.solved(y)
    words, mismatches, _ = core.run()
    ledger.record(backend=f"rtl:{simulator}:solver", words=words, mismatches=mismatches,
                  case=f"banded {case} from seed {start}")
