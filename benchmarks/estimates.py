"""Estimate every core on three FPGA families and with more lanes.

``python -m kerncast.benchmarks.estimates`` generates the examples, maps their cores with yosys and places
them on an ECP5 with nextpnr; it takes a quarter of an hour and more. Clocks are those of the plan's formula,
which tests hold to simulations.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from kerncast.codegen.rtl import CORES, generate_rtl
from kerncast.hw.rtl.estimate import PLACED, Estimate, Placing, estimates
from kerncast.hw.rtl.synthesis import FAMILIES
from kerncast.lab.figures.lanes import draw_lanes
from kerncast.lab.workflow import plan_and_vectors
from kerncast.sim.spec import Spec

ROOT = Path(__file__).resolve().parent.parent
PAGE, FIGURE = ROOT / "docs" / "measured" / "estimates.md", ROOT / "docs" / "figures" / "estimates-lanes.svg"
COMMAND = "python -m kerncast.benchmarks.estimates"
#: Example, its cores, and the lanes of each.
EXAMPLES = {"digits": {"predictor": (1, 2, 4), "learner": (1, 2, 4)},
            "ecg": {"solver": (1, 2, 4), "trainer": (1,)}}
#: Minutes for a run of the placer.
LIMIT = 30
PLACING = Placing("25k", 100.0, (1,), 60.0 * LIMIT)
#: Text of the page for Fmax of a core that was not placed.
UNPLACED = {"E341": "does not fit", "E344": f"not placed within {LIMIT} minutes"}

TEXT = """# FPGA resources and clock rates of the cores

`{command}` makes this page. The table holds estimates for the RTL (register transfer level) cores of two
examples at 16 bits: predictor and learner of `digits` (41 vectors of 64 columns), solver and trainer of `ecg`
(n = 256). Each core has one hardware multiplier in its inner loop, the default of `kerncast gen`. `kerncast
estimate FOLDER` estimates a generated folder. Cells come from yosys. Fmax, the highest clock frequency, comes
from nextpnr for an ECP5-{part}, without pins, with placer seed {seeds}. No board was used.

All cores fit a small FPGA and run above 100 MHz on the ECP5.

## Cells

| core | family | LUT | flip-flops | carry cells | DSP blocks | block RAM | LUT RAM |
|---|---|--:|--:|--:|--:|--:|--:|
{cells}

Carry cells are CCU2C (two bits), SB_CARRY (one bit) or CARRY4. DSP blocks are MULT18X18D, SB_MAC16 or
DSP48E1. Block RAMs are DP16KD (18 kbit), SB_RAM40 or SB_SPRAM, RAMB18 or RAMB36. An UltraPlus has 5,280
look-up tables (LUTs) and 8 DSP blocks.

## Speed on ECP5-{part}

| core | Fmax, MHz | fullest resource | operation | clocks | period | samples/s |
|---|--:|---|---|--:|--:|--:|
{speed}

The clocks are those of one full-size operation while no stream stalls, from the plan's formula; `--simulate`
counts them. The period is the number of clocks from one operation to the next. It is shorter for a
prediction, which starts before the previous one ends. A system or a training run has {n} samples. Samples per
second are Fmax divided by the period, times the number of samples per operation.

## Lanes

The table lists cores with more hardware multipliers (lanes) in the inner loop, on the ECP5-{part}. Only
cores with one lane are tested for {clock:g} MHz.

| core | lanes | LUT | flip-flops | DSP blocks | block RAM | Fmax, MHz | clocks | period | samples/s |
|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|
{lanes}

![Samples per second, look-up tables and DSP blocks against lanes](../figures/{figure})

For your own plan, run `kerncast estimate FOLDER --lanes 1,2,4 --plot lanes.svg`.
"""


def measured(example: str, core: str, lanes: Sequence[int] = (1,),
             families: Sequence[str] = (PLACED,)) -> list[Estimate]:
    """Estimate the cores of an example."""
    spec = ROOT / "examples" / f"{example}.toml"
    plan, _ = plan_and_vectors(Spec.load(spec), spec.parent, vectors=False)
    with tempfile.TemporaryDirectory() as folder:
        generate_rtl(plan, folder)
        return list(estimates(plan, Path(folder), [one for one in CORES if one.name == core],
                              [FAMILIES[name] for name in families], lanes=lanes, placing=PLACING,
                              step=lambda text: print(f"{example}: {text}", flush=True)))


def cell_rows(one: Estimate) -> list[str]:
    """Return the rows of the table of cells."""
    return [f"| {one.core} | {FAMILIES[name].title} | " + " | ".join(
        f"{count:,}" for count in area.as_dict().values()) + " |" for name, area in one.area.items()]


def speed_row(one: Estimate) -> str:
    """Return a row of the table of speeds."""
    placed = one.placement
    assert placed is not None
    kind, share = placed.fullest
    return (f"| {one.core} | {placed.fmax:.1f} | {kind} {share:.0%} | {one.operation} | "
            f"{_rate(one)} |")


def lane_row(one: Estimate) -> str:
    """Return a row of the table of lanes."""
    area = one.area[PLACED]
    fmax = UNPLACED[one.problems[0].code] if one.placement is None else f"{one.placement.fmax:.1f}"
    return (f"| {one.core} | {one.lanes} | {area.lut:,} | {area.ff:,} | {area.dsp} | {area.ram} | {fmax} | "
            f"{_rate(one)} |")


def _rate(one: Estimate) -> str:
    rate = one.samples_per_second
    return (f"{one.cycles:,} | {one.period:,.12g} | "
            + ("-" if rate is None else f"{rate:,.0f}"))


def page(single: Sequence[Estimate], swept: Sequence[Estimate]) -> str:
    """Write the page of one-lane cores in every family, and of cores with more lanes."""
    return TEXT.format(
        part=PLACING.part, clock=PLACING.clock, seeds=", ".join(map(str, PLACING.seeds)),
        cells="\n".join(row for one in single for row in cell_rows(one)),
        speed="\n".join(map(speed_row, single)), lanes="\n".join(map(lane_row, swept)),
        n=max(one.samples for one in single), figure=FIGURE.name, command=COMMAND)


def main() -> None:
    """Measure everything and write the page."""
    single, swept = [], []
    for example, cores in EXAMPLES.items():
        for core, (_, *more) in cores.items():
            one, = measured(example, core, families=tuple(FAMILIES))
            others = measured(example, core, more) if more else []
            single.append(one)
            swept += [replace(one, area={PLACED: one.area[PLACED]}), *others] if others else []
    PAGE.write_text(page(single, swept), encoding="utf-8", newline="\n")
    draw_lanes(swept, FIGURE)


if __name__ == "__main__":
    main()
