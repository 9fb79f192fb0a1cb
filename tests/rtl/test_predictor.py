"""The generated predictor answers the integer model's words, whatever the streams do."""

from dataclasses import replace

import numpy as np
import pytest

from kerncast.codegen.rtl import model_tag, predictor_cycles, predictor_period, vectors
from kerncast.codegen.rtl.frames import model_frame, sample_frames
from kerncast.codegen.rtl.predictor import reciprocal
from kerncast.sim.backend import Outputs, answer_width
from kerncast.sim.errors import KerncastError
from kerncast.sim.formats import Overflow
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec
from kerncast.sim.window import window

from .conftest import FEW, LONG, SMALL, SPECS, RtlCore, anything, expected, make, raw_inputs, trained
from .learner_cases import choices

STALLS = [(0.0, 0.0), (0.5, 0.0), (0.0, 0.6), (0.4, 0.4)]
#: A campaign sends longer streams.
LENGTHS = [1, 2, 7, 40 if LONG else 16]


def untrained(core: RtlCore) -> Outputs:
    return {name: 0 * words for name, words in trained(core.plan, 0)[0].items()}


def test_the_expectation_is_the_models_own_prediction():
    from kerncast.sim.model import open_model

    plan = make("gains16")
    model, x = open_model(plan), raw_inputs(plan, 30, 1)
    model.update(x, np.arange(30) * 100 - 1500)
    want, found = model.predict(x), expected(plan, model.state(), x)
    assert all((want[name] == found[name]).all() for name in want)


@pytest.mark.covering(case=choices)
@pytest.mark.parametrize(("case", "simulator"), SMALL)
def test_every_value_equals_the_model_for_all_lengths_idle_and_back_pressure(built, ledger, case, simulator):
    core = built(case, simulator)
    (first, x_first), (second, _) = trained(core.plan, 1), trained(core.plan, 2)
    for k, (idle, pressure) in enumerate(STALLS):
        core.do("stall", idle, pressure, k)
        if idle and pressure:  # watching takes time: an answer must stand until it is taken
            core.do("watch")
        for j, length in enumerate(LENGTHS):
            state = (first, second)[j % 2]
            # Two models back to back: the later one counts.
            core.load((first, second)[1 - j % 2], state)
            x = raw_inputs(core.plan, length, 10 * k + j)
            x[: len(x_first) : 2] = x_first[: len(x)][::2][: len(x[: len(x_first) : 2])]
            core.ask(state, x)
    core.do("spans")
    core.do("waiting")
    core.do("errors")
    words, mismatches, (spans, waiting, errors) = core.run()
    assert len(spans) == sum(LENGTHS)
    assert (waiting, errors) == (0, [0, 0])
    ledger.record(backend=f"rtl:{simulator}:predictor", words=words, mismatches=mismatches, case=case)


@pytest.mark.covering(case=choices)
@pytest.mark.parametrize(("case", "simulator"), SMALL)
def test_every_value_equals_the_model_at_the_rails_and_at_every_exponent(built, ledger, case, simulator):
    core = built(case, simulator)
    f, met = core.plan.signals["f"], []
    # Where f wraps, words of a plan that saturates tell that it had to.
    saturates = replace(f, overflow=Overflow.SATURATE)
    saturating = replace(core.plan, signals={**core.plan.signals, "f": saturates})
    for seed in range(32):
        state, x = anything(core.plan, seed)
        x = np.concatenate([x, raw_inputs(core.plan, 3, seed)])
        core.load(state)
        core.ask(state, x)
        met.append(expected(saturating, state, x)["f"])
    assert np.concatenate(met).min() == f.format.lo
    assert np.concatenate(met).max() == f.format.hi
    wraps = f.overflow is Overflow.WRAP
    assert wraps == all((want["status"] == 0).all() for want in core.wanted)
    words, mismatches, _ = core.run()
    ledger.record(backend=f"rtl:{simulator}:predictor", words=words, mismatches=mismatches,
                  case=f"{case} rails")


@pytest.mark.parametrize("lanes", [1, pytest.param(4, marks=pytest.mark.campaign)])
def test_full_size_digits_equal_the_model(built, ledger, lanes):
    core = built("digits", "verilator", lanes)
    chance = np.random.default_rng(3)
    (state, x_raw) = trained(core.plan, 3)
    x = np.concatenate([x_raw[-20:], chance.integers(0, 17, (30, 64))])
    core.load(state)
    core.do("watch")
    core.ask(state, x)
    core.do("spans")
    core.do("paces")
    words, mismatches, (spans, paces) = core.run()
    assert spans[0] == predictor_cycles(core.plan, lanes) == 64 + 64 // lanes * 41 + 29 + lanes // 2
    assert paces["clocks"] == [64 // lanes * 41 + 1] * (len(x) - 1)
    ledger.record(backend="rtl:verilator:predictor", words=words, mismatches=mismatches,
                  case=f"digits 41 x 64, lanes {lanes}")


@pytest.mark.covering(case=choices)
@pytest.mark.parametrize(("case", "simulator"), FEW)
def test_clocks_of_a_prediction_follow_the_formula(built, case, simulator):
    core = built(case, simulator)
    plan, wanted = core.plan, []
    counts = [1, 2, vectors(plan)] if plan.algorithm == "kernel_lms" else [vectors(plan)]
    for count in counts:
        state = anything(plan, 1)[0]
        if "count" in state:
            state["count"][:] = count
        core.load(state)
        core.do("watch")
        for row in raw_inputs(plan, 3, count):
            core.ask(state, row[np.newaxis])
        core.do("spans")
        paces_of(core, state)
        wanted.append(([predictor_cycles(plan, count=count)] * 3, predictor_period(plan, count=count)))
    *_, found = core.run()
    pairs = zip(found[::2], found[1::2], strict=True)
    assert [(spans, sum(paces["clocks"]) / 4) for spans, paces in pairs] == wanted


def paces_of(core: RtlCore, state: Outputs) -> None:
    """Five samples that wait, and the clocks between their answers."""
    core.do("watch")
    core.ask(state, raw_inputs(core.plan, 5, 3))
    core.do("paces")


@pytest.mark.parametrize(("step", "sigma"), [(1, 3.0), (1, 0.5), (2, 3.0), (3, 5.0), (7, 4.0), (7, 40.0)])
def test_a_window_has_every_vector_that_the_kernel_reaches(step, sigma):
    plan = make_plan(Spec(
        model={"name": "t", "algorithm": "toeplitz_rls"}, input={"word": "u10f0"}, output={"word": "s12f0"},
        kernel={"sigma": sigma}, toeplitz={"n": 128, "lam": 0.1, "scheme": "uniform", "step": step}))
    read, n = window(plan), plan.sizes["n"]
    x = np.arange(1 << 10)
    multiplier, shift = reciprocal(read)
    first = np.clip(x - read.low, 0, read.high) * multiplier >> shift
    np.testing.assert_array_equal(first, np.clip(x - read.low, 0, read.high) // step)
    v = step * np.arange(n)
    reached = (v - x[:, None]) ** 2 < plan.integer("kernel_d2_end")
    rows = np.arange(n) - first[:, None]
    assert not (reached & ((rows < 0) | (rows >= read.vectors))).any()
    assert first.max() + read.vectors == n
    assert reached.sum(axis=1).max() >= read.vectors - 1


def test_lanes_that_are_no_power_of_two_are_refused_when_the_core_is_built(built):
    with pytest.raises(KerncastError, match="LANES_must_be_a_power_of_two"):
        built("gains16", "icarus", 3)


def in_lanes(*chosen: str) -> list[object]:
    """Each case in more lanes than one, beyond its columns too; those not chosen in a campaign."""
    every = [f"{case} {lanes}" for case in SPECS if case != "digits" for lanes in (2, 4)]
    return [pytest.param(*name.split(), id=name, marks=() if name in chosen else pytest.mark.campaign)
            for name in every]


@pytest.mark.covering(case=choices)
@pytest.mark.parametrize(("case", "lanes"), in_lanes(
    "gains16 2", "corners16 4", "angles32 2", "powers16 2", "reach16 2", "reach16 4", "grid16 4",
    "column16 4", "labels16 2", "values24 4"))
def test_lanes_change_the_clocks_by_the_formula_and_no_value(built, ledger, case, lanes):
    core = built(case, "icarus", int(lanes))
    plan = core.plan
    for seed in range(4):
        state, x = anything(plan, seed + 8)
        core.do("stall", *STALLS[seed], seed)
        core.load(state)
        core.ask(state, np.concatenate([x, raw_inputs(plan, 12, seed)]))
    count = int(state["count"][0]) if "count" in state else vectors(plan)
    core.do("stall", 0.0, 0.0, 0)
    core.do("watch")
    for row in raw_inputs(plan, 2, 1):
        core.ask(state, row[np.newaxis])
    core.do("spans")
    paces_of(core, state)
    words, mismatches, (spans, paces) = core.run()
    assert spans == [predictor_cycles(plan, int(lanes), count)] * 2
    assert sum(paces["clocks"]) / 4 == predictor_period(plan, int(lanes), count)
    ledger.record(backend="rtl:icarus:predictor", words=words, mismatches=mismatches,
                  case=f"{case}, {lanes} lanes")


@pytest.mark.covering(case=choices)
@pytest.mark.parametrize(("case", "simulator"), FEW)
def test_reset_at_any_clock_recovers(built, ledger, case, simulator):
    core = built(case, simulator)
    (state, x_raw), none = trained(core.plan, 4), untrained(core)
    x, frame = x_raw[:1], model_frame(core.plan, state)
    beats = len(frame) + 2
    for cut in range(1, beats + predictor_cycles(core.plan) + 4, 3):
        if cut < beats:  # while the model comes in
            core.do("model", frame)
            core.do("cycles", cut)
        else:
            core.load(state)
            core.do("sample", sample_frames(core.plan, x)[0])
            core.do("cycles", cut - beats + 1)
        core.do("reset")
        core.do("waiting")
        if cut % 2:  # a reset core holds no model
            core.ask(none, x)
        core.load(state)
        core.ask(state, x)
    core.do("errors")
    words, mismatches, rest = core.run()
    assert rest == [0] * (len(rest) - 1) + [[0, 0]]
    ledger.record(backend=f"rtl:{simulator}:predictor", words=words, mismatches=mismatches,
                  case=f"{case} reset")


@pytest.mark.covering(case=choices)
@pytest.mark.parametrize(("case", "simulator"), FEW)
def test_a_model_that_follows_a_sample_does_not_change_its_answer(built, ledger, case, simulator):
    core = built(case, simulator)
    (first, x), (second, _) = trained(core.plan, 1), trained(core.plan, 2)
    core.load(first)
    for row in x[:4, np.newaxis]:
        core.do("sample", sample_frames(core.plan, row)[0])
        core.do("cycles", 3)  # the sample has begun
        core.do("model", model_frame(core.plan, second))
        core.answered(first, row)
        core.do("sent")
        core.ask(second, row)
        first, second = second, first
    words, mismatches, _ = core.run()
    ledger.record(backend=f"rtl:{simulator}:predictor", words=words, mismatches=mismatches,
                  case=f"{case} order")


@pytest.mark.covering(case=choices)
@pytest.mark.parametrize(("case", "simulator"), FEW)
def test_a_malformed_sample_is_dropped_and_reported(built, ledger, case, simulator):
    core = built(case, simulator)
    (state, x), columns = trained(core.plan, 5), core.plan.sizes["D"]
    core.load(state)
    for idle in (0.0, 0.5):
        core.do("stall", idle, idle, 1)
        for length in sorted({1, columns - 1, columns + 1, 2 * columns, 5 * columns} - {0, columns}):
            core.do("sample", [1] * length)
            core.ask(state, x[:3])  # close behind it
            core.do("errors")
            core.do("waiting")
            core.do("clear_errors")
            core.do("errors")
    words, mismatches, rest = core.run()
    assert rest == [[1, 0], 0, [0, 0]] * (len(rest) // 3)
    assert len(rest) >= 12
    ledger.record(backend=f"rtl:{simulator}:predictor", words=words, mismatches=mismatches,
                  case=f"{case} bad samples")


def malformed(core: RtlCore, good: list[int]) -> list[list[int]]:
    """Frames that the core must refuse; none runs into the good one's length by chance."""
    plan = core.plan
    mask, most, head = (1 << plan.word) - 1, plan.constants.get("alpha_exp_max", 0), 3 + plan.bias
    least = plan.constants.get("alpha_exp_min", 0)
    frames = [[model_tag(plan) ^ 1, *good[1:]], [good[0], vectors(plan) + 1, *good[2:]],
              [*good[:2], (most + 1) & mask, *good[3:]], [*good[:2], (least - 1) & mask, *good[3:]],
              [*good, 0], good * 2, [model_tag(plan), *[0] * head], [good[0], mask, *[0] * (head - 2)]]
    if plan.bias:  # no vectors, and no intercept
        frames += [[model_tag(plan), 0, 0]]
    if window(plan):  # other vectors than the grid, or fewer
        frames += [[*good[:head], 1, *good[head + 1:]], [*good[:-2], good[-2] ^ 1, good[-1]],
                   [good[0], good[1] - 1, *good[2:-2]]]
    return frames + [good[:length] for length in range(1, len(good))]


@pytest.mark.covering(case=choices)
@pytest.mark.parametrize(("case", "simulator"), FEW)
def test_a_malformed_model_is_refused_and_leaves_none(built, ledger, case, simulator):
    core = built(case, simulator)
    (state, x), none = trained(core.plan, 6), untrained(core)
    for frame in malformed(core, model_frame(core.plan, state)):
        core.load(state)
        core.do("model", frame)
        core.do("sent")
        core.do("cycles", 5)
        core.do("errors")
        core.do("clear_errors")
        core.ask(none, x[:1])
        core.load(state)
        core.ask(state, x[:2])
        core.do("errors")
    words, mismatches, rest = core.run()
    assert rest == [[0, 1], [0, 0]] * (len(rest) // 2)
    ledger.record(backend=f"rtl:{simulator}:predictor", words=words, mismatches=mismatches,
                  case=f"{case} bad models")


@pytest.mark.covering(case=choices)
@pytest.mark.parametrize(("case", "simulator"), FEW)
def test_without_a_model_answers_say_so(built, case, simulator):
    core = built(case, simulator)
    (state, x), none = trained(core.plan, 7), untrained(core)
    core.ask(none, x[:3])
    core.load(state)
    core.ask(state, x[:3])
    core.load(none)  # a frame of no vectors
    core.ask(none, x[:3])
    core.do("errors")
    words, mismatches, rest = core.run()
    assert words == 9 * answer_width(core.plan)
    assert mismatches == 0
    assert rest == [[0, 0]]


@pytest.mark.campaign
@pytest.mark.parametrize(("case", "simulator", "rounds"), [
    ("gains16", "verilator", 600), ("means32", "verilator", 600), ("even32", "icarus", 16),
    ("grid16", "icarus", 16)])
def test_long_random_runs_equal_the_model(built, ledger, case, simulator, rounds):
    start = int(np.random.default_rng().integers(1 << 30))
    core, chance = built(case, simulator), np.random.default_rng(start)
    for _ in range(rounds):
        seed = int(chance.integers(1 << 30))
        state, x = (anything if seed % 2 else trained)(core.plan, seed)
        idle, pressure = chance.choice([0.0, 0.3, 0.7], 2)
        core.do("stall", float(idle), float(pressure), seed)
        core.load(state)
        core.ask(state, np.concatenate([x, raw_inputs(core.plan, 160, seed)]))
    words, mismatches, _ = core.run()
    ledger.record(backend=f"rtl:{simulator}:predictor", words=words, mismatches=mismatches,
                  case=f"{case} from seed {start}")
