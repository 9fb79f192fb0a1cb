"""Long random runs of every core behind its registers, among stalls, resets and bad frames."""

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from kerncast.codegen.rtl import LEARNER, PREDICTOR, SOLVER, TRAINER, generate_rtl, rtl_sources, unique_file
from kerncast.codegen.rtl.frames import model_frame, sample_frame, state_frames, target_frame
from kerncast.codegen.rtl.learner import worst_update_cycles
from kerncast.codegen.rtl.registers import register_map
from kerncast.hw.rtl.simulators import Simulation, find_simulator, simulator_environment
from kerncast.sim.model import open_model
from kerncast.sim.model.base import fixed_targets
from kerncast.sim.model.statuses import NOT_TRAINED

from . import banded_cases, learner_cases, solver_cases
from .conftest import anything, expected, make, places, raw_inputs, trained
from .rls_cases import rls_stream

VALUES, VALUES_IN_ICARUS = 200_000, 5000
CONTROL, COMMAND, ERRORS = (register_map().named(name).offset for name in ("control", "command", "errors"))
HARNESS = Path(__file__).with_name("soak.cpp")
#: Commands for the frames of a state: the whole state or the model, then the slots.
READS = (2, 4)


def send(stream, beats, user=0):
    return f"send {stream} {user} {len(beats)} {' '.join(map(str, beats))}"


def answer(stream, status, beats):
    return f"{stream} {len(beats) + 1} {status & 7} {' '.join(map(str, beats))}"


def expect(*frame):
    return f"expect {answer(*frame)}"


def predictions(plan, count, chance):
    """Operations of a predictor: a model, then samples. Streams in: 0 x, 1 model."""
    mask = (1 << plan.word) - 1
    for _ in range(count):
        seed = int(chance.integers(1 << 30))
        state, x = (anything if seed % 2 and not plan.uniform else trained)(plan, seed)
        x = np.concatenate([x, raw_inputs(plan, 40, seed)])
        f = expected(plan, state, x)
        yield [[send(1, model_frame(plan, state)), "after", *(send(0, sample_frame(plan, row)) for row in x),
                *(expect(0, int(f["status"][k]), [int(f["f"][k]) & mask]) for k in range(len(x)))]]


def learnings(plan, count, chance):
    """Operations of a learner: restore and predict, then learn, then save. Streams: 0 x and f, 1 state."""
    mask, rail, model = (1 << plan.word) - 1, 1 << (plan.word - 1), open_model(plan)
    stream = rls_stream if plan.second_order else learner_cases.stream
    for _ in range(count):
        x, y = stream(plan, 24, int(chance.integers(1 << 30)))
        if model.predict(x[:1])["status"][0] == NOT_TRAINED:
            model.update(x[:6], y[:6])
        begun, first = state_frames(plan, model.state()), model.predict(x[:1])
        found = model.update(x, y)
        learn = []
        words = fixed_targets(plan, y).tolist()
        for row, raw, target, f, status in zip(x, y, words, found["f"], found["status"], strict=True):
            error = min(max(target - int(f), -rail), rail - 1)
            learn += [send(0, sample_frame(plan, row, int(raw)), 1),
                      expect(0, int(status), [int(f) & mask, error & mask])]
        yield [[*(send(1, frame, user) for user, frame in enumerate(begun)), "after",
                send(0, sample_frame(plan, x[0])),
                expect(0, int(first["status"][0]), [int(first["f"][0]) & mask])], learn,
               *([f"command {bits}", expect(1, user, frame)] for user, (bits, frame) in enumerate(
                   zip(READS, state_frames(plan, model.state()), strict=False)))]
        if chance.random() < 0.2:
            model.reset()


def trainings(plan, count, chance):
    """Operations of a trainer: its samples in one frame, unless they are a grid, and its targets."""
    y, model, n = plan.signals["y_raw"].format, open_model(plan), plan.sizes["n"]
    for _ in range(count):
        words = chance.integers(y.lo, y.hi + 1, n)
        x = None if plan.uniform else places(plan, n, int(chance.integers(1 << 30)))
        model.train(x, words)
        samples = [] if x is None else [[beat for row in x for beat in sample_frame(plan, row)]]
        frames = [*samples, target_frame(plan, words)]
        yield [[*(send(k, frame) for k, frame in enumerate(frames)),
                expect(0, 0, model_frame(plan, model.state()))]]


def solutions(problems, solution):
    """Operations of a solver: its right-hand side, before it the first row unless the factor is a table."""
    def operations(plan, count, chance):
        mask = (1 << plan.word) - 1
        for problem in problems(plan, count, int(chance.integers(1 << 30))):
            problem = problem if isinstance(problem, tuple) else (problem,)
            status, *words = solution(plan, *problem)
            yield [[*(send(k, (part & mask).tolist()) for k, part in enumerate(problem)),
                    expect(0, status, [word & mask for word in words])]]
    return operations


SYSTEMS = solutions(solver_cases.problems, solver_cases.solution)
BANDS = solutions(banded_cases.problems, banded_cases.solution)
#: The error of the second frame of a state, if a reset came before it.
ALONE = {LEARNER: 2}
EMPTY = [answer(0, NOT_TRAINED, [0])]
#: Plan, core, operations, how many of them, what an empty core answers.
CASES = {
    "predictor": (lambda: make("gains16"), PREDICTOR, predictions, 2400, EMPTY),
    "learner": (lambda: make("gains16"), LEARNER, learnings, 1900, EMPTY),
    "learner of kernel RLS": (lambda: make("waves16"), LEARNER, learnings, 1400, EMPTY),
    "trainer": (lambda: make("grid16"), TRAINER, trainings, 10_500, []),
    "trainer of samples": (lambda: make("means24"), TRAINER, trainings, 11_000, []),
    "banded trainer": (lambda: make("band16"), TRAINER, trainings, 5000, []),
    "solver": (lambda: solver_cases.case_plan("half_up16"), SOLVER, SYSTEMS, 20_000, []),
    "banded solver": (lambda: banded_cases.case_plan("plain16"), SOLVER, BANDS, 9600, []),
    "geometric trainer": (lambda: make("geometric16"), TRAINER, trainings, 5000, []),
    "geometric solver": (lambda: banded_cases.case_plan("geometric32"), SOLVER, BANDS, 3200, []),
    "predictor of a grid": (lambda: make("reach16"), PREDICTOR, predictions, 1900, EMPTY),
    "predictor with an intercept": (lambda: make("bias16"), PREDICTOR, predictions, 2400, EMPTY),
    "trainer with an intercept": (lambda: make("bias16"), TRAINER, trainings, 10_500, []),
    "solver with an intercept": (lambda: solver_cases.case_plan("bias16"), SOLVER, SYSTEMS, 15_000, []),
}
#: Cases with their lanes.
RUNS = [*((case, 1) for case in CASES), ("predictor", 4), ("predictor of a grid", 2),
        ("predictor of a grid", 4), ("predictor with an intercept", 4), ("learner", 2),
        ("learner of kernel RLS", 4), ("learner of kernel RLS", 8), ("trainer", 4),
        ("trainer with an intercept", 2), ("solver", 4), ("solver with an intercept", 4)]


def longest(plan, core, lanes):
    """Clock cycles of the longest operation."""
    searches = core is LEARNER and not plan.second_order
    return worst_update_cycles(plan, lanes) if searches else core.cycles(plan, lanes)


def ports(plan, core, lanes):
    """The header that lists the streams of a core to the harness."""
    streams, rows = core.ports(plan).streams, []
    inputs, outputs = ([one for one in streams if one.takes is way] for way in (True, False))
    for name, side in (("inputs", inputs), ("outputs", outputs)):
        for k, one in enumerate(side):
            user = f"pin(top->{one.port}_tuser)" if one.user_bits else "Pin{nullptr, 0}"
            signals = [f"pin(top->{one.port}_t{signal})" for signal in ("data", "last", "valid", "ready")]
            rows.append(f"{name}[{k}] = {{{', '.join([signals[0], user, *signals[1:]])}}};")
    most = longest(plan, core, lanes)
    return "\n".join(['#include "Vsoak.h"', "#define TOP Vsoak", f"#define CONNECT {' '.join(rows)}",
                      f"enum {{ INPUTS = {len(inputs)}, OUTPUTS = {len(outputs)} }};",
                      f"enum {{ MOST_CLOCKS = {most + 200} }};", ""])


def soaked(plan, core, operations, count, empty, folder, lanes=1, fault=None):
    """Build a core, run `count` operations among faults, and return the seed and what the harness counted.

    A `fault` of the core itself is a file, its text, and what replaces it.
    """
    seed = int(np.random.default_rng().integers(1 << 30))
    generate_rtl(plan, folder)
    if fault is not None:
        name, before, after = fault
        path = folder / "rtl" / unique_file(name)
        text = path.read_text()
        assert before in text
        path.write_text(text.replace(before, after, 1))
    (folder / "ports.h").write_text(ports(plan, core, lanes))
    script = [f"bad {int(core in (SOLVER, TRAINER))} {ALONE.get(core, 0)}",
              *(f"untrained {frame}" for frame in empty)]
    for steps in operations(plan, count, np.random.default_rng(seed)):
        script += ["op", *(line for step in steps for line in (*step, "done"))]
    (folder / "script").write_text("\n".join(script))
    command = ["verilator", "--cc", "--exe", "--build", "-O3", "-Wno-fatal", "-CFLAGS", f"-O1 -I{folder}",
               "--output-split", "0", "--prefix", "Vsoak", "--top-module", f"{plan.name}_{core.name}_axi",
               *(f"-G{name}={value}" for name, value in core.parameters(plan, lanes).items()),
               "-Mdir", "obj", "-o", "soak", *rtl_sources(folder, plan, core), HARNESS]
    with simulator_environment(find_simulator("verilator")):
        built = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr[-3000:]
    done = subprocess.run([folder / "obj" / "soak", folder / "script", str(seed)], capture_output=True,
                          text=True, check=False)
    assert "values" in done.stdout, done.stdout + done.stderr
    return seed, {what: int(number) for what, number in re.findall(r"(\w+) (\d+)", done.stdout)}


@pytest.mark.campaign
@pytest.mark.parametrize(("case", "lanes"), RUNS)
def test_200_000_values_equal_the_model_among_stalls_resets_and_bad_frames(
        require_simulator, ledger, tmp_path, case, lanes):
    require_simulator("verilator")
    make_case, core, *rest = CASES[case]
    seed, found = soaked(make_case(), core, *rest, tmp_path, lanes)
    ledger.record(backend="rtl:verilator", words=found["values"],
                  case=f"{case}, {lanes} lanes, from seed {seed}",
                  mismatches=found["mismatches"] + found["broken"])
    assert found["values"] >= VALUES
    assert min(found[what] for what in ("soft", "hard", "bad")) > 50


@pytest.mark.campaign
@pytest.mark.parametrize(("before", "after"), [
    ("({INPUTS{reset_reg}} & in_frame_reg)", "{INPUTS{1'b0}}"),
    ("reset_reg ? {OUTPUTS{1'b0}} : core_m_tvalid", "core_m_tvalid & ~{OUTPUTS{request}}")],
                         ids=["the rest of a cut frame is taken", "an offered beat is withdrawn"])
def test_a_fault_of_the_soft_reset_is_found(require_simulator, tmp_path, before, after):
    require_simulator("verilator")
    make_case, core, operations, count, empty = CASES["trainer"]
    _, found = soaked(make_case(), core, operations, count // 5, empty, tmp_path,
                      fault=("kc_soft_reset.sv", before, after))
    assert found["mismatches"] + found["broken"] > 0


class Script:
    """The same operations for cocotb: what they give back is the expected frames.

    A frame is its stream, its user or status, and its beats, all unsigned.
    """

    def __init__(self, plan, core, lanes, chance, empty):
        streams = core.ports(plan).streams
        self.core = core
        self.names = [[one.name for one in streams if one.takes is way] for way in (False, True)]
        self.empty = [[NOT_TRAINED, 0]] if empty else []
        self.most = longest(plan, core, lanes)
        self.operations, self.wanted, self.chance, self.values = [("write", CONTROL, 1)], [], chance, 0

    def sends(self, step):
        """The sends of a step."""
        for line in step:
            word, *numbers = line.split()
            numbers = list(map(int, numbers))
            if word == "send":
                stream, user, _, *beats = numbers
                yield ("send", self.names[True][stream], beats, user)
            elif word == "after":
                yield ("sent",)
            elif word == "command":
                yield ("write", COMMAND, numbers[0])

    def expects(self, step):
        """The stream and the frame of each answer of a step."""
        for line in step:
            word, *numbers = line.split()
            if word == "expect":
                stream, _, status, *beats = map(int, numbers)
                yield self.names[False][stream], [status - 8 if status > 3 else status, *beats]

    def add(self, steps):
        """Add an operation, before it perhaps one that a hard or soft reset interrupts."""
        chance, reset = self.chance, self.chance.integers(4)
        if len(self.wanted) % 8 == 0:
            idle, pressure = chance.choice([0.0, 0.3, 0.7], 2)
            self.operations.append(("stall", float(idle), float(pressure), len(self.wanted)))
        if reset < 2:
            sends = list(self.sends(steps[0]))
            if self.core is PREDICTOR:  # elsewhere frames belong together
                sends = sends[:int(chance.integers(1, len(sends) + 1))]
            self.operations += [*sends, ("cycles", int(chance.integers(1, self.most + 100)))]
            if reset == 0:
                self.operations += [("write", COMMAND, 1), ("sent",), ("cycles", 3 * self.most + 600),
                                    ("frames", self.names[False][0]), ("write", ERRORS, (1 << 32) - 1)]
                if self.core in (SOLVER, TRAINER):  # of a system one frame may have come after the reset
                    self.operations += [("write", COMMAND, 1), ("cycles", 9)]
                allowed = [frame for _, frame in self.expects(steps[0])]
                self.wanted.append(lambda found: all(frame in [*allowed, *self.empty] for frame in found))
            else:
                self.operations += [("reset",), ("write", CONTROL, 1)]  # frames that wait are withdrawn
        for step in steps:
            self.operations += self.sends(step)
            for stream, frame in self.expects(step):
                self.operations.append(("frame", stream))
                self.wanted.append(frame)
                self.values += len(frame)
        self.operations.append(("read", ERRORS))
        self.wanted.append([0])

    def mismatches(self, found):
        """Count the results that are not the expected ones."""
        return sum(not wanted(one) if callable(wanted) else one != wanted
                   for one, wanted in zip(found, self.wanted, strict=True))


@pytest.mark.campaign
@pytest.mark.parametrize(("case", "lanes"), RUNS)
def test_5_000_values_in_icarus_equal_the_model_among_stalls_and_resets(
        require_simulator, ledger, tmp_path, case, lanes):
    require_simulator("icarus")
    make_case, core, operations, count, empty = CASES[case]
    plan, seed = make_case(), int(np.random.default_rng().integers(1 << 30))
    chance = np.random.default_rng(seed)
    script = Script(plan, core, lanes, chance, empty)
    for steps in operations(plan, count, chance):
        script.add(steps)
        if script.values >= VALUES_IN_ICARUS:
            break
    generate_rtl(plan, tmp_path)
    simulation = Simulation(rtl_sources(tmp_path, plan, core), f"{plan.name}_{core.name}_axi", "icarus",
                            tmp_path / "sim", core.parameters(plan, lanes))
    found = simulation.run(script.operations, 400 * script.most)
    ledger.record(backend="rtl:icarus", words=script.values, case=f"{case}, {lanes} lanes, from seed {seed}",
                  mismatches=script.mismatches(found))
