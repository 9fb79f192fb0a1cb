"""What a processor sees of a core over AXI4-Lite."""

from kerncast.codegen.rtl import TRAINER, generate_rtl, rtl_sources
from kerncast.hw.rtl.simulate import model_frame
from kerncast.hw.rtl.simulators import Simulation
from kerncast.hw.rtl.trainer_backend import target_frame
from kerncast.sim.model import open_model
from kerncast.sim.plan import ABI

from .conftest import make

CONTROL, STATUS, ERRORS, CLOCKS, FRAMES, HASH = 0x04, 0x08, 0x0C, 0x10, 0x18, 0x20
RUN, RESET = 1, 2


def test_a_processor_starts_resets_and_watches_the_trainer(require_simulator, ledger, tmp_path):
    require_simulator("icarus")
    plan = make("grid16")
    y = plan.signals["y_raw"].format
    words = [(k * 977) % (y.hi + 1) for k in range(plan.sizes["n"])]
    model = open_model(plan)
    model.train(None, words)
    generate_rtl(plan, tmp_path)
    core = Simulation(rtl_sources(tmp_path, plan, TRAINER), "grid_trainer_axi", "icarus", tmp_path / "sim")
    frame, answer = target_frame(plan, words), [0, *model_frame(plan, model.state())]
    script, wanted = [], []

    def expect(value, *operation):
        script.append(operation)
        wanted.append(value)

    expect([ABI, 0, 0, 0, 0, 0, 0, 0], "read", 0x00, 8)
    expect([int(plan.hash[8 * i:8 * i + 8], 16) for i in range(8)], "read", HASH, 8)
    script.extend([("send", "y", frame), ("cycles", 100)])
    expect([0], "read", STATUS)  # not started: nothing is taken
    expect([0, 0], "read", FRAMES, 2)
    script.append(("write", CONTROL, RUN))
    expect(answer, "frame", "model")
    expect([RUN, 0, 0], "read", CONTROL, 3)
    expect([1, 1], "read", FRAMES, 2)
    script.append(("send", "y", frame[:-1]))
    script.append(("send", "y", frame))
    expect(answer, "frame", "model")
    expect([1], "read", ERRORS)
    script.append(("write", ERRORS, 0))
    expect([1], "read", ERRORS)  # they stay until a one is written
    script.append(("write", ERRORS, 1))
    expect([0], "read", ERRORS)
    expect([3, 2], "read", FRAMES, 2)
    script.extend([("send", "y", frame), ("cycles", 200)])
    expect([1], "read", STATUS)
    script.append(("write", CONTROL, RUN | RESET))
    expect([RUN, 0, 0, 0, 0, 0, 0], "read", CONTROL, 7)
    expect(0, "waiting")
    script.append(("send", "y", frame))
    expect(answer, "frame", "model")
    expect([1, 1], "read", FRAMES, 2)
    *_, clocks = found = core.run([*script, ("read", CLOCKS, 2)], 20_000)
    ledger.record(backend="rtl:icarus", words=len(wanted),
                  mismatches=sum(f != w for f, w in zip(found[:-1], wanted, strict=True)), case="registers")
    assert 500 < clocks[0] < 2000
    assert clocks[1] == 0
