"""Every state of the cores is entered, and every rail of their casts is met, by words that are compared."""

import re

import numpy as np
import pytest

from kerncast.codegen.resources import read_text
from kerncast.codegen.rtl import LEARNER, PREDICTOR, TRAINER, generate_rtl, rtl_sources, unique_file
from kerncast.codegen.rtl.common import signed
from kerncast.codegen.rtl.frames import model_frame, sample_frame, sample_frames, state_frames
from kerncast.hw.rtl.simulators import Simulation
from kerncast.hw.rtl.trainer_backend import training_script
from kerncast.sim.model import open_model
from kerncast.sim.model.statuses import NOT_POSITIVE_DEFINITE, OK, SATURATED

from .conftest import anything, expected, make, raw_inputs
from .learner_cases import make as make_learner
from .learner_cases import stream
from .rls_cases import rls_stream
from .solver_cases import build, problems

#: Instances with a machine, by their names within a core, and the file that defines it.
MACHINES = {
    "predictor": {"": "templates/rtl/window_sizes.j2", "model_inst": "hw/rtl/kc_model_store.sv",
                  "sample_inst": "hw/rtl/kc_sample_buffer.sv"},
    "learner": {"control_inst": "hw/rtl/kc_learner_control.sv", "sample_inst": "hw/rtl/kc_sample_buffer.sv",
                "reader_inst": "hw/rtl/kc_state_reader.sv", "writer_inst": "hw/rtl/kc_state_writer.sv"},
    "rls_learner": {"rls_inst.control_inst": "hw/rtl/kc_rls_control.sv",
                    "rls_inst.features_inst": "hw/rtl/kc_rls_features.sv",
                    "sample_inst": "hw/rtl/kc_sample_buffer.sv", "state_inst": "hw/rtl/kc_rls_state.sv"},
    "solver": {"r_inst": "hw/rtl/kc_frame.sv", "y_inst": "hw/rtl/kc_frame.sv",
               "levinson_inst": "hw/rtl/kc_levinson.sv", "sender_inst": "hw/rtl/kc_solution_sender.sv",
               "levinson_inst.scalars_inst": "hw/rtl/kc_levinson_scalars.sv"},
    "trainer": {"row_inst": "templates/rtl/row.sv.j2", "row_inst.frame_inst": "hw/rtl/kc_frame.sv",
                "model_inst": "hw/rtl/kc_model_sender.sv"},
}


def machines(core: str, window: bool = False) -> tuple[list[str], list[list[int]]]:
    """The state registers of a core, and the values that each of them may have.

    A template with two state machines has that of a window of vectors first.
    """
    names, states = [f"{path}.state_reg".lstrip(".") for path in MACHINES[core]], []
    for file in MACHINES[core].values():
        found = re.findall(r"typedef enum logic \[\d:0\]\s*\{([^}]*)\}\s*state_t;", read_text(file))
        values = enumerate(found[0 if window else -1].split(","))
        states.append(sorted(int(text.partition("'b")[2] or f"{i:b}", 2) for i, text in values))
    return names, states


def simulation(plan, core, folder, lanes=1) -> Simulation:
    generate_rtl(plan, folder)
    return Simulation(rtl_sources(folder, plan, core), f"{plan.name}_{core.name}", "icarus", folder / "sim",
                      core.parameters(plan, lanes))


def recorded(ledger, core, found, wanted) -> None:
    pairs = [pair for got, want in zip(found, wanted, strict=True) for pair in zip(got, want, strict=True)]
    ledger.record(backend="rtl:icarus", words=len(pairs), mismatches=sum(a != b for a, b in pairs),
                  case=f"{core}, every state")


def test_the_predictor_enters_every_state_and_saturates_f_both_ways(require_simulator, ledger, tmp_path):
    require_simulator("icarus")
    plan, (names, states) = make("gains16"), machines("predictor")
    script, wanted, f = [("cover", names)], [], plan.signals["f"].format
    for seed in range(8):
        state, x = anything(plan, seed)
        x = np.concatenate([x, raw_inputs(plan, 3, seed)])
        answers = expected(plan, state, x)
        script += [("model", model_frame(plan, state)), ("sent",)]
        script += [("sample", frame) for frame in sample_frames(plan, x)] + [("answers", len(x))]
        wanted += zip(answers["f"].tolist(), answers["status"].tolist(), strict=True)
    frame = model_frame(plan, state)
    script += [("sample", [1] * 9), ("model", [frame[0] ^ 1, *frame[1:]]), ("sent",), ("cycles", 5),
               ("noted",)]
    *found, seen = simulation(plan, PREDICTOR, tmp_path).run(script, 20_000)
    assert seen == states
    assert {f.lo, f.hi} <= {word for word, status in wanted if status == SATURATED}
    answers = [(int(signed(plan.word, np.array(word))), status) for group in found for word, status in group]
    recorded(ledger, "predictor", answers, wanted)


def test_the_predictor_of_a_window_enters_every_state(require_simulator, ledger, tmp_path):
    require_simulator("icarus")
    plan, (names, states) = make("grid16"), machines("predictor", window=True)
    model, y, x = open_model(plan), plan.signals["y_raw"].format, raw_inputs(plan, 20, 1)
    model.train(None, np.random.default_rng(1).integers(y.lo, y.hi + 1, plan.sizes["n"]))
    answers, frame = model.predict(x), model_frame(plan, model.state())
    script = [("cover", names), ("model", frame), ("sent",), *(("sample", f) for f in sample_frames(plan, x)),
              ("answers", len(x)), ("sample", [1] * 9), ("model", [frame[0] ^ 1, *frame[1:]]), ("sent",),
              ("cycles", 5), ("noted",)]
    found, seen = simulation(plan, PREDICTOR, tmp_path).run(script, 20_000)
    assert seen == states
    recorded(ledger, "predictor", [(int(signed(plan.word, np.array(f))), status) for f, status in found],
             zip(answers["f"].tolist(), answers["status"].tolist(), strict=True))


def test_the_learner_enters_every_state_and_saturates_f_and_alpha(require_simulator, ledger,
                                                                            tmp_path):
    require_simulator("icarus")
    plan, (names, states) = make_learner("forgets16"), machines("learner")
    model, (x, y) = open_model(plan), stream(plan, 25, 2)
    answers, rails = model.update(x, y), [plan.signals[name].format for name in ("f", "alpha")]
    frames = state_frames(plan, model.state())
    script = [("cover", names), ("state",)]
    for row, target in zip(x, y, strict=True):
        script += [("sample", sample_frame(plan, row, int(target)), True), ("answers", 1)]
    script += [("sample", [1] * 9, True), ("state",), ("restore", [1, 1, 1, 1, 1], *frames[1:]),
               ("restore", *frames), ("state",), ("noted",)]
    _, *found, last, restored, seen = simulation(plan, LEARNER, tmp_path).run(script, 20_000)
    assert seen == states
    assert {rails[0].lo, rails[0].hi} <= set(answers["f"].tolist())
    assert (model.ranges.lowest("alpha"), model.ranges.highest("alpha")) == tuple(
        float(rails[1].value(v)) for v in (rails[1].lo, rails[1].hi))
    words = [(a[0][0], int(signed(plan.word, np.array(a[0][1])))) for a in found]
    recorded(ledger, "learner", [*words, *last, *restored],
             [*zip(answers["status"].tolist(), answers["f"].tolist(), strict=True), *frames, *frames])


def test_the_learner_of_kernel_rls_enters_every_state(require_simulator, ledger, tmp_path):
    require_simulator("icarus")
    plan, (names, states) = make("waves16"), machines("rls_learner")
    model, (x, y) = open_model(plan), rls_stream(plan, 10, 2)
    answers = model.update(x, y)
    frame, = state_frames(plan, model.state())
    script = [("cover", names)]
    for row, target in zip(x, y, strict=True):
        script += [("sample", sample_frame(plan, row, int(target)), True), ("answers", 1)]
    script += [("state",), ("sample", [1] * 9, True), ("send", "state", [frame[0], 2, *frame[2:]]), ("sent",),
               ("restore", frame), ("state",), ("noted",)]
    # With one lane, no lane of a block is left.
    *found, last, restored, seen = simulation(plan, LEARNER, tmp_path, lanes=4).run(script, 20_000)
    assert seen == states
    words = [(a[0][0], int(signed(plan.word, np.array(a[0][1])))) for a in found]
    recorded(ledger, "learner of kernel RLS", [*words, *last, *restored],
             [*zip(answers["status"].tolist(), answers["f"].tolist(), strict=True), frame, frame])


def test_the_solver_enters_every_state_and_saturates_x(require_simulator, ledger, tmp_path):
    require_simulator("icarus")
    core, (names, states) = build("even24", "icarus", tmp_path), machines("solver")
    core.do("cover", names)
    for r, y in problems(core.plan, 8, 1):
        core.solved(r, y)
    for stream_name in ("r", "y"):
        core.do(stream_name, [1] * (core.plan.sizes["n"] + 2))
    core.do("cycles", 40)
    core.do("noted")
    wanted = list(core.wanted)
    words, mismatches, (seen,) = core.run()
    assert seen == states
    assert {status for status, *_ in wanted} == {OK, SATURATED, NOT_POSITIVE_DEFINITE}
    ledger.record(backend="rtl:icarus:solver", words=words, mismatches=mismatches, case="solver, every state")


def test_the_trainer_enters_every_state(require_simulator, ledger, tmp_path):
    require_simulator("icarus")
    plan, (names, states) = make("means24"), machines("trainer")
    x, model, y = raw_inputs(plan, plan.sizes["n"], 1), open_model(plan), plan.signals["y_raw"].format
    targets = np.random.default_rng(1).integers(y.lo, y.hi + 1, plan.sizes["n"])
    model.train(x, targets)
    asked = training_script(plan, x, targets)
    script = [("cover", names), ("samples", [1] * 99), asked[1], *asked, ("noted",)]
    frame, seen = simulation(plan, TRAINER, tmp_path).run(script, 20_000)
    assert seen == states
    recorded(ledger, "trainer", [frame], [[0, *model_frame(plan, model.state())]])


@pytest.mark.parametrize("core", MACHINES)
def test_no_machine_of_a_core_is_forgotten(core, tmp_path):
    plan = {"learner": make_learner("forgets16"), "rls_learner": make("waves16"),
            "predictor": make("gains16")}.get(core, make("means24"))
    kinds = {"predictor": PREDICTOR, "learner": LEARNER, "rls_learner": LEARNER}.get(core, TRAINER)
    generate_rtl(plan, tmp_path)
    files = {path.name for path in rtl_sources(tmp_path, plan, kinds)
             if "state_t state_reg" in path.read_text()}
    known = {(path, file.rpartition("/")[2]) for name in (core, *(("solver",) if core == "trainer" else ()))
             for path, file in MACHINES[name].items()}
    ours = {unique_file(file) if file.startswith("kc_")
            else f"{plan.name}_{file.removesuffix('.j2') if path else f'{core}.sv'}" for path, file in known}
    if core == "solver":
        ours |= {f"{plan.name}_row.sv", unique_file("kc_model_sender.sv")}
    assert files == ours
