"""Measure trainings in slices: the sum of all calls, and the largest.

``python -m kerncast.benchmarks.slices`` writes docs/measured/slices.md. Every coefficient is compared with
the integer model.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kerncast.benchmarks.banded import planned
from kerncast.benchmarks.cortex_m import CortexM
from kerncast.benchmarks.instructions import LEVELS, counting
from kerncast.benchmarks.solvers import targets
from kerncast.sim._arrays import Raw
from kerncast.sim.model import open_model
from kerncast.sim.plan import Plan, wire_dtype
from kerncast.sim.statuses import DeviceStatus

PAGE = Path(__file__).resolve().parent.parent / "docs" / "measured" / "slices.md"
N, SIGMA, LAMBDA = 256, 3.0, 0.1
#: Solver, word length, and the slices: samples of a push, and steps of a run.
SLICES = (("banded", 16, ((1, 1), (16, 1), (16, 4), (64, 4), (64, 8), (256, 64))),
          ("banded", 32, ((1, 1), (16, 4), (64, 8), (256, 64))), ("levinson", 16, ((1, 1), (16, 1))))

HEAD = f"""# Training in slices

`python -m kerncast.benchmarks.slices` writes this page. It counts the instructions of all calls of one
training on a Cortex-M4 (-O2, in the Unicorn emulator): `_train_begin`, `_train_push` or `_train_push_block`,
`_train_run` and `_train_commit`. The grid has n = {N} samples, with sigma = {SIGMA:g} and lambda =
{LAMBDA:g}. `push` is the number of samples per push, and `steps` is the number of steps per run. `sum` is the
number of instructions of all calls. `ratio` is this sum divided by the number of instructions of the blocking
call `_train`. `largest` is the number of instructions of the most expensive call. The coefficients equal the
coefficients of the integer model.

Each call checks and updates the checksum of the trainer, and `_train_commit` compares the checksums of the
samples and of the solution. To keep the ratio near 1, make few calls: push blocks of samples, and run several
steps per call.

| solver | bits | level | push | steps | calls | sum | blocking | ratio | largest |
| --- | --: | --- | --: | --: | --: | --: | --: | --: | --: |
"""


@dataclass(frozen=True)
class Sum:
    """Instruction counts of a training in slices."""

    calls: int
    total: int
    largest: int


def built(plan: Plan, level: str) -> CortexM:
    """Generate and link a program with every training call; return the emulated core."""
    p, n = plan.name, plan.sizes["n"]
    calls = (f"{p}_train_begin(&trainer) + {p}_train_push(&trainer, y[0]) "
             f"+ {p}_train_push_block(&trainer, y, 1) + {p}_train_run(&trainer, 1) "
             f"+ {p}_train_commit(&trainer, &model) + {p}_train(&trainer, &model, y)")
    return counting(plan, f'#include "{p}.h"\n{p}_model_t model; {p}_trainer_t trainer; '
                          f"{p}_target_t y[{n}];\n"
                          f"int main(void) {{ return {calls}; }}\n", level)


def sliced(core: CortexM, plan: Plan, y: Raw, samples: int, steps: int) -> Sum:
    """Train in slices of some samples and steps; write variable ``model``."""
    p, counts, at = plan.name, [], core.symbols["y"]
    width = np.dtype(wire_dtype(plan.signals["y_raw"].format.c_type)).itemsize

    def call(name: str, *arguments: int | str) -> int:
        status, count = core.call(f"{p}_train_{name}", "trainer", *arguments)
        counts.append(count)
        assert status in (DeviceStatus.OK, DeviceStatus.PENDING), DeviceStatus(status).name
        return status

    call("begin")
    for i in range(0, len(y), samples):
        if samples == 1:
            call("push", int(y[i]))
        else:
            call("push_block", at + i * width, min(samples, len(y) - i))
    while call("run", steps) == DeviceStatus.PENDING:
        pass
    call("commit", "model")
    return Sum(len(counts), sum(counts), max(counts))


def compare(core: CortexM, plan: Plan, alpha: Raw) -> None:
    """Compare the coefficients of the core's model with the integer model."""
    assert np.array_equal(core.read_members("model", plan.memory)["alpha"], alpha.ravel())


def measured(plan: Plan, level: str, slices: tuple[tuple[int, int], ...]) -> tuple[int, list[Sum]]:
    """Return the count of the blocking call, and the sums of trainings in slices."""
    y, model, found = targets(plan.sizes["n"], 0), open_model(plan), []
    model.train(None, y)
    alpha = model.state()["alpha"]
    core = built(plan, level)
    core.write("y", y.astype(wire_dtype(plan.signals["y_raw"].format.c_type)))
    _, blocking = core.call(f"{plan.name}_train", "trainer", "model", "y")
    compare(core, plan, alpha)
    for samples, steps in slices:
        found.append(sliced(core, plan, y, samples, steps))
        compare(core, plan, alpha)
    return blocking, found


def rows() -> Iterator[str]:
    """Yield the rows of the table."""
    for solver, word, slices in SLICES:
        for name, level in LEVELS:
            blocking, sums = measured(planned(solver, word, N, SIGMA, LAMBDA), level, slices)
            for (samples, steps), each in zip(slices, sums, strict=True):
                yield (f"| {solver} | {word} | {name} | {samples} | {steps} | {each.calls} | "
                       f"{each.total:,} | {blocking:,} | {each.total / blocking:.3f} | {each.largest:,} |")


def main() -> None:
    """Run all measurements, and write the page."""
    PAGE.write_text(HEAD + "\n".join(rows()) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
