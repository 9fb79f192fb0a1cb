"""The generated learner of kernel RLS answers and keeps the integer model's words."""

from dataclasses import replace

import numpy as np
import pytest

from kerncast.codegen.rtl import LEARNER, generate_rtl, render_rtl, rtl_sources
from kerncast.codegen.rtl.frames import sample_frame, state_frames
from kerncast.codegen.rtl.rls import (
    MOST_DIRECTIONS,
    MOST_FEATURES,
    prediction_cycles,
    sweep_cycles,
    update_cycles,
)
from kerncast.hw.backends import open_backend
from kerncast.hw.rtl.learner_backend import learned_state
from kerncast.hw.rtl.simulators import Simulation
from kerncast.sim.backend import Outputs, Raw, field_arrays
from kerncast.sim.errors import KerncastError
from kerncast.sim.model import open_model
from kerncast.sim.plan import Plan
from kerncast.sim.replay.vectors import make_vectors, replay, usual_calls

from .conftest import LONG, make
from .learner_cases import Learner
from .rls_cases import RLS, rls_stream

USUAL = [("waves16", "icarus", 1), ("waves16", "icarus", 4), ("pair24", "icarus", 4),
         ("fives32", "icarus", 2), ("wraps16", "icarus", 1), ("sixteen16", "verilator", 4)]
CASES = [*USUAL, *(pytest.param(case, simulator, lanes, marks=pytest.mark.campaign)
                   for case in RLS for simulator, lanes in (
                       ("icarus", 1), ("verilator", 1), ("icarus", 2), ("icarus", 4), ("icarus", 8))
                   if (case, simulator, lanes) not in USUAL)]
STALLS = [(0.0, 0.0), (0.4, 0.4)]


@pytest.fixture(scope="module")
def learner(require_simulator, tmp_path_factory):
    """``learner(case, simulator, lanes=1)``: the core of a case with an empty script; built once."""
    cores = {}

    def get(case: str, simulator: str, lanes: int = 1) -> Learner:
        require_simulator(simulator)
        if (case, simulator, lanes) not in cores:
            plan, folder = make(case), tmp_path_factory.mktemp(f"{case}-{simulator}-rls")
            generate_rtl(plan, folder)
            cores[case, simulator, lanes] = Learner(case, plan, Simulation(
                rtl_sources(folder, plan, LEARNER), f"{plan.name}_learner", simulator, folder / "sim",
                {"LANES": lanes}, long=LONG), lanes)
        cores[case, simulator, lanes].clear()
        return cores[case, simulator, lanes]

    return get


@pytest.fixture
def compared(ledger):
    """Run a script; words and state words are recorded apart; what else came back."""

    def check(core: Learner, case: str) -> list[object]:
        words, wrong, state_words, wrong_state, rest = core.run()
        backend = f"rtl:{core.simulation.simulator.name}:learner"
        told = f"{core.case} kernel RLS, lanes {core.lanes}, {case}"
        ledger.record(backend=backend, words=words, mismatches=wrong, case=told)
        if state_words:
            ledger.record(backend=f"{backend}-state", words=state_words, mismatches=wrong_state,
                          case=f"{told} state")
        return rest

    return check


@pytest.mark.covering
@pytest.mark.parametrize(("case", "simulator", "lanes"), CASES)
def test_every_value_equals_the_model_under_any_stalls(learner, compared, case, simulator, lanes):
    core = learner(case, simulator, lanes)
    for k, (idle, pressure) in enumerate(STALLS):
        core.do("stall", idle, pressure, k)
        for j, length in enumerate((1, 3, 40 if LONG else 16)):
            x, y = rls_stream(core.plan, 2 * length, 10 * k + j)
            core.predict(x[:1])
            core.learn(x[:length], y[:length])
            core.predict(x[length:length + 5])
            core.learn(x[length:], y[length:])
            core.read()
        core.reset()
        core.predict(x[:1])
        core.read()
    core.do("waiting")
    core.do("errors")
    assert compared(core, "streams") == [0, [0, 0]]


def steps_taken(plan: Plan, before: bytes, x: Raw, y: Raw) -> int:
    """Count the steps of an update: each changes a coefficient."""
    found = []
    for steps in range(plan.integer("rls_steps") + 1):
        model = open_model(plan)
        model._constants = model._constants._replace(rls_steps=steps)
        model.restore(before)
        model.update(x, y)
        found.append(model.state()["rls_w"].tolist())
    return next((k for k in range(len(found) - 1) if found[k] == found[k + 1]), len(found) - 1)


@pytest.mark.covering
@pytest.mark.parametrize(("case", "simulator", "lanes"), CASES)
def test_clocks_of_updates_and_predictions_follow_the_formula(learner, compared, case, simulator, lanes):
    core, (x, y) = learner(case, simulator, lanes), rls_stream(make(case), 40, 6)
    plan, wanted = core.plan, []
    core.do("watch")
    for i in range(len(x)):
        if i % 8 == 5:
            core.predict(x[i:i + 1])
            wanted.append(prediction_cycles(plan, lanes))
        else:
            steps = steps_taken(plan, core.model.save(), x[i:i + 1], y[i:i + 1])
            wanted.append(update_cycles(plan, lanes, steps))
            core.learn(x[i:i + 1], y[i:i + 1])
    core.collect()
    core.do("spans")
    spans, = compared(core, "clocks")
    assert [span[0] for span in spans] == wanted
    assert max(wanted) == update_cycles(plan, lanes)


def test_sixteen_features_in_four_lanes_take_fewer_than_400_clocks():
    plan = make("sixteen16")
    assert plan.sizes == {"N": 25, "D": 8, "M": 16}
    assert update_cycles(plan, 4) < 400
    assert update_cycles(plan, 4, 9) - update_cycles(plan, 4, 8) == sweep_cycles(plan, 4)
    assert update_cycles(plan, 4) - update_cycles(plan, 4, 9) == sweep_cycles(plan, 4) - 6


def test_the_streams_end_some_descents_early():
    plan, found = make("wraps16"), set()
    model, (x, y) = open_model(plan), rls_stream(plan, 40, 3)
    for i in range(len(x)):
        found.add(steps_taken(plan, model.save(), x[i:i + 1], y[i:i + 1]))
        model.update(x[i:i + 1], y[i:i + 1])
    assert max(found) == plan.integer("rls_steps")
    assert len(found) > 1


def overwritten(plan: Plan, seed: int) -> Outputs:
    """A state that no stream gives: words of any size, coefficients at their limits, R_ii below 0."""
    chance, n = np.random.default_rng(seed), plan.sizes["N"]
    w = chance.integers(-(1 << 31) + 1, 1 << 31, n)
    w[chance.random(n) < 0.5] = (1 << 31) - 1 if seed % 2 else 1 - (1 << 31)
    w >>= 16 * (seed % 4 == 3)
    r = chance.integers(-(1 << 31), 1 << 31, n * (n + 1) // 2) >> chance.integers(0, 30)
    beta = chance.integers(-(1 << 60), 1 << 60, n) >> 3 * seed
    return {"rls_r": r if seed % 3 else abs(r), "rls_beta": beta, "rls_w": w, "trained": np.array([1])}


@pytest.mark.covering
@pytest.mark.parametrize(("case", "simulator", "lanes"), [*USUAL[:2], *USUAL[3:5]])
def test_an_overwritten_state_gives_the_values_of_the_model(learner, compared, case, simulator, lanes):
    core, statuses = learner(case, simulator, lanes), set()
    for seed in range(12):
        x, y = rls_stream(core.plan, 5, seed)
        state = field_arrays(core.plan, overwritten(core.plan, seed))
        core.collect()
        core.do("restore", *state_frames(core.plan, state))
        core.model.load(state)
        core.predict(x[:2])
        core.read()
        core.learn(x, y)
        core.read()
        statuses |= {answer[0] for answer in core.wanted if isinstance(answer, list)}
    core.do("errors")
    assert compared(core, "overwritten") == [[0, 0]]
    assert 1 in statuses


@pytest.mark.parametrize(("case", "simulator", "lanes"), [USUAL[1], USUAL[4]])
def test_reset_at_any_clock_recovers(learner, compared, case, simulator, lanes):
    core = learner(case, simulator, lanes)
    x, y = rls_stream(core.plan, 12, 4)
    for cut in range(1, update_cycles(core.plan, lanes), 9):
        core.learn(x[:2], y[:2])
        core.collect()
        core.do("sample", sample_frame(core.plan, x[2], y[2]), True)
        if cut % 2:
            core.do("pulse", "read_state")
        core.do("cycles", cut)
        core.reset()
        core.do("waiting")
        core.predict(x[:1])
        core.learn(x[8:9], y[8:9])
        core.read()
        core.reset()
    core.do("errors")
    rest = compared(core, "reset")
    assert rest == [0] * (len(rest) - 1) + [[0, 0]]


@pytest.mark.parametrize(("case", "simulator", "lanes"), USUAL[:2])
def test_a_malformed_sample_changes_nothing_and_is_reported(learner, compared, case, simulator, lanes):
    core = learner(case, simulator, lanes)
    (x, y), columns = rls_stream(core.plan, 40, 5), core.plan.sizes["D"]
    core.learn(x[:8], y[:8])
    at = 8
    for learning in (False, True):
        for length in sorted({1, columns, columns + 1, columns + 2, 3 * columns} - {columns + learning}):
            core.collect()
            core.do("sample", [1] * length, learning)
            core.learn(x[at:at + 1], y[at:at + 1])  # close behind it
            core.predict(x[at + 1:at + 2])
            core.read()
            core.do("errors")
            core.do("clear_errors")
            core.do("errors")
            at += 2
    rest = compared(core, "bad samples")
    assert rest == [[1, 0], [0, 0]] * (len(rest) // 2)
    assert len(rest) >= 16


@pytest.mark.covering
@pytest.mark.parametrize(("case", "simulator", "lanes"), USUAL[:5])
def test_a_state_is_restored_exactly_or_refused(learner, compared, case, simulator, lanes):
    core, plan = learner(case, simulator, lanes), make(case)
    (x, y), saved = rls_stream(plan, 30, 11), open_model(plan)
    saved.update(x[:20], y[:20])
    frame, = state_frames(plan, saved.state())
    core.learn(x[:5], y[:5])
    for keeps, bad in ((True, [frame[0] ^ 1, *frame[1:]]), (True, frame[:1]), (False, frame[:-1]),
                       (False, [*frame, 0]), (False, [frame[0], 2, *frame[2:]]), (False, frame[:7])):
        core.collect()
        core.do("send", "state", bad)
        core.do("sent")
        core.do("cycles", 3)
        core.do("errors")
        core.do("clear_errors")
        if not keeps:
            core.model.reset()
        core.predict(x[:1])
        core.read()
        core.learn(x[5:7], y[5:7])
    core.collect()
    core.do("restore", frame)
    core.model.restore(saved.save())
    core.read()
    core.learn(x[20:], y[20:])
    core.predict(x[:3])
    core.read()
    core.do("errors")
    assert compared(core, "restored") == [[0, 1]] * 6 + [[0, 0]]


def test_the_back_end_learns_predicts_and_returns_its_state(require_simulator, ledger, tmp_path):
    require_simulator("icarus")
    plan = make("waves16")
    (x, y), (inputs, _) = rls_stream(plan, 12, 8), rls_stream(plan, 5, 9)
    vectors = make_vectors(open_model(plan), usual_calls(plan, x, y, inputs, passes=2))
    backend = open_backend(plan, "rtl:icarus", build_dir=tmp_path)
    result = replay(backend, vectors)
    assert backend.calls == {"update", "predict", "state", "save", "restore"}
    backend.close()
    assert result.words == 2 * 12 * 2 + 5 * 2 + sum(len(words) for words in vectors.state.values())
    ledger.record(backend=backend.name, words=result.words, mismatches=result.mismatches,
                  case="back end of kernel RLS")


def test_a_frame_of_another_plan_is_refused_as_state():
    plan = make("waves16")
    frame, = state_frames(plan, open_model(plan).state())
    for bad in ([frame[0] ^ 1, *frame[1:]], frame[:-1]):
        with pytest.raises(KerncastError, match="E432"):
            learned_state(plan, [bad])


@pytest.mark.parametrize(("sizes", "limit"), [
    ({"N": MOST_FEATURES + 1}, MOST_FEATURES), ({"D": MOST_DIRECTIONS // 6 + 1}, MOST_DIRECTIONS)])
def test_a_plan_too_large_for_the_core_is_refused(sizes, limit):
    plan = make("waves16")
    with pytest.raises(KerncastError, match=rf"(?s)E306.*{limit}"):
        LEARNER.refuse_unfit(replace(plan, sizes=dict(plan.sizes) | sizes))


def test_readme_states_the_clocks_and_the_missing_cores():
    plan = make("waves16")
    text = render_rtl(plan)["rtl/README.md"]
    for lanes in (1, 2, 4, 8):
        assert f"| {lanes} | {update_cycles(plan, lanes)} | {sweep_cycles(plan, lanes)} | " in text
    assert "* learner:" not in text
    assert "* predictor: the SystemVerilog predictor does not support random features" in text
