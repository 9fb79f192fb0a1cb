"""The generated learner answers and keeps the integer model's words, whatever the streams do."""

from dataclasses import replace

import numpy as np
import pytest

from kerncast.codegen.rtl import LEARNER, MOST_WORDS, generate_rtl, render_rtl, rtl_sources
from kerncast.codegen.rtl.frames import model_frame, sample_frame, state_frames
from kerncast.codegen.rtl.learner import (
    distance_parts,
    prediction_cycles,
    search_cycles,
    update_cycles,
    worst_update_cycles,
)
from kerncast.codegen.rtl.predictor import framed
from kerncast.hw.backends import open_backend
from kerncast.hw.rtl.learner_backend import learned_state
from kerncast.hw.rtl.simulators import Simulation
from kerncast.sim.errors import KerncastError
from kerncast.sim.model import open_model
from kerncast.sim.planner import make_plan
from kerncast.sim.replay.vectors import make_vectors, replay, usual_calls
from kerncast.sim.spec import Spec

from .conftest import LONG, SPECS
from .learner_cases import LEARNERS, Learner, choices, make, stream

STALLS = [(0.0, 0.0), (0.5, 0.0), (0.0, 0.6), (0.4, 0.4)]
#: A campaign sends longer streams.
LENGTHS = [1, 2, 7, 32 if LONG else 14]
USUAL = [("gains16", "icarus", 1), ("forgets16", "icarus", 1), ("even32", "verilator", 1)]
#: Rows that end before the lanes do, of which a vector has two, or one; more lanes than columns.
IN_LANES = [("gains16", "icarus", 2), ("fives24", "icarus", 4), ("forgets16", "icarus", 2),
            ("roots16", "icarus", 2)]
CLASSES = [("labels16", "icarus", 2), ("grows24", "icarus", 1), ("sides32", "icarus", 1)]
SEVERAL = [("values24", "icarus", 1), ("pairs16", "icarus", 2)]
#: Other evictions than those of fklms, and samples that update the nearest center.
METRICS = [("centers16", "icarus", 1), ("smallest24", "icarus", 1), ("oldest32", "icarus", 2),
           ("spares16", "icarus", 4), ("drops16", "icarus", 1)]
CASES = [*USUAL, *IN_LANES, *CLASSES, *SEVERAL, *METRICS, *(
    pytest.param(case, simulator, lanes, marks=pytest.mark.campaign)
    for case in LEARNERS if case != "hundred"
    for simulator, lanes in (("icarus", 1), ("verilator", 1), ("icarus", 2), ("icarus", 4))
    if (case, simulator, lanes) not in USUAL + IN_LANES + CLASSES + SEVERAL + METRICS)]


@pytest.fixture(scope="module")
def learner(require_simulator, tmp_path_factory):
    """``learner(case, simulator, lanes=1)``: the core of a case with an empty script; built once."""
    cores = {}

    def get(case: str, simulator: str, lanes: int = 1) -> Learner:
        require_simulator(simulator)
        if (case, simulator, lanes) not in cores:
            plan, folder = make(case), tmp_path_factory.mktemp(f"{case}-{simulator}-learner")
            generate_rtl(plan, folder)
            cores[case, simulator, lanes] = Learner(case, plan, Simulation(
                rtl_sources(folder, plan, LEARNER), f"{plan.name}_learner", simulator, folder / "sim",
                {"LANES": lanes}, long=LONG), lanes)
        cores[case, simulator, lanes].clear()
        return cores[case, simulator, lanes]

    return get


@pytest.fixture
def compared(ledger):
    """Run a script; words and traced state words are recorded apart; what else came back."""

    def check(core: Learner, case: str = "") -> list[object]:
        words, wrong, state_words, wrong_state, rest = core.run()
        backend = f"rtl:{core.simulation.simulator.name}:learner"
        told = f"{core.case} learner, lanes {core.lanes}, {case}"
        ledger.record(backend=backend, words=words, mismatches=wrong, case=told)
        if state_words:
            ledger.record(backend=f"{backend}-state", words=state_words, mismatches=wrong_state,
                          case=f"{told} state")
        return rest

    return check


@pytest.mark.covering(case=choices)
@pytest.mark.parametrize(("case", "simulator", "lanes"), CASES)
def test_every_value_equals_the_model_under_any_stalls(learner, compared, case, simulator, lanes):
    core = learner(case, simulator, lanes)
    for k, (idle, pressure) in enumerate(STALLS):
        core.do("stall", idle, pressure, k)
        for j, length in enumerate(LENGTHS):
            if not LONG and (j - k) % 4 > 1:  # each length under two kinds of stalls; all in a campaign
                continue
            x, y = stream(core.plan, 3 * length, 10 * k + j)
            core.predict(x[:1])
            core.learn(x[:2 * length], y[:2 * length])
            core.predict(x[length:])
            core.learn(x[2 * length:], y[2 * length:])
            core.read()
        if k % 2:  # two streams of samples back to back, the second into an empty memory
            core.reset()
    core.do("waiting")
    core.do("errors")
    assert compared(core, "streams") == [0, [0, 0]]


@pytest.mark.covering(case=choices)
@pytest.mark.parametrize(("case", "simulator", "lanes"), CASES)
def test_clocks_of_updates_and_predictions_follow_the_formula(learner, compared, case, simulator, lanes):
    core, (x, y) = learner(case, simulator, lanes), stream(make(case), 40, 6)
    plan, model, wanted = core.plan, core.model, []
    # The next sample comes while several outputs, or those of classes, are read.
    later = plan.outputs if framed(plan) else 0
    core.do("watch")
    for i in range(len(x)):
        held, before = int(model.state()["count"][0]), model.state()
        if i % 3 == 1:
            core.predict(x[i:i + 1])
            clocks = prediction_cycles(plan, lanes, held)
            wanted.append([clocks, clocks - later])
        else:
            core.learn(x[i:i + 1], y[i:i + 1])
            clocks, lost = update_cycles(plan, lanes, held), lost_neighbours(before, model.state())
            wanted.append([clocks, clocks - later + lost * search_cycles(plan, lanes)])
    core.predict(x[:1])  # waits, to be accepted when the last sample is learned
    core.collect()
    core.do("cycles", worst_update_cycles(plan, lanes))
    core.do("spans")
    (*spans, _), = compared(core, "clocks")
    assert spans == wanted
    assert max(span[1] for span in spans) <= worst_update_cycles(plan, lanes)
    assert plan.metric != "fklms" or any(span[1] > span[0] for span in spans)


def lost_neighbours(before, after) -> int:
    """How many vectors had their neighbour in the slot that went for a new vector."""
    full = before["count"][0] == len(before["age_order"])
    if "nearest_idx" not in before or not full or (before["centers"] == after["centers"]).all():
        return 0
    slot = int(np.argmax(after["age_order"]))
    return sum(int(near == slot) for i, near in enumerate(before["nearest_idx"]) if i != slot)


@pytest.mark.parametrize(("case", "simulator", "lanes"), [USUAL[0], USUAL[2], IN_LANES[1]])
def test_reset_at_any_clock_recovers(learner, compared, case, simulator, lanes):
    core = learner(case, simulator, lanes)
    x, y = stream(core.plan, 12, 4)
    for cut in range(1, worst_update_cycles(core.plan, lanes) // 2, 5):
        core.learn(x[:7], y[:7])  # the memory is full
        core.collect()
        core.do("sample", sample_frame(core.plan, x[7], y[7]), True)
        if cut % 2:
            core.do("pulse", "read_slots")
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


@pytest.mark.parametrize(("case", "simulator", "lanes"), [CLASSES[0], CLASSES[2]])
def test_a_label_outside_the_classes_is_dropped_and_reported(learner, compared, case, simulator, lanes):
    core = learner(case, simulator, lanes)
    (x, y), classes = stream(core.plan, 20, 7), len(core.plan.class_names)
    for at, label in ((8, classes), (10, 255), (12, classes + 1)):
        core.learn(x[at - 2:at], y[at - 2:at])
        core.collect()
        core.do("sample", sample_frame(core.plan, x[at], label), True)
        core.learn(x[at:at + 1], y[at:at + 1])  # close behind it
        core.read()
        core.do("errors")
        core.do("clear_errors")
    core.do("waiting")
    assert compared(core, "unknown labels") == [[1, 0]] * 3 + [0]


@pytest.mark.covering(case=choices)
@pytest.mark.parametrize(("case", "simulator", "lanes"), [
    USUAL[0], USUAL[2], IN_LANES[0], CLASSES[0], *SEVERAL])
def test_a_malformed_sample_changes_nothing_and_is_reported(learner, compared, case, simulator, lanes):
    core = learner(case, simulator, lanes)
    (x, y), columns, targets = stream(core.plan, 60, 5), core.plan.sizes["D"], core.plan.targets
    lengths = {1, columns, columns + 1, columns + targets, columns + targets + 1, 3 * columns}
    core.learn(x[:8], y[:8])
    at = 8
    for idle in (0.0, 0.5):
        core.do("stall", idle, idle, 1)
        for learning in (False, True):
            for length in sorted(lengths - {columns + learning * targets}):
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


@pytest.mark.parametrize(("case", "simulator", "lanes"), USUAL[:1])
def test_the_state_is_the_frame_that_the_predictor_takes(learner, case, simulator, lanes):
    core = learner(case, simulator, lanes)
    x, y = stream(core.plan, 20, 6)
    core.learn(x, y)
    core.collect()
    core.do("state")
    *_, (model, _) = core.simulation.run(core.script, 100_000)
    mask = (1 << core.plan.word) - 1
    assert model == [int(word) & mask for word in model_frame(core.plan, core.model.state())]


@pytest.mark.parametrize("lanes", [1, pytest.param(4, marks=pytest.mark.campaign)])
def test_full_size_equals_the_model_and_keeps_the_dsp_blocks_busy(learner, compared, lanes):
    core = learner("hundred", "verilator", lanes)
    plan = core.plan
    x, y = stream(plan, 148, 7)
    core.learn(x[:125], y[:125])  # full, repeated samples notwithstanding
    core.collect()
    core.do("watch")
    core.learn(x[125:], y[125:])  # seven of them with searches
    core.collect()
    core.do("spans")
    core.predict(x[::5])
    core.read()
    spans, = compared(core, "100 x 8")
    assert {span[0] for span in spans} == {update_cycles(plan, lanes)}
    # In two passes, each with a term of a distance for each column of each vector.
    assert 2 * 100 * 8 / lanes / update_cycles(plan, lanes) > {1: 0.95, 4: 0.85}[lanes]


@pytest.mark.parametrize("word", [16, 24, 32])
def test_updates_are_linear_in_the_budget_and_sustain_a_term_a_clock(word):
    def plan(budget: int):
        return make_plan(Spec.from_text(f"""
            model = {{name = "t", algorithm = "kernel_lms"}}
            input = {{word = "s8f0", columns = 4}}
            output = {{word = "s8f0"}}
            kernel = {{sigma = 90.0}}
            online = {{budget = {budget}, eta = 0.5}}
            numbers = {{word = {word}}}"""))

    clocks = [update_cycles(plan(budget)) for budget in (32, 64, 96, 128)]
    assert set(np.diff(clocks)) == {2 * 4 * 32}
    # Of a whole update; what comes on top of the terms does not grow with the budget.
    assert 2 * 4 * 96 / clocks[2] >= 0.9


def test_the_streams_saturate_coefficients_and_predictions():
    plan = make("forgets16")
    model, (x, y) = open_model(plan), stream(plan, 100, 33)
    answers, rails = model.update(x, y), plan.signals["f"].format
    alpha = plan.signals["alpha"].format
    assert {rails.lo, rails.hi} <= set(answers["f"])
    assert (model.ranges.lowest("alpha"), model.ranges.highest("alpha")) == (
        float(alpha.value(alpha.lo)), float(alpha.value(alpha.hi)))


@pytest.mark.parametrize("simulator", ["icarus"])
def test_the_back_end_learns_predicts_and_returns_its_state(require_simulator, ledger, tmp_path, simulator):
    require_simulator(simulator)
    plan = make("gains16")
    (x, y), (inputs, _) = stream(plan, 12, 8), stream(plan, 5, 9)
    vectors = make_vectors(open_model(plan), usual_calls(plan, x, y, inputs, passes=2))
    backend = open_backend(plan, f"rtl:{simulator}", build_dir=tmp_path)
    result = replay(backend, vectors)
    assert backend.calls == {"update", "predict", "state", "save", "restore"}
    with pytest.raises(KerncastError, match="E440"):
        backend.restore(b"")
    with pytest.raises(KerncastError, match="E431"):
        backend.train(x, y)
    backend.close()
    assert result.words == 2 * 12 * 2 + 5 * 2 + sum(len(words) for words in vectors.state.values())
    ledger.record(backend=backend.name, words=result.words, mismatches=result.mismatches,
                  case="learner back end")


@pytest.mark.covering(case=choices)
@pytest.mark.parametrize(("case", "simulator", "lanes"), [
    USUAL[0], *IN_LANES, *CLASSES, *SEVERAL, *METRICS[1:3],
    pytest.param(*USUAL[2], marks=pytest.mark.campaign)])
def test_a_state_is_restored_exactly_or_refused(learner, compared, case, simulator, lanes):
    core, plan = learner(case, simulator, lanes), make(case)
    (x, y), saved = stream(plan, 30, 11), open_model(plan)
    saved.update(x[:20], y[:20])
    model, slots = state_frames(plan, saved.state())
    mask, group = (1 << plan.word) - 1, 2 * distance_parts(plan) + 2
    changed = [
        ("tag", [model[0] ^ 1, *model[1:]], None), ("early", model[:-1], None), ("late", [*model, 0], None),
        ("count", [model[0], plan.sizes["N"] + 1, *model[2:]], None), ("no model", None, slots),
        ("other count", model, [slots[0], slots[1] - 1, *slots[2:-group]]),
        ("early slots", model, slots[:-1]), ("late slots", model, [*slots, 0]),
        ("no slot", model, [*slots[:-2], mask, slots[-1]]),
        ("no rank", model, [*slots[:-1], slots[1]])]
    core.learn(x[:5], y[:5])
    for name, first, second in changed:
        keeps = name in ("tag", "no model")  # what is refused at its first beat changes nothing
        core.collect()
        for of_slots, frame in enumerate((first, second)):
            if frame is not None:
                core.do("send", "state", frame, of_slots)
        core.do("sent")
        core.do("cycles", 3)
        core.do("errors")
        core.do("clear_errors")
        if not keeps:
            core.model.reset()
        core.predict(x[:1])
        core.read()
    core.collect()
    core.do("restore", model, slots)
    core.model.restore(saved.save())
    core.read()
    core.learn(x[20:], y[20:])
    core.predict(x[:3])
    core.read()
    core.do("errors")
    assert compared(core, "restored") == [[0, 1]] * len(changed) + [[0, 0]]


def test_a_frame_of_another_plan_is_refused_as_state():
    plan = make("gains16")
    with pytest.raises(KerncastError, match="E432"):
        learned_state(plan, [[1, 0, 0], [1, 0]])


@pytest.mark.parametrize(("online", "where"), [
    ('reduction = "fmklms"', "reduction"), ('reduction = "fklms_f32"', "reduction"),
    ('metric = "fast_klms"', "metric"), ('linear = "rls"', "linear"), ("guard = true", "guard"),
    ("max_age = 100", "max_age"), ("truncation = 0.01", "truncation"),
    ("max_deterioration = 0.1", "max_deterioration")])
def test_a_learner_that_does_something_else_is_refused_by_name(online, where):
    plan = make_plan(Spec.from_text(f"""
        model = {{name = "t", algorithm = "kernel_lms"}}
        input = {{word = "s8f0"}}
        output = {{word = "s8f0"}}
        kernel = {{sigma = 9.0}}
        online = {{budget = 4, eta = 0.5, {online}}}"""))
    assert not LEARNER.fits(plan)
    with pytest.raises(KerncastError, match=rf"(?s)\[online\] {where}.*E307.*fixed dictionary size"):
        open_backend(plan, "rtl:icarus:learner")


def test_a_budget_too_large_for_the_memory_is_refused():
    plan = make("gains16")
    large = replace(plan, sizes=dict(plan.sizes) | {"N": MOST_WORDS // 3 + 1})
    with pytest.raises(KerncastError, match=rf"(?s)E306.*{MOST_WORDS}"):
        LEARNER.refuse_unfit(large)


def test_readme_states_the_clocks_and_the_missing_cores():
    plan = make("gains16")
    text = render_rtl(plan)["rtl/README.md"]
    assert f"{update_cycles(plan)} = 2 D N + " in text
    for lanes in (1, 2, 4):
        assert f"| {lanes} | {update_cycles(plan, lanes)} | {search_cycles(plan, lanes)} | " in text
    assert "* learner:" not in text
    assert "* learner: the SystemVerilog learner supports only fklms, nt and at" in render_rtl(
        make_plan(Spec.from_text(SPECS["grid16"])))["rtl/README.md"]


def test_a_trainer_is_refused_as_learner():
    with pytest.raises(KerncastError, match=r"(?s)\[model\] algorithm.*E307"):
        LEARNER.refuse_unfit(make_plan(Spec.from_text(SPECS["grid16"])))


@pytest.mark.campaign
@pytest.mark.parametrize(("case", "simulator", "lanes", "rounds"), [
    ("gains16", "verilator", 1, 215), ("forgets16", "verilator", 1, 215), ("gains16", "verilator", 2, 210),
    ("fives24", "verilator", 4, 210), ("even32", "icarus", 1, 7), ("corners16", "icarus", 2, 7),
    ("fives24", "icarus", 4, 7)])
def test_long_random_runs_equal_the_model(learner, compared, case, simulator, lanes, rounds):
    start = int(np.random.default_rng().integers(1 << 30))
    core, chance = learner(case, simulator, lanes), np.random.default_rng(start)
    for _ in range(rounds):
        x, y = stream(core.plan, 100, int(chance.integers(1 << 30)))
        idle, pressure = chance.choice([0.0, 0.3, 0.7], 2)
        core.do("stall", float(idle), float(pressure), int(chance.integers(1000)))
        core.learn(x, y)
        core.predict(x[:40])
        core.read()
        if chance.random() < 0.2:
            core.reset()
    assert compared(core, f"from seed {start}") == []
