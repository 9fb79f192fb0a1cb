"""Measure updates in calls of bounded time: the largest, and their sum.

``python -m kerncast.benchmarks.bounded_update`` writes docs/measured/bounded-update.md. Every prediction, and
the state after the last sample, is compared with the integer model.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np

from kerncast.benchmarks.cortex_m import CortexM
from kerncast.benchmarks.instructions import LEVELS, counting
from kerncast.sim._arrays import Raw
from kerncast.sim.data import load_dataset
from kerncast.sim.model.online.lms import LmsModel
from kerncast.sim.plan import Plan, wire_dtype
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec
from kerncast.sim.statuses import DeviceStatus

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "measured" / "bounded-update.md"
#: Samples after the dictionary is full, of which the calls are counted.
SAMPLES = 200

HEAD = f"""# Updates in calls of bounded time

`python -m kerncast.benchmarks.bounded_update` writes this page. It counts the instructions of each call on a
Cortex-M4 (-O2 with DSP instructions, in the Unicorn emulator), for {SAMPLES} samples after the dictionary is
full. `update` is the blocking call of a plan without `bounded_update`, `begin` and `run` are the calls of a
plan with it. Each `run` carries out one search for a nearest center. `ratio` is the sum of all calls of
begin and run divided by that of the blocking calls. `searches` is their mean number per sample, and `most`
the largest. All values equal those of the integer model.

The streams are that of `examples/equaliser.toml` (N = 100 centers of 5 columns), without `quantise` and with
the reduction of the row, and random samples (N = 128 centers of 8 columns, of `online-cost.md`). In the last
two rows, one center is the nearest of most others, and the sample after the dictionary is full replaces it.
For that sample, the largest of begin and run is a small part of the blocking call.

| stream | reduction | update, mean | largest | begin, largest | run, largest | searches | most | ratio |
| --- | --- | --: | --: | --: | --: | --: | --: | --: |
"""


@dataclass(frozen=True)
class Sample:
    """Instruction counts of the calls for one sample, and its number of searches."""

    update: int
    runs: list[int]
    searches: int

    @property
    def total(self) -> int:
        """Return the number of instructions of all calls."""
        return self.update + sum(self.runs)


def plan_of(stream: str, reduction: str, bounded: bool) -> Plan:
    """Plan a learner for one of the streams."""
    online = {"eta": 0.2, "reduction": reduction, **({"bounded_update": True} if bounded else {})}
    if stream == "equaliser":
        return make_plan(Spec(
            model={"name": "cost", "algorithm": "kernel_lms"}, input={"word": "s12f8", "columns": 5},
            output={"word": "s3f0"}, kernel={"sigma": 1.5}, online={"budget": 100, **online}))
    return make_plan(Spec(
        model={"name": "cost", "algorithm": "kernel_lms"}, input={"word": "s16f15", "columns": 8},
        output={"word": "s16f15"}, kernel={"sigma": 0.7}, online={"budget": 128, **online}))


def samples(stream: str, plan: Plan) -> tuple[Raw, Raw]:
    """Return samples x (m, D) and targets y (m,) in ADC counts."""
    count = plan.sizes["N"] + SAMPLES
    if stream == "equaliser":
        data = load_dataset(Spec.load(ROOT / "examples" / "equaliser.toml"))
        return data.x_raw[:count], data.y_raw[:count]
    x = np.random.default_rng(1).integers(-30000, 30000, (count, 8))
    return x, np.clip(np.sin(x / 9000).sum(1) * 4000, -32768, 32767).astype(np.int64)


def star(plan: Plan) -> tuple[Raw, Raw]:
    """Return N + 1 samples; the last evicts the nearest center of most others.

    The second sample is the center of the others, which lie on the axes, each at least twice as far from it
    as the next. The first sample is its nearest one, so that the second is evicted.
    """
    budget, columns = plan.sizes["N"], plan.sizes["D"]
    word = plan.signals["x_raw"].format
    finest = max(2, 1 << max(0, word.bits - plan.signals["x"].format.bits + 2))
    levels = [word.hi // 2 // 2**k for k in range(word.bits) if word.hi // 2 // 2**k > 2 * finest]
    axes = [sign * np.eye(columns, dtype=np.int64)[j] for j, sign in product(range(columns), (1, -1))][1:]
    arms = [level * axis for level in levels for axis in axes]
    far = [np.full(columns, word.hi - 1 - finest * k) for k in range(max(0, budget - 2 - len(arms)))]
    center = np.zeros(columns, dtype=np.int64)
    rows = [center + finest * np.eye(columns, dtype=np.int64)[0], center, *arms, *far][:budget]
    fresh = np.full(columns, word.lo)
    return np.array([*rows, fresh]), np.resize([1, -1], budget + 1)


def built(plan: Plan, samples_in_ram: int) -> CortexM:
    """Generate and link a program with all calls; return the emulated core."""
    p = plan.name
    split = f" + {p}_lms_update_begin(&model, x, 0, &f) + {p}_lms_update_run(&model, 1)"
    return counting(plan, f'#include "{p}.h"\n{p}_model_t model; {p}_in_t x[{samples_in_ram}]; {p}_out_t f;\n'
                          f"int main(void) {{ {p}_model_init(&model); return {p}_lms_update(&model, x, 0, &f)"
                          f"{split if plan.bounded_update else ''}; }}\n", dict(LEVELS)["dsp"])


def counted(plan: Plan, x: Raw, y: Raw) -> list[Sample]:
    """Count the calls of every sample; compare all values with the model."""
    p, found, model = plan.name, [], LmsModel(plan)
    word = np.dtype(wire_dtype(plan.signals["x_raw"].format.c_type))
    f_type = np.dtype(wire_dtype(plan.word_type))
    begin, learn = (("lms_update_begin", model.update_begin) if plan.bounded_update else
                    ("lms_update", model.update))
    core = built(plan, x.size)
    core.write("x", x.astype(word).ravel())
    for i in range(len(y)):
        at = core.symbols["x"] + i * x.shape[1] * word.itemsize
        status, update = core.call(f"{p}_{begin}", "model", at, int(y[i]) % (1 << 32), "f")
        expected = learn(x[i:i + 1], y[i:i + 1])
        assert (status, core.read("f", f_type.type, 1)[0]) == (expected["status"][0], expected["f"][0])
        left = plan.bounded_update and model.state()["pending"][0] > 0
        runs, status = [], DeviceStatus.PENDING
        while plan.bounded_update and status == DeviceStatus.PENDING:
            status, count = core.call(f"{p}_lms_update_run", "model", 1)
            assert status == model.update_run(1)
            runs.append(count)
        found.append(Sample(update, runs, len(runs) if left else 0))
    compare(core, plan, model.state())
    return found


def compare(core: CortexM, plan: Plan, state: dict[str, Raw]) -> None:
    """Compare every member of the core's model with the integer model."""
    for name, found in core.read_members("model", plan.memory).items():
        assert np.array_equal(found, state[name].ravel()), name


def row(stream: str, reduction: str, title: str, worst: bool = False) -> str:
    """Measure one stream with both plans; return its row of the table."""
    found = []
    for bounded in (False, True):
        plan = plan_of(stream, reduction, bounded)
        x, y = star(plan) if worst else samples(stream, plan)
        found.append(counted(plan, x, y)[plan.sizes["N"]:])
    whole, split = np.array([each.update for each in found[0]]), found[1]
    searches = np.array([each.searches for each in split])
    ratio = sum(each.total for each in split) / whole.sum()
    return (f"| {title} | {reduction} | {whole.mean():,.0f} | {whole.max():,} | "
            f"{max(each.update for each in split):,} | {max(max(each.runs) for each in split):,} | "
            f"{searches.mean():.2f} | {searches.max()} | {ratio:.3f} |")


def rows() -> Iterator[str]:
    """Yield the rows of the table."""
    for stream, reduction in product(("equaliser", "random"), ("fklms", "fmklms")):
        yield row(stream, reduction, stream)
    for stream in ("equaliser", "random"):
        yield row(stream, "fklms", f"one center near most others ({stream})", worst=True)


def main() -> None:
    """Run all measurements, and write the page."""
    lines = []
    for line in rows():
        print(line, flush=True)
        lines.append(line)
    PAGE.write_text(HEAD + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
