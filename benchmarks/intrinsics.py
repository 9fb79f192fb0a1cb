"""Measure the instructions that intrinsics save in predictions of the digits.

``python -m kerncast.benchmarks.intrinsics`` writes docs/measured/intrinsics.md. Emulators count the
instructions, and every value is compared with the integer model.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from kerncast.benchmarks.instructions import Task, example
from kerncast.codegen.firmware.targets import load_target
from kerncast.codegen.generate import generate
from kerncast.lab.costs.measure import Costs, Count, measured_costs
from kerncast.sim.model import open_model
from kerncast.sim.replay.vectors import make_vectors

PAGE = Path(__file__).resolve().parent.parent / "docs" / "measured" / "intrinsics.md"
#: A target of each level.
TARGETS = ("cortex-m4", "cortex-m55", "hexagon-v67", "hexagon-v67-hvx", "mips-74kf")

HEAD = """# What intrinsics save

`python -m kerncast.benchmarks.intrinsics` writes this page. The table compares two builds of the prediction
function of `examples/digits.toml`, with 41 vectors of 64 inputs at 16 bits. One build uses the intrinsics
that predefined macros of the compiler select (`firmware/rt/kc_simd_*.h`). The other defines `KC_PORTABLE` as
1. The compiler, the CPU core and the optimisation level (-O2) are the same. Both builds compute the same
values as the integer model. The unit is instructions or Hexagon packets, not cycles. The intrinsics reduce
the count by a factor of two to five.

| target | level | compiler | unit | portable: mean | worst | level: mean | worst | times: mean | worst |
| --- | --- | --- | --- | --: | --: | --: | --: | --: | --: |
"""


def counted(task: Task, target: str, *, portable: bool) -> Costs:
    """Measure the last predictions of a task on a target.

    If `portable` is true, the C code does not use intrinsics.

    Raises
    ------
    KerncastError
        The errors of the build and of the run; E335 if a value differs from the value of the integer model.
    """
    vectors = make_vectors(open_model(task.plan),
                           [("update", task.x, task.y), ("predict", task.x_test, None)])
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "c"
        generate(task.plan, folder)
        header = folder / "rt" / "kc_compiler.h"
        header.write_text(f"#define KC_PORTABLE {int(portable)}\n{header.read_text()}")
        return measured_costs(task.plan, folder, target, vectors=vectors)


def saved(task: Task, target: str) -> tuple[Costs, Count, Count]:
    """Measure predictions on a target without and with intrinsics."""
    plain, costs = (counted(task, target, portable=portable) for portable in (True, False))
    return costs, plain.counts["predict"], costs.counts["predict"]


def row(target: str, costs: Costs, plain: Count, level: Count) -> str:
    """Return the row of a target."""
    return (f"| `{target}` | {load_target(target).intrinsics} | {costs.compiler} {costs.version} "
            f"| {costs.unit} | {plain.mean:,} | {plain.worst:,} | {level.mean:,} | {level.worst:,} "
            f"| {plain.mean / level.mean:.2f} | {plain.worst / level.worst:.2f} |")


def rows() -> Iterator[str]:
    """Yield the rows of the table."""
    task = example("digits", 16)
    for target in TARGETS:
        yield row(target, *saved(task, target))


def main() -> int:
    """Write the page."""
    lines = []
    for line in rows():
        print(line, file=sys.stderr, flush=True)
        lines.append(line)
    PAGE.write_text(HEAD + "\n".join(lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
