"""Measure the online learner's cost per sample as its dictionary grows.

``python -m kerncast.benchmarks.online_cost`` counts the instructions of generated C on an emulated Cortex-M4
and the distance terms of the integer model per sample with a full dictionary, measures the integer model's
time, and fits a power of N to each.  It needs arm-none-eabi-gcc and unicorn.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from ..codegen.generate import generate
from ..hw.hil.board_backend import Tally, open_board
from ..sim._arrays import Words
from ..sim.model.online.lms import LmsModel
from ..sim.plan import Plan
from ..sim.planner import make_plan
from ..sim.spec import Spec
from .papers.common import axes, save

COMMAND = "python -m kerncast.benchmarks.online_cost"
PAGE = Path(__file__).resolve().parent.parent / "docs" / "measured" / "online-cost.md"
BUDGETS = (32, 64, 128, 256, 512, 1024)
COLUMNS, SAMPLES, TIMED = 8, 64, 20_000
#: How far an exponent may be from 1.
TOLERANCE = 0.05
#: What is counted, and so does not hang on the machine.
COUNTED = ("instructions", "distance terms")

TEXT = """# Cost of a sample for the online learner

`{command}` writes this page. FKLMS (fast kernel least mean squares) runs with a full dictionary of N vectors
of {columns} columns, in 16-bit integers, on a stream of random samples without repeats. The generated C runs
on an emulated {board}, compiled by {compiler}. When the dictionary is full, the instructions of {samples}
samples are counted one by one. All values equal the values of the integer model. A distance term is one
column of one distance. The integer model counts these terms for the same samples, and the plan states the
worst case for any sample. The last column is the CPU time of the integer model, compiled by numba, per
sample. It is measured over {timed:,} samples.

The number of instructions grows in proportion to N.

| N | instructions, mean | worst seen | distance terms, mean | worst seen | worst of the plan | model, µs |
|--:|--:|--:|--:|--:|--:|--:|
{rows}

![Cost of a sample against N]({figure})

| fit over all N | exponent |
|---|--:|
{fits}

The exponent is the slope of a straight line fitted to the logarithms of the means. A fixed cost per call
reduces the exponent, and searches for new nearest neighbours increase it. One search computes up to N
distances. On average, each eviction removes the nearest neighbour of about one vector. In the worst case of
the plan, all vectors lose their nearest neighbour in one eviction.
"""


def cost_plan(budget: int) -> Plan:
    """Plan FKLMS at 16 bits with the given dictionary size."""
    return make_plan(Spec(
        model={"name": "cost", "algorithm": "kernel_lms"}, input={"word": "s16f15", "columns": COLUMNS},
        output={"word": "s16f15"}, kernel={"sigma": 0.7}, online={"budget": budget, "eta": 0.2}))


def stream(samples: int) -> tuple[Words, Words]:
    """Return samples x (m, D) and y (m,) in ADC counts."""
    x = np.random.default_rng(1).integers(-30000, 30000, (samples, COLUMNS))
    return x, np.clip(np.sin(x / 9000).sum(1) * 4000, -32768, 32767).astype(np.int64)


def one_by_one(plan: Plan, samples: int) -> tuple[Words, dict[str, Words]]:
    """Count the distance terms (m,) of each sample; also return all results.

    Only samples after the dictionary is full are counted.
    """
    budget = plan.sizes["N"]
    x, y = stream(budget + samples)
    model = LmsModel(plan)
    answers, terms = [model.update(x[:budget], y[:budget])], []
    for m in range(budget, budget + samples):
        before = model.state()
        answers.append(model.update(x[m:m + 1], y[m:m + 1]))
        rank, near = before["age_order"], before["nearest_idx"]
        slot = int(np.argmax(model.state()["age_order"]))  # the newest took the place of the one that left
        lost = (near == slot) & (rank > 0) & (np.arange(budget) != slot)
        searched = int((rank[lost] - (rank[lost] > rank[slot])).sum())  # all its elders but the one that left
        terms.append(COLUMNS * (2 * budget - 1 + searched))
    return np.array(terms), {name: np.concatenate([a[name] for a in answers]) for name in ("f", "status")}


def instructions(plan: Plan, samples: int, answers: dict[str, Words]) -> tuple[Words, dict[str, object]]:
    """Count instructions (m,) per sample with a full dictionary; check all values."""
    budget = plan.sizes["N"]
    x, y = stream(budget + samples)
    with tempfile.TemporaryDirectory() as folder:
        generate(plan, Path(folder) / "c", "cortex-m4")
        board = open_board(Path(folder) / "c", "emu:mps2-an386:unicorn:gcc", plan=plan,
                           build_dir=Path(folder) / "b")
        try:
            found, counts = [board.update(x[:budget], y[:budget])], []
            for m in range(budget, budget + samples):
                board.tallies["update"] = Tally()
                found.append(board.update(x[m:m + 1], y[m:m + 1]))
                counts.append(board.tallies["update"].units)
            costs = board.costs()
        finally:
            board.close()
    for name, words in answers.items():
        if not np.array_equal(np.concatenate([answer[name] for answer in found]), words):
            raise SystemExit(f"N = {budget}: the board answers other words in {name} than the model")
    return np.array(counts, dtype=np.int64), costs


def seconds(plan: Plan) -> float:
    """Return the integer model's CPU time per sample, the best of three runs."""
    x, y = stream(TIMED)
    model, budget = LmsModel(plan), plan.sizes["N"]
    model.update(x[:budget], y[:budget])
    best = float("inf")
    for part in range(3):
        batch = slice(budget + part * TIMED // 4, budget + (part + 1) * TIMED // 4)
        start = process_time()
        model.update(x[batch], y[batch])
        best = min(best, process_time() - start)
    return best / (TIMED // 4)


def exponent(budgets: Sequence[int], costs: Sequence[float]) -> float:
    """Return the exponent of N in a power law fitted to the costs."""
    return float(np.polyfit(np.log(budgets), np.log(costs), 1)[0])


def figure(curves: dict[str, Sequence[float]]) -> str:
    """Plot each cost relative to the smallest dictionary; return the path."""
    drawing, (panel,) = axes(1, 4.5, 3.2)
    for (name, costs), marker in zip(curves.items(), "os^", strict=True):
        panel.loglog(BUDGETS, np.array(costs) / costs[0], marker=marker, label=name)
    panel.loglog(BUDGETS, np.array(BUDGETS) / BUDGETS[0], "k:", label="proportional to N")
    panel.set(xlabel="N", ylabel=f"cost of a sample, N = {BUDGETS[0]} is 1", xticks=BUDGETS,
              xticklabels=[str(budget) for budget in BUDGETS])
    panel.minorticks_off()
    panel.legend()
    return save(drawing, "online-cost")


def main() -> int:
    """Measure everything and write the page."""
    rows, costs = [], {}
    curves: dict[str, list[float]] = {"instructions": [], "distance terms": [], "model's time": []}
    for budget in BUDGETS:
        plan = cost_plan(budget)
        terms, answers = one_by_one(plan, SAMPLES)
        counts, costs = instructions(plan, SAMPLES, answers)
        time = seconds(plan)
        for name, cost in zip(curves, (counts.mean(), terms.mean(), time), strict=True):
            curves[name].append(float(cost))
        worst: Any = plan.operations["update"]["distance_terms"]
        assert terms.max() <= worst.count
        rows.append(f"| {budget} | {counts.mean():,.0f} | {counts.max():,} | {terms.mean():,.0f} | "
                    f"{terms.max():,} | {worst.count:,} | {time * 1e6:.3g} |")
        print(rows[-1], flush=True)
    fits, missed = [], []
    for name, values in curves.items():
        power = exponent(BUDGETS, values)
        fits.append(f"| {name} | {power:.3f} |")
        if name in COUNTED and abs(power - 1) > TOLERANCE:
            missed.append(f"{name}: exponent {power:.3f} is not within {TOLERANCE} of 1")
    PAGE.write_text(TEXT.format(
        columns=COLUMNS, board="Cortex-M4 (mps2-an386)", compiler=costs["compiler"], samples=SAMPLES,
        timed=TIMED,
        rows="\n".join(rows), figure=figure(curves), fits="\n".join(fits),
        command=COMMAND), encoding="utf-8")
    print("\n".join([*fits, *missed]))
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
