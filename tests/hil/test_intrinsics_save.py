"""The wide levels take at most half of what portable C takes on the same core, with the same words."""

import numpy as np
import pytest

from kerncast.benchmarks.instructions import example
from kerncast.benchmarks.intrinsics import PAGE, row, saved
from kerncast.codegen.build.toolchains import choose_toolchain
from kerncast.codegen.firmware.targets import load_board, load_target
from kerncast.codegen.generate import generate
from kerncast.lab.costs.measure import board_of, measured_costs
from kerncast.sim.model import open_model
from kerncast.sim.planner import make_plan
from kerncast.sim.replay.vectors import make_vectors
from kerncast.sim.spec import Spec


@pytest.mark.parametrize(("target", "level"), [
    ("cortex-m55", "helium"), pytest.param("hexagon-v67-hvx", "hvx", marks=pytest.mark.campaign)])
def test_a_prediction_of_64_inputs_costs_at_most_half_of_portable_c(require_tool, ledger, target, level):
    emulator = load_board(board_of(target).id).emulators["qemu"]
    require_tool(emulator.program, emulator.install)
    assert load_target(target).intrinsics == level
    task = example("digits", 16)
    costs, plain, wide = saved(task, target)
    assert costs.compiler == choose_toolchain("auto", load_target(target)).name
    assert 2 * wide.mean <= plain.mean and 2 * wide.worst <= plain.worst
    page = PAGE.read_text(encoding="utf-8")
    if f"| `{target}` | {level} | {costs.compiler} {costs.version} |" in page:
        assert row(target, costs, plain, wide) in page, "stale: python -m kerncast.benchmarks.intrinsics"
    ledger.record(backend=f"qemu:{target}", words=2 * len(task.x_test), mismatches=0, case=level)


@pytest.mark.parametrize("classes", [3, 10])
def test_clang_learns_several_outputs_as_the_model_does(require_tool, ledger, tmp_path, classes):
    require_tool("python:ziglang", "make tools")
    plan = make_plan(Spec(
        model={"name": "outputs", "algorithm": "kernel_lms"}, input={"word": "u8f0", "columns": 4},
        output={"classes": [str(i) for i in range(classes)]}, kernel={"sigma": 90.0},
        online={"budget": 39, "eta": 0.5, "reduction": "nt"}))
    random = np.random.default_rng(classes)
    x, labels = random.integers(0, 256, (120, 4)), random.integers(0, classes, 80)
    x[90:] = x[50:80]  # in the dictionary: k is 1
    vectors = make_vectors(open_model(plan), [("update", x[:80], labels), ("predict", x[80:], None)])
    generate(plan, tmp_path / "c")
    for level in ("-O2", "-Os"):
        costs = measured_costs(plan, tmp_path / "c", "cortex-m4", level, compiler="zig", vectors=vectors)
        assert costs.compiler == "zig"  # a value that differs raises E335
    ledger.record(backend="unicorn:cortex-m4:zig", words=2 * (classes + 1) * len(x), mismatches=0,
                  case=f"{classes} classes")


@pytest.mark.covering
@pytest.mark.parametrize("counts", ["u8f0", "s8f0"])
@pytest.mark.parametrize("columns", [7, 24, 64, 100])
def test_clang_predicts_from_centers_of_bytes_as_the_model_does(
        require_tool, ledger, tmp_path, counts, columns):
    """The blocks of assembler need registers that each compiler must find; gcc compiles the other tests."""
    require_tool("python:ziglang", "make tools")
    plan = make_plan(Spec(
        model={"name": "bytes", "algorithm": "kernel_lms"}, input={"word": counts, "columns": columns},
        output={"word": "s12f0"}, kernel={"sigma": 60.0 * columns**0.5}, online={"budget": 13, "eta": 0.3}))
    random, ends = np.random.default_rng(columns), plan.signals["x_raw"].format
    x = random.choice(np.array([ends.lo, -1, 0, 1, 77, ends.hi]).clip(ends.lo), (40, columns))
    vectors = make_vectors(open_model(plan), [("update", x[:20], random.integers(-2000, 2000, 20)),
                                              ("predict", x[20:], None)])
    generate(plan, tmp_path / "c")
    for level in ("-O2", "-Os"):
        costs = measured_costs(plan, tmp_path / "c", "cortex-m4", level, compiler="zig", vectors=vectors)
        assert costs.compiler == "zig"  # a value that differs raises E335
    ledger.record(backend="unicorn:cortex-m4:zig", words=4 * len(x), mismatches=0, case=f"{counts} {columns}")
