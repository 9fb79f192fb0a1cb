"""The wide levels take at most half of what portable C takes on the same core, with the same words."""

import pytest

from kerncast.benchmarks.instructions import example
from kerncast.benchmarks.intrinsics import PAGE, row, saved
from kerncast.codegen.build.toolchains import choose_toolchain
from kerncast.codegen.firmware.targets import load_board, load_target
from kerncast.lab.costs.measure import board_of


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
