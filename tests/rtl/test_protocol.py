"""The cores in SystemVerilog and in HLS C++ refuse the same frames, and then work as before."""

from dataclasses import dataclass, field

import pytest

from kerncast.codegen.hls.cores import CORES as HLS_CORES
from kerncast.codegen.hls.cores import errors_of
from kerncast.codegen.hls.vectors import line
from kerncast.codegen.rtl import LEARNER, PREDICTOR, SOLVER, TRAINER, RtlCore, generate_rtl, rtl_sources
from kerncast.codegen.rtl.common import model_head
from kerncast.codegen.rtl.frames import model_frame, sample_frame, sample_frames, target_frame
from kerncast.codegen.rtl.refusals import refusals
from kerncast.codegen.rtl.registers import register_map
from kerncast.hw.hls.backend import HlsBackend
from kerncast.hw.rtl.simulators import Simulation
from kerncast.sim.model import open_model
from kerncast.sim.model.base import fixed_targets
from kerncast.sim.model.statuses import BAD_ARGUMENT, NOT_TRAINED
from kerncast.sim.plan import Plan

from .conftest import expected, make, trained
from .learner_cases import stream
from .rls_cases import rls_stream
from .solver_cases import case_plan, problems, solution

CONTROL, ERRORS, CAUSES, STATUS = (
    register_map().named(name).offset for name in ("control", "errors", "irq_status", "status"))
ROWS = {row.name for row in refusals() if row.frames}
UNTRAINED = [NOT_TRAINED, 0]


@dataclass
class Table:
    """Steps of a core: the row of the table, the frames that come, the replies, and the error bits."""

    plan: Plan
    core: RtlCore
    gives: str
    steps: list[tuple[str, list[tuple[str, list[int], int]], list[list[int]], int]] = field(
        default_factory=list)

    def add(self, row, frames, replies=(), bits=0):
        self.steps.append((row, frames, list(replies), bits))


def bad(frame):
    """The frames of a wrong length, by their row."""
    stream_name, words, user = frame
    found = {"short": words[:-1], "first": words[:1], "long": [*words, words[-1]], "missing": words * 2}
    return [(row, (stream_name, other, user)) for row, other in found.items()
            if other and other != words and not (row == "first" and len(words) == 2)]


def predictor(case):
    plan = make(case)
    (state, x), mask = trained(plan, 3), (1 << plan.word) - 1
    table, answer = Table(plan, PREDICTOR, "f"), expected(plan, state, x[:1])
    reply = [int(answer["status"][0]), int(answer["f"][0]) & mask]
    words, sample = model_frame(plan, state), ("x", sample_frames(plan, x[:1])[0], 0)
    model = ("model", [word & mask for word in words], 0)

    def changed(at, word):
        return ("model", [*model[1][:at], word & mask, *model[1][at + 1:]], 0)

    most = plan.integer("alpha_exp_max") if plan.trains else 0
    least = plan.integer("alpha_exp_min") if plan.trains else 0
    wrong = [*bad(model), ("foreign", changed(0, model[1][0] ^ 1)),
             ("foreign", changed(0, model[1][0] ^ 1 << (plan.word - 1))),
             ("count", changed(1, model[1][1] + 1)), ("count", changed(1, 1 << (plan.word - 1))),
             ("exponent", changed(2, most + 1)), ("exponent", changed(2, least - 1))]
    if plan.trains:
        at = model_head(plan)  # x of the first vector, and a model of fewer vectors
        wrong += [("grid", changed(at, 1)), ("grid", changed(at + 2, 0)),
                  ("grid", ("model", [model[1][0], 1, *model[1][2:at + 2]], 0))]
    table.add("untrained", [sample], [UNTRAINED])
    table.add("good", [model])
    for row, frame in wrong:
        table.add("good", [model])
        table.add("good", [sample], [reply])
        table.add(row, [frame], bits=2)
        table.add("untrained", [sample], [UNTRAINED])
        table.add("good", [model])
        table.add("good", [sample], [reply])
    for row, frame in bad(sample):
        table.add(row, [frame], bits=1)
        table.add("good", [sample], [reply])
    return table


def learner(plan, samples):
    (x, y), model, mask = samples(plan, 14, 5), open_model(plan), (1 << plan.word) - 1
    table, rail = Table(plan, LEARNER, "f"), 1 << (plan.word - 1)
    ask = ("x", sample_frame(plan, x[0]), 0)
    table.add("untrained", [ask], [UNTRAINED])
    for k, (row, target) in enumerate(zip(x, y, strict=True)):
        learn = ("x", sample_frame(plan, row, int(target)), 1)
        if k > 10:
            for name, frame in (*bad(ask), *bad(learn)):
                table.add(name, [frame], bits=1)
        found = model.update(x[k:k + 1], y[k:k + 1])
        f = int(found["f"][0])
        miss = min(max(int(fixed_targets(plan, y[k:k + 1])[0]) - f, -rail), rail - 1)
        table.add("good", [learn], [[int(found["status"][0]), f & mask, miss & mask]])
        answer = model.predict(x[:1])
        table.add("good", [ask], [[int(answer["status"][0]), int(answer["f"][0]) & mask]])
    return table


def trainer(case):
    plan = make(case)
    y, model = plan.signals["y_raw"].format, open_model(plan)
    words = [y.lo + (k * 977) % (y.hi + 1 - y.lo) for k in range(plan.sizes["n"])]
    model.train(None, words)
    table, good = Table(plan, TRAINER, "model"), ("y", target_frame(plan, words), 0)
    answer = [0, *model_frame(plan, model.state())]
    for row, frame in bad(good):
        table.add(row, [frame], bits=1)
        table.add("good", [good], [answer])
    return table


def solver(case):
    plan = case_plan(case)
    mask, table = (1 << plan.word) - 1, Table(plan, SOLVER, "alpha")
    r, y = next(iter(problems(plan, 4, 3)))
    status, *words = solution(plan, r, y)
    good = [("r", (r & mask).tolist(), 0), ("y", (y & mask).tolist(), 0)]
    answer = [status, *(word & mask for word in words)]
    for row, frame in bad(good[0]):
        table.add(row, [frame, good[1]], bits=5)
        table.add("good", good, [answer])
    for row, frame in bad(good[1]):
        table.add(row, [good[0], frame], bits=6)
        table.add("partner", [bad(good[0])[0][1], frame], bits=7)
        table.add("good", good, [answer])
    return table


NOT_IN_HLS = "learner of kernel RLS"
TABLES = {"predictor": lambda: predictor("gains16"), "predictor of a grid": lambda: predictor("grid16"),
          "predictor with an intercept": lambda: predictor("bias16"),
          "learner": lambda: learner(make("gains16"), stream),
          NOT_IN_HLS: lambda: learner(make("waves16"), rls_stream),
          "trainer": lambda: trainer("grid16"), "trainer with an intercept": lambda: trainer("bias16"),
          "solver": lambda: solver("even24"), "solver with an intercept": lambda: solver("bias16")}


def in_systemverilog(table, simulator, folder):
    """The replies, the error bits and the idle status of every step behind the registers of the core."""
    script, wait = [("write", CONTROL, 1)], table.core.cycles(table.plan) + 80
    for _, frames, replies, _ in table.steps:
        script += [*(("send", *frame) for frame in frames), ("sent",), ("cycles", wait if replies else 40),
                   ("frames", table.gives), ("read", ERRORS), ("read", STATUS), ("write", ERRORS, 31),
                   ("write", CAUSES, 7)]
    generate_rtl(table.plan, folder)
    name = f"{table.plan.name}_{table.core.name}_axi"
    simulation = Simulation(rtl_sources(folder, table.plan, table.core), name, simulator, folder / "sim")
    found = simulation.run(script, 40_000)
    assert {status[0] & 0xFF for status in found[2::3]} == {0}, "not idle after a step"
    return [(replies, errors[0]) for replies, errors in zip(found[::3], found[1::3], strict=True)]


def in_hls(table, dialect, folder):
    """The same of the core in C simulation."""
    opened = HlsBackend(table.plan, dialect, build_dir=folder, flags=("-O0",))
    bench, mask, found = opened._bench, (1 << table.plan.word) - 1, []
    bench.close()  # it starts again, and no core of a new program has a model
    for _, frames, _, _ in table.steps:
        if table.core is SOLVER:
            (_, r, _), (_, y, _) = frames
            answer = bench.call(line("solve_parts", [len(r), *r, *y]))
        else:
            [(name, words, user)] = frames
            call = {("model", 0): "load", ("x", 1): "learn", ("y", 0): "train"}.get(
                (name, user), "ask" if table.core is LEARNER else "predict")
            answer = bench.call(line(call, words))
        if answer[0] == BAD_ARGUMENT:
            found.append(([], answer[1]))
        elif frames[0][0] == "model":
            found.append(([], 0))
        else:
            found.append(([[answer[0], *(word & mask for word in answer[1:])]], 0))
    opened.close()
    return found


@pytest.mark.covering
@pytest.mark.parametrize(("kind", "place"), [
    pytest.param(kind, place, marks=[pytest.mark.campaign] if place == "verilator" else [])
    for kind in TABLES for place in ("icarus", "verilator", "catapult", "vitis")
    if kind != NOT_IN_HLS or place in ("icarus", "verilator")])
def test_a_bad_frame_has_the_same_answer_in_systemverilog_and_hls(kind, place, request, ledger, tmp_path):
    table = TABLES[kind]()
    if place in ("icarus", "verilator"):
        request.getfixturevalue("require_simulator")(place)
        found = in_systemverilog(table, place, tmp_path)
    else:
        request.getfixturevalue("require_tool")("python:hls4ml", "python -m pip install --no-deps hls4ml")
        found = in_hls(table, place, tmp_path)
    wrong = [(step[0], got) for step, got in zip(table.steps, found, strict=True) if got != step[2:]]
    kind_of = "rtl" if place in ("icarus", "verilator") else "hls"
    ledger.record(backend=f"{kind_of}:{place}", words=sum(2 + sum(map(len, replies))
                                                         for _, _, replies, _ in table.steps),
                  mismatches=len(wrong), case=f"protocol of the {kind}")
    assert wrong == []


def test_every_row_of_frames_is_sent_to_a_core():
    sent = {row for make_table in TABLES.values() for row, *_ in make_table().steps}
    assert sent - {"good"} == ROWS


@pytest.mark.parametrize(("core", "case"), [
    (PREDICTOR, "grid16"), (TRAINER, "grid16"), (TRAINER, "band16"), (SOLVER, "even24"), (SOLVER, "band16"),
    (SOLVER, "geometric16"), (LEARNER, "gains16")], ids=lambda value: getattr(value, "name", value))
def test_an_error_is_the_same_bit_in_systemverilog_and_hls(core, case):
    plan = case_plan(case) if case == "even24" else make(case)
    assert core.name in {one.name for one in HLS_CORES}
    names = [name.removeprefix("error_") for name, _ in core.ports(plan).errors]
    hls = [name for name, _ in errors_of(plan)[core.name]]
    assert names[:len(hls)] == hls
    assert names[len(hls):] in ([], ["state"])  # the learner in HLS C++ accepts no state
