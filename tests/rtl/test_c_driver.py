"""The C driver, compiled for the host, works the simulated cores through their AXI ports."""

import shutil
import subprocess

import pytest

from kerncast.codegen.rtl import LEARNER, TRAINER, generate_rtl, rtl_sources
from kerncast.codegen.rtl.axi import CORE_TYPES
from kerncast.codegen.rtl.frames import model_frame, sample_frame, state_frames, target_frame
from kerncast.codegen.rtl.registers import register_map
from kerncast.hw.rtl.simulators import Simulation
from kerncast.sim.model import open_model
from kerncast.sim.plan import ABI

from .conftest import make
from .learner_cases import stream

OK, NOT_FOUND, OTHER_PLAN, TIMEOUT, ERROR, DROPPING = 0, -1, -2, -3, -4, -6
FRAME, FAULT, RESET_DONE, STATE = (field.mask for field in register_map().named("irq_status").fields)
POLLS = 4000


@pytest.fixture
def worked(require_simulator, tmp_path):
    """``worked(plan, core, calls)``: what the driver's functions return."""
    require_simulator("icarus")
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("skipped (no C compiler)")

    def work(plan, core, inputs, outputs, calls):
        generate_rtl(plan, tmp_path)
        library = tmp_path / "driver.so"
        flags = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-shared", "-fPIC"]
        subprocess.run([compiler, *flags, "-o", str(library), "kc_core.c"], cwd=tmp_path / "rtl", check=True)
        top = f"{plan.name}_{core.name}_axi"
        simulation = Simulation(rtl_sources(tmp_path, plan, core), top, "icarus", tmp_path / "sim")
        return simulation.run([("driver", str(library), inputs, outputs, calls)], 50_000)[0]

    return work


def identity(plan, core):
    return [CORE_TYPES[core.name], ABI, [int(plan.hash[i:i + 8], 16) for i in range(0, 64, 8)]]


@pytest.mark.parametrize("case", ["grid16", "bias16"])
def test_the_driver_trains_and_recovers_from_a_bad_frame(case, worked, ledger):
    plan = make(case)
    y, model = plan.signals["y_raw"].format, open_model(plan)
    words = [(k * 977) % (y.hi + 1) for k in range(plan.sizes["n"])]
    model.train(None, words)
    frame, wanted = target_frame(plan, words), model_frame(plan, model.state())
    kind, abi, plan_hash = identity(plan, TRAINER)
    calls = [
        (["probe", kind, abi, plan_hash], OK), (["probe", kind + 1, abi, plan_hash], NOT_FOUND),
        (["probe", kind, abi, [0, *plan_hash[1:]]], OTHER_PLAN),
        (["load", 0, frame, 0], OK), (["wait", FRAME, 9], TIMEOUT), (["start"], None),
        (["read", 0, len(wanted)], [OK, 0, *wanted]), (["wait", FRAME, POLLS], OK), (["status"], 0),
        (["load", 0, frame[:-1], 0], OK), (["wait", FRAME, POLLS], ERROR), (["errors"], 1), (["errors"], 0),
        (["irq_enable", RESET_DONE | FRAME], None), (["reset", POLLS], OK), (["irq"], 0),
        (["load", 0, frame, 0], OK), (["read", 0, len(wanted)], [OK, 0, *wanted]),
        (["irq"], FRAME), (["irq"], 0),
        # What was raised before a reset does not end a wait after it.
        (["load", 0, frame, 0], OK), (["read", 0, len(wanted)], [OK, 0, *wanted]), (["reset", POLLS], OK),
        (["wait", FRAME, 9], TIMEOUT), (["load", 0, frame[:-1], 0], OK), (["wait", 0, POLLS], ERROR),
        (["load", 0, frame[:-1], 0], OK), (["wait", 0, 20], ERROR), (["reset", POLLS], OK), (["errors"], 0),
        (["load", 0, frame, 0], OK), (["wait", FRAME, POLLS], OK),
        (["read", 0, len(wanted)], [OK, 0, *wanted]),
        # A frame that a reset cuts in two is dropped to its end, which is an error; the next one is right.
        (["stop"], None), (["load", 0, frame, 0], OK), (["start"], None), (["reset", POLLS], DROPPING),
        (["wait", 0, POLLS], ERROR), (["errors"], 1 << 30), (["discard"], None),
        (["load", 0, frame, 0], OK), (["read", 0, len(wanted)], [OK, 0, *wanted]),
        (["wait", FRAME, POLLS], OK),
        (["stop"], None), (["load", 0, frame, 0], OK), (["wait", FRAME, 20], TIMEOUT)]
    found = worked(plan, TRAINER, ["y"], ["model"], [call for call, _ in calls])
    ledger.record(backend="rtl:icarus", words=len(calls), case=f"C driver of the trainer of {case}",
                  mismatches=sum(f != w for f, (_, w) in zip(found, calls, strict=True)))


def test_the_driver_saves_and_restores_a_learner(worked, ledger):
    plan, mask = make("gains16"), (1 << make("gains16").word) - 1
    (x, y), model = stream(plan, 9, 5), open_model(plan)
    model.update(x, y)
    model_words, slots = state_frames(plan, model.state())
    answer = model.predict(x[:1])
    predicted = [OK, int(answer["status"][0]) & 7, int(answer["f"][0]) & mask]
    kind, abi, plan_hash = identity(plan, LEARNER)
    restore = [(["load", 1, model_words, 0], OK), (["load", 1, slots, 1], OK)]
    predict = [(["load", 0, sample_frame(plan, x[0]), 0], OK), (["read", 0, 2], predicted)]
    calls = [
        (["probe", kind, abi, plan_hash], OK), (["start"], None), *restore, *predict,
        (["command", 2], None), (["wait", STATE, POLLS], OK),
        (["read", 1, len(model_words)], [OK, 0, *model_words]),
        (["command", 4], None), (["read", 1, len(slots)], [OK, 1, *slots]),
        (["reset", POLLS], OK), *restore, *predict]
    found = worked(plan, LEARNER, ["x", "state"], ["f", "state"], [call for call, _ in calls])
    ledger.record(backend="rtl:icarus", words=len(calls), case="C driver of the learner",
                  mismatches=sum(f != w for f, (_, w) in zip(found, calls, strict=True)))
