"""Estimate every core on three FPGA families, and the solver in more lanes, and write docs/estimates.md.

``python -m kerncast.benchmarks.estimates`` generates the examples, maps their cores with yosys and places
them on an ECP5 with nextpnr; it takes minutes. Clocks are those of the plan's formula, which tests hold to
simulations.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from ..codegen.rtl import CORES, generate_rtl
from ..hw.rtl.estimate import Estimate, estimates
from ..hw.rtl.synthesis import FAMILIES, Placement
from ..sim.planner import make_plan
from ..sim.spec import Spec
from .papers.common import axes, save

ROOT = Path(__file__).resolve().parent.parent
PAGE, FIGURE = ROOT / "docs" / "estimates.md", "estimates-lanes"
COMMAND = "python -m kerncast.benchmarks.estimates"
#: Example and its cores.
EXAMPLES = {"digits": ("predictor", "learner"), "ecg": ("solver", "trainer")}
#: The core that is placed in more lanes too, and the lanes.
SWEPT, LANES = "solver", (2,)
PART, CLOCK, SEEDS = "25k", 100.0, (1,)

TEXT = """# What the cores take of an FPGA

Estimates of the examples' cores, 16 bits: the predictor and the learner of `digits` (41 vectors of 64
columns), the solver and the trainer of `ecg` (n = 256), one multiplier in the inner loop. `kerncast estimate
FOLDER` makes the same of any generated folder. Cells are those that yosys maps to; Fmax is that of nextpnr on
an ECP5-{part}, without pins, the best of the placer's seeds {seeds}. No board was used.

## Cells

| core | family | LUT | flip-flops | carry cells | multipliers | block RAM | LUT RAM |
|---|---|--:|--:|--:|--:|--:|--:|
{cells}

A carry cell is CCU2C (two bits), SB_CARRY (one) or CARRY4; a multiplier MULT18X18D, SB_MAC16 or DSP48E1; a
block RAM DP16KD (18 kbit), SB_RAM40 or SB_SPRAM, RAMB18 or RAMB36. An UltraPlus has 5,280 look-up tables and
8 multipliers.

## Speed on ECP5-{part}

| core | Fmax, MHz | {clock:g} MHz reached | fullest resource | operation | clocks | samples a second |
|---|--:|---|---|---|--:|--:|
{speed}

Clocks are those of one operation of full size by the plan's formula, when no stream waits; `--simulate`
counts them. A system or a training is of {n} samples. A prediction begins before the end of the one before:
its samples a second are those of samples that wait.

## Lanes

The {swept} of `ecg` with 1 to {most} multipliers in its inner loop:

| lanes | LUT | flip-flops | multipliers | block RAM | Fmax, MHz | clocks | samples a second |
|--:|--:|--:|--:|--:|--:|--:|--:|
{lanes}

![Samples a second and look-up tables against lanes](figures/{figure}.svg)

Made by `{command}`, not by hand.
"""


def measured(example: str, cores: Sequence[str], lanes: Sequence[int] = (1,),
             families: Sequence[str] = tuple(FAMILIES)) -> list[Estimate]:
    """Estimates of cores of an example."""
    plan = make_plan(Spec.load(ROOT / "examples" / f"{example}.toml"))
    with tempfile.TemporaryDirectory() as folder:
        generate_rtl(plan, folder)
        return list(estimates(plan, Path(folder), [core for core in CORES if core.name in cores],
                              [FAMILIES[name] for name in families], lanes=lanes, part=PART, clock=CLOCK,
                              seeds=SEEDS, step=lambda text: print(f"{example}: {text}", flush=True)))


def _placed(one: Estimate) -> Placement:
    assert one.placement is not None
    return one.placement


def _speed(one: Estimate) -> str:
    placed = _placed(one)
    share, kind = max((used / there, kind) for kind, (used, there) in placed.used.items())
    reached = "yes" if placed.fmax >= CLOCK else "no"
    return (f"| {one.core} | {placed.fmax:.1f} | {reached} | {kind} {share:.0%} | {one.operation} | "
            f"{one.cycles:,} | {one.samples_per_second:,.0f} |")


def _lane(one: Estimate) -> str:
    area = one.area["ecp5"]
    return (f"| {one.lanes} | {area.lut:,} | {area.ff:,} | {area.dsp} | {area.ram} | "
            f"{_placed(one).fmax:.1f} | {one.cycles:,} | {one.samples_per_second:,.0f} |")


def page(found: Sequence[Estimate], swept: Sequence[Estimate]) -> str:
    """The whole page."""
    cells = [f"| {one.core} | {FAMILIES[name].title} | " + " | ".join(
        f"{n:,}" for n in area.as_dict().values()) + " |" for one in found for name, area in one.area.items()]
    return TEXT.format(
        part=PART, clock=CLOCK, seeds=", ".join(map(str, SEEDS)), cells="\n".join(cells),
        speed="\n".join(_speed(one) for one in found), lanes="\n".join(_lane(one) for one in swept),
        n=swept[0].samples, swept=SWEPT, most=max(one.lanes for one in swept), figure=FIGURE, command=COMMAND)


def draw(swept: Sequence[Estimate]) -> None:
    """Samples a second and look-up tables, each over that of one lane."""
    figure, (ax,) = axes(1, 4.8)
    lanes = [one.lanes for one in swept]
    for label, values in (("samples a second", [one.samples_per_second or 0.0 for one in swept]),
                          ("look-up tables", [float(one.area["ecp5"].lut) for one in swept]),
                          ("Fmax", [_placed(one).fmax for one in swept])):
        ax.plot(lanes, [value / values[0] for value in values], marker="o", label=label)
    ax.set_xscale("log", base=2)
    ax.set_xticks(lanes, [str(number) for number in lanes])
    ax.set_xlabel("lanes")
    ax.set_ylabel("over one lane")
    ax.legend()
    save(figure, FIGURE)


def main() -> None:
    """Measure and write."""
    found = [one for example, cores in EXAMPLES.items() for one in measured(example, cores)]
    swept = [one for one in found if one.core == SWEPT] + measured("ecg", (SWEPT,), LANES, ("ecp5",))
    PAGE.write_text(page(found, swept), encoding="utf-8", newline="\n")
    draw(swept)


if __name__ == "__main__":
    main()
