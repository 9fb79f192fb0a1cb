"""A core refuses bad frames and bad accesses by an error bit, and then works as before."""

import re

import pytest

from kerncast.codegen.rtl import LEARNER, PREDICTOR, SOLVER, TRAINER, generate_rtl, rtl_sources
from kerncast.codegen.rtl.frames import model_frame, sample_frame, sample_frames, state_frames, target_frame
from kerncast.codegen.rtl.ranged import system_frame
from kerncast.codegen.rtl.registers import register_map
from kerncast.hw.rtl.simulators import Simulation
from kerncast.sim.model import open_model
from kerncast.sim.model.statuses import NOT_TRAINED
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec

from .banded_cases import case_plan as banded_plan
from .banded_cases import problems as banded_problems
from .banded_cases import solution as banded_solution
from .conftest import LONG, SPECS, expected, make, places, trained
from .learner_cases import stream
from .rls_cases import rls_stream
from .solver_cases import case_plan, problems, solution

MAP = register_map()
CONTROL, COMMAND, STATUS, ERRORS, ENABLE, CAUSES = (
    MAP.named(name).offset for name in ("control", "command", "status", "errors", "irq_enable", "irq_status"))
RUN, RESET, DISCARD, DROPPING, DROPPED, ACCESS = 1, 1, 1 << 8, 4, 1 << 30, 1 << 31
FRAME, ERROR, DONE = 1, 2, 4
SLVERR = 2


class Case:
    """A core, the frames of one operation by their streams in order, and its answer.

    ``bits`` is the error of each stream. After a reset between two frames of one operation the answer is
    ``untrained``, and ``partner`` the error of a frame that came without the one before it.
    """

    def __init__(self, plan, core, sends, answer, gives, bits, untrained=None, partner=0):
        self.plan, self.core, self.sends, self.answer = plan, core, sends, answer
        self.gives, self.bits, self.untrained, self.partner = gives, bits, untrained, partner
        self.simulation = None

    def operation(self):
        return [("send", *send) for send in self.sends]

    def run(self, folder, script, limit=20_000):
        if self.simulation is None:
            generate_rtl(self.plan, folder)
            self.simulation = Simulation(rtl_sources(folder, self.plan, self.core),
                                         f"{self.plan.name}_{self.core.name}_axi", "icarus", folder / "sim")
        return self.simulation.run([("write", CONTROL, RUN), *script], limit)


def trainer(case, n, sigma=None):
    text = re.sub(r"\bn = \d+", f"n = {n}", SPECS[case])
    text = text if sigma is None else re.sub(r"sigma = [\d.]+", f"sigma = {sigma}", text)
    plan = make_plan(Spec.from_text(text, f"{case}.toml"))
    y, model = plan.signals["y_raw"].format, open_model(plan)
    words = [y.lo + (k * 977) % (y.hi + 1 - y.lo) for k in range(plan.sizes["n"])]
    x = None if plan.uniform else places(plan, plan.sizes["n"], 3)
    assert model.train(x, words)["status"][0] == 0
    sends = [("y", target_frame(plan, words))]
    if x is not None:
        sends.insert(0, ("x", [word for frame in sample_frames(plan, x) for word in frame]))
    bits = {stream: 1 << i for i, (stream, _) in enumerate(sends)}
    return Case(plan, TRAINER, sends, [0, *model_frame(plan, model.state())], "model", bits)


def solver():
    plan = case_plan("even24")
    mask, (r, y) = (1 << plan.word) - 1, next(iter(problems(plan, 4, 3)))
    status, *words = solution(plan, r, y)
    return Case(plan, SOLVER, [("r", (r & mask).tolist()), ("y", (y & mask).tolist())],
                [status, *(word & mask for word in words)], "alpha",
                {"r": 5, "y": 6})  # bit 2: both were dropped


def banded_solver(case="thin16"):
    plan = banded_plan(case)
    mask, y = (1 << plan.word) - 1, next(iter(banded_problems(plan, 1, 3)))
    status, *words = banded_solution(plan, y)
    return Case(plan, SOLVER, [("y", system_frame(plan, y))], [status, *(word & mask for word in words)],
                "alpha", {"y": 3})  # bit 1: it was dropped


def predictor(case="gains16", untrained=(0,)):
    plan = make(case)
    (state, x), mask = trained(plan, 3), (1 << plan.word) - 1
    status, *words = (int(word) for part in expected(plan, state, x[:1]).values() for word in part.ravel())
    return Case(plan, PREDICTOR, [("model", model_frame(plan, state)), ("x", sample_frames(plan, x[:1])[0])],
                [status, *(word & mask for word in words)], "f", {"x": 1, "model": 2},
                [NOT_TRAINED, *untrained])


def learner(case="gains16", untrained=(0,)):
    plan = make(case)
    (x, y), model, mask = stream(plan, 9, 5), open_model(plan), (1 << plan.word) - 1
    model.update(x, y)
    model_words, slots = state_frames(plan, model.state())
    status, *words = (int(word) for part in model.predict(x[:1]).values() for word in part.ravel())
    return Case(plan, LEARNER, [("state", model_words, 0), ("state", slots, 1),
                                ("x", sample_frame(plan, x[0]), 0)],
                [status, *(word & mask for word in words)], "f", {"x": 1, "state": 2},
                [NOT_TRAINED, *untrained], partner=2)


def rls_learner():
    plan = make("pair24")
    (x, y), model, mask = rls_stream(plan, 9, 5), open_model(plan), (1 << plan.word) - 1
    model.update(x, y)
    status, f = (int(words[0]) for words in model.predict(x[:1]).values())
    return Case(plan, LEARNER, [("state", *state_frames(plan, model.state())),
                                ("x", sample_frame(plan, x[0]), 0)],
                [status, f & mask], "f", {"x": 1, "state": 2}, [NOT_TRAINED, 0])


#: What a small training, or a small model, brings about.
CASES = {"trainer": lambda: trainer("grid16", 3),
         "trainer of samples": lambda: trainer("means24", 2),
         "banded trainer": lambda: trainer("band16", 5, 0.3), "solver": solver,
         "banded solver": banded_solver, "geometric solver": lambda: banded_solver("geometric_one24"),
         "solver of lambda": lambda: banded_solver("ranged_thin16"),
         "predictor": predictor, "learner": learner,
         "learner of kernel RLS": rls_learner,
         # Without a model each output and the margin are 0, and the label is unknown.
         "predictor of classes": lambda: predictor("labels16", (0, 0, 0, 3, 0)),
         "learner of classes": lambda: learner("labels16", (0, 0, 0, 3, 0))}


@pytest.fixture(scope="module")
def cases():
    """The cases that were asked for, each built once."""
    return {}


@pytest.fixture
def case(require_simulator, request, cases):
    require_simulator("icarus")
    if request.param not in cases:
        cases[request.param] = CASES[request.param]()
    return cases[request.param]


def bad_frames(send):
    """Too short by one word and by all but one, too long by one; tlast missing joins two frames."""
    stream, words, *user = send
    return [(stream, bad, *user) for bad in (words[:-1], words[:1], [*words, words[-1]], words * 2)]


@pytest.mark.parametrize("case", CASES, indirect=True)
def test_a_bad_frame_is_an_error_and_the_next_operation_is_right(case, tmp_path, ledger):
    script, bads = [], [(k, bad) for k, send in enumerate(case.sends) for bad in bad_frames(send)]
    for k, bad in bads:
        # What comes before is good. The frames of a system belong together: a bad one drops its partner.
        partner = case.sends[k + 1:] if case.core in (SOLVER, TRAINER) else []
        before = [*case.sends[:k], bad, *partner]
        script += [*(("send", *send) for send in before), ("sent",), ("cycles", 60), ("read", ERRORS),
                   ("frames", case.gives), ("write", ERRORS, 31), ("write", CAUSES, ERROR), *case.operation(),
                   ("frame", case.gives), ("read", ERRORS), ("cycles", 9), ("read", STATUS)]
    found = case.run(tmp_path, script)
    seen = [tuple(found[i:i + 5]) for i in range(0, len(found), 5)]
    status = (case.answer[0] & 7) << 8
    wanted = [([case.bits[bad[0]]], [], case.answer, [0], [status]) for _, bad in bads]
    ledger.record(backend="rtl:icarus", words=len(bads) * (len(case.answer) + 4),
                  mismatches=sum(a != b for a, b in zip(seen, wanted, strict=True)),
                  case=f"bad frames of the {case.core.name}")


@pytest.mark.parametrize("case", CASES, indirect=True)
def test_a_soft_reset_at_any_clock_leaves_no_wrong_answer(case, tmp_path, ledger):
    clocks = case.core.cycles(case.plan) + 60
    settle = 40 + 8 * len(case.answer)  # an output frame that has begun is sent before the reset
    # A campaign takes every clock of every core; here the trainers, which hold a solver each, stand for it.
    every = 1 if LONG or (case.core is TRAINER and case.plan.uniform) else 5
    script, cuts = [], range(1, clocks, every)
    for cut in cuts:  # the answer comes before the reset, or never
        script += [*case.operation(), ("cycles", cut), ("write", COMMAND, RESET), ("sent",),
                   ("cycles", settle), ("frames", case.gives), ("read", ERRORS),
                   ("write", ERRORS, 31 | DROPPED), *case.operation(), ("frame", case.gives),
                   ("read", ERRORS), ("cycles", 9), ("read", STATUS)]
    found = case.run(tmp_path, script)
    seen = [tuple(found[i:i + 5]) for i in range(0, len(found), 5)]
    assert len(seen) == len(cuts)
    good = [frame for frame in (case.answer, case.untrained) if frame is not None]
    status, wrong = (case.answer[0] & 7) << 8, 0
    for before, refused, *after in seen:
        right = before in ([], *([frame] for frame in good)) and refused[0] & ~DROPPED in (0, case.partner)
        wrong += not (right and after == [case.answer, [0], [status]])
    ledger.record(backend="rtl:icarus", words=len(seen) * (len(case.answer) + 2), mismatches=wrong,
                  case=f"soft reset of the {case.core.name}")
    assert {case.answer in before for before, *_ in seen} == {True, False}, "not each side of the answer"


@pytest.mark.parametrize("case", CASES, indirect=True)
def test_registers_written_while_running_change_no_answer(case, tmp_path, ledger):
    """The core is stopped and started, interrupts are masked and unmasked, bits without a meaning are set."""
    writes = [("write", CONTROL, 0), ("write", ENABLE, 7), ("write", COMMAND, 0), ("write", ERRORS, 1 << 30),
              ("cycles", 7), ("write", CONTROL, 0xFFFFFFFF), ("write", ENABLE, 0), ("write", CAUSES, 7)]
    cuts = range(1, case.core.cycles(case.plan) + 40, 1 if LONG else 11)
    script = []
    for cut in cuts:
        script += [*case.operation(), ("cycles", cut), *writes, ("frame", case.gives), ("cycles", 9),
                   ("read", ERRORS), ("read", CONTROL), ("waiting",)]
    found = case.run(tmp_path, script)
    seen, wanted = [found[i:i + 4] for i in range(0, len(found), 4)], [case.answer, [0], [RUN], 0]
    assert len(seen) == len(cuts)
    ledger.record(backend="rtl:icarus", words=len(cuts) * (len(case.answer) + 3),
                  mismatches=sum(one != wanted for one in seen),
                  case=f"registers of the {case.core.name} written while it runs")


def test_an_interrupted_frame_is_reported_until_its_end(require_simulator, tmp_path):
    require_simulator("icarus")
    case = trainer("grid16", 8)
    script = [("stall", 0.0, 0.0, 0), *case.operation(), ("cycles", 12), ("stall", 1.0, 0.0, 0),
              ("cycles", 4), ("write", COMMAND, RESET), ("cycles", 9), ("read", STATUS),
              ("stall", 0.0, 0.0, 0), ("sent",), ("cycles", 9), ("read", STATUS), ("read", ERRORS),
              *case.operation(), ("frame", "model")]
    assert case.run(tmp_path, script) == [[DROPPING], [0], [DROPPED], case.answer]


def test_the_rest_of_an_interrupted_frame_can_be_discarded(require_simulator, tmp_path):
    """After `discard` the next beat begins a frame: here a short one, which is refused as such."""
    require_simulator("icarus")
    case = trainer("grid16", 8)
    script = [("stall", 0.0, 0.0, 0), *case.operation(), ("cycles", 12), ("stall", 1.0, 0.0, 0),
              ("cycles", 4), ("write", COMMAND, RESET), ("cycles", 9), ("write", COMMAND, DISCARD),
              ("read", STATUS), ("stall", 0.0, 0.0, 0), ("sent",), ("cycles", 9), ("read", ERRORS),
              ("write", ERRORS, 1), *case.operation(), ("frame", "model"), ("read", ERRORS)]
    assert case.run(tmp_path, script) == [[0], [case.bits["y"]], case.answer, [0]]


@pytest.mark.parametrize("case", CASES, indirect=True)
def test_a_refused_access_while_running_is_an_error_and_changes_nothing(case, tmp_path, ledger):
    listed = {r.offset + 4 * i: r for r in MAP.registers for i in range(r.count)}
    read_only = [at for at, r in listed.items() if r.access == "r"]
    missing = [at for at in range(0, MAP.bytes, 4) if at not in listed]
    if not LONG and case.plan.name != "grid":  # the registers of all cores are one module
        read_only, missing = read_only[::4], missing[::8]
    script, wanted = [], []
    for at in (*read_only, *missing):
        answers = [0 if at in listed else SLVERR, SLVERR]
        script += [*case.operation(), ("cycles", 20), ("responses", at), ("read", ERRORS),
                   ("frame", case.gives), ("write", ERRORS, ACCESS), ("write", CAUSES, 7),
                   ("read", ERRORS), ("read", CAUSES)]
        wanted += [answers, [ACCESS], case.answer, [0], [0]]
    identity = [("read", at, 1) for at in read_only if at < CONTROL]
    found = case.run(tmp_path, [*identity, *script, *identity])
    assert found[:len(identity)] == found[-len(identity):]
    found = found[len(identity):-len(identity)]
    ledger.record(backend="rtl:icarus", words=len(wanted), case=f"refused accesses of the {case.core.name}",
                  mismatches=sum(f != w for f, w in zip(found, wanted, strict=True)))


@pytest.mark.parametrize("case", CASES, indirect=True)
def test_a_masked_interrupt_is_recorded_and_rises_when_it_is_enabled(case, tmp_path, ledger):
    k = len(case.sends) - 1
    bad = [*case.sends[:k], bad_frames(case.sends[k])[2]]
    script = [("write", ENABLE, 0), ("write", CAUSES, 7), *case.operation(), ("frame", case.gives),
              ("cycles", 4), ("irq",), ("read", CAUSES)]
    wanted = [case.answer, 0, [FRAME]]
    for mask, irq in ((ERROR | DONE, 0), (FRAME, 1)):
        script += [("write", ENABLE, mask), ("cycles", 2), ("irq",)]
        wanted.append(irq)
    script += [("write", ENABLE, 0), ("write", CAUSES, 7), *(("send", *send) for send in bad), ("sent",),
               ("cycles", 60), ("irq",), ("read", CAUSES), ("write", ENABLE, ERROR), ("cycles", 2), ("irq",),
               ("write", CAUSES, ERROR), ("cycles", 2), ("irq",), ("write", ENABLE, 0),
               ("write", COMMAND, RESET), ("cycles", 9), ("irq",), ("read", CAUSES), ("write", ENABLE, DONE),
               ("cycles", 2), ("irq",), ("write", CAUSES, 7), *case.operation(), ("frame", case.gives),
               ("cycles", 4), ("irq",), ("read", CAUSES), ("read", ERRORS)]
    wanted += [0, [ERROR], 1, 0, 0, [DONE], 1, case.answer, 0, [FRAME], [0]]
    found = case.run(tmp_path, script)
    ledger.record(backend="rtl:icarus", words=len(wanted), case=f"masked interrupts of the {case.core.name}",
                  mismatches=sum(f != w for f, w in zip(found, wanted, strict=True)))
