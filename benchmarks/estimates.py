"""Estimate every core on three FPGA families, with several lanes and three seeds.

``python -m kerncast.benchmarks.estimates`` generates the examples, synthesises their cores with yosys, and
places them on an ECP5 with nextpnr. This takes hours. Clock cycles come from the plan's formula, which tests
compare with simulations. Each result is written to ``build/estimates.json`` at once. Therefore, an
interrupted run can be resumed, and a core is measured again only if its code has changed. If names of cores
are given, such as ``"banded solver"``, only these are measured, and the page is not changed. With
``--known``, nothing is measured, and the page is written from the results in the file.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kerncast.codegen.rtl import RtlCore, core_named, generate_rtl, rtl_sources
from kerncast.hw.rtl.estimate import PLACED, Estimate, Placing, combined
from kerncast.hw.rtl.synthesis import FAMILIES, Area, Placement, place, synthesise
from kerncast.lab.figures.lanes import draw_lanes
from kerncast.lab.workflow import plan_and_vectors
from kerncast.sim._output_files import write_whole
from kerncast.sim.errors import KerncastError
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec

ROOT = Path(__file__).resolve().parent.parent
PAGE, FIGURE = ROOT / "docs" / "measured" / "estimates.md", ROOT / "docs" / "figures" / "estimates-lanes.svg"
KEPT = ROOT / "build" / "estimates.json"
COMMAND = "python -m kerncast.benchmarks.estimates"
#: Minutes for a run of the placer.
LIMIT = 30
PLACING = Placing("25k", 100.0, (1, 2, 3), 60.0 * LIMIT)
#: Text of the page for Fmax of a core that was not placed.
UNPLACED = {"E341": "does not fit", "E344": f"not placed within {LIMIT} minutes"}


@dataclass(frozen=True)
class Case:
    """Core of an example, with the numbers of lanes to measure.

    Parameters
    ----------
    example, core : str
        Names of the example and of the core.
    lanes : tuple of int
    solver : str, optional
        Value of the key solver, if it differs from that of the example.
    bias : bool, optional
        Whether an intercept is trained.
    tables : dict, optional
        Spec of a core without an example.
    part : str, optional
        The ECP5 on which the core is placed.
    """

    example: str
    core: str
    lanes: tuple[int, ...] = (1, 2, 4)
    solver: str = ""
    bias: bool = False
    tables: dict[str, Any] | None = None
    part: str = PLACING.part

    def plan(self) -> Plan:
        """Return the plan of the example or of `tables`."""
        if self.tables is not None:
            return make_plan(Spec(**self.tables))
        spec = ROOT / "examples" / f"{self.example}.toml"
        tables = tomllib.loads(spec.read_text(encoding="utf-8"))
        if self.solver:
            tables["toeplitz"]["solver"] = self.solver
        if self.bias:
            tables["toeplitz"]["bias"] = True
        return plan_and_vectors(Spec(**tables), spec.parent, vectors=False)[0]


#: Kernel RLS with 16 cosines: with 1 and the inputs, it has 25 features.
KERNEL_RLS = {"model": {"name": "waves", "algorithm": "online_kernel_rls"},
              "input": {"word": "s12f0", "columns": 8}, "output": {"word": "s12f0"},
              "kernel": {"sigma": 2000.0}, "rls": {"features": 16}, "numbers": {"word": 16}}
#: The record of `ecg`, with a kernel whose factor is geometric.
LAPLACIAN = {"model": {"name": "ecg", "algorithm": "toeplitz_rls"}, "input": {"word": "u16f0"},
             "output": {"word": "u12f0", "offset": 2048, "gain": 0.2},
             "kernel": {"type": "laplacian", "sigma": 3.0},
             "toeplitz": {"n": 256, "lambda": 0.1, "scheme": "uniform", "solver": "banded"},
             "numbers": {"word": 16}}
#: Cores by their name on the page.
CASES = {"predictor": Case("digits", "predictor"), "predictor, D = 1": Case("ecg", "predictor"),
         "learner": Case("digits", "learner"),
         "solver": Case("ecg", "solver"), "trainer": Case("ecg", "trainer"),
         "predictor, intercept": Case("ecg", "predictor", bias=True),
         "solver, intercept": Case("ecg", "solver", bias=True),
         "trainer, intercept": Case("ecg", "trainer", bias=True),
         "banded solver": Case("ecg", "solver", (1,), "banded"),
         "banded trainer": Case("ecg", "trainer", (1,), "banded"),
         "geometric solver": Case("", "solver", (1,), tables=LAPLACIAN),
         "fitted values": Case("ecg", "fitted", (1,)),
         "stream": Case("ecg_stream_fir", "stream", (1, 4, 16)),
         "stream, ECP5-45k": Case("ecg_stream_fir", "stream", (32,), part="45k"),
         "kernel RLS learner, ECP5-45k": Case("", "learner", (4,), tables=KERNEL_RLS, part="45k")}

TEXT = """# FPGA resources and clock rates of the cores

`{command}` writes this page. The page estimates the size and the clock rate of the RTL (register transfer
level) cores of three examples at 16 bits. The cores are the predictor and the learner of `digits` (41 vectors
of 64 columns), and the predictor, the solver and the trainer of `ecg` (one column, n = 256). Each core of an
example has one hardware multiplier in its inner loop, which is the default of `kerncast gen`. The solver and
the trainer use Levinson's recursion. The banded cores are for `ecg` with `solver = "banded"`, the geometric
solver is the banded one for a Laplacian kernel, and the cores with an intercept are for `ecg` with `bias =
true`. The core of fitted values is that of `ecg`. The stream
core is that of `ecg_stream_fir`, a filter of 61 taps. With 32 lanes, it accepts a sample in each clock cycle,
but an ECP5-25k has only 28 DSP blocks. The kernel RLS learner belongs to no example: it has 8 inputs, 16
cosines and four lanes. `kerncast estimate FOLDER` makes the same estimates for a generated folder. yosys
counts the cells. nextpnr estimates Fmax, the highest clock frequency, for an ECP5-{part} without I/O pins,
with placer seeds {seeds}. The kernel RLS learner uses all 28 DSP blocks of an ECP5-25k, where it does not
reach 100 MHz. Therefore both are placed on an ECP5-45k. No board was used.

{verdict}

## Cells

| core | family | LUT | flip-flops | carry cells | DSP blocks | block RAM | LUT RAM |
|---|---|--:|--:|--:|--:|--:|--:|
{cells}

Carry cells are CCU2C (two bits), SB_CARRY (one bit) or CARRY4. DSP blocks are MULT18X18D, SB_MAC16 or
DSP48E1. The column "block RAM" counts DP16KD and PDPW16KD (18 kbit) on ECP5, SB_RAM40 (4 kbit) and SB_SPRAM
(256 kbit, single-port) on iCE40, and RAMB18E1 and RAMB36E1 on the 7 series. An UltraPlus has 5,280 look-up
tables (LUTs) and 8 DSP blocks.

## Speed on ECP5-{part}

| core | Fmax, MHz | fullest resource | operation | clocks | period | samples/s |
|---|--:|---|---|--:|--:|--:|
{speed}

Fmax and the number of samples per second are for the best seed. The column `clocks` lists the clock cycles of
one full-size operation if no stream stalls. They come from the formula of the plan. To count these clock
cycles in a simulation, use `kerncast estimate --simulate`. The period is the number of clock cycles from the
start of one operation to the start of the next. A prediction starts before the previous one ends, so its
period is shorter than its duration. A system, a training run or a signal has {n} samples. The number of
samples per second is Fmax divided by the period, times the number of samples per operation. The banded cores
take additional clock cycles each time an exponent increases. The kernel RLS learner needs fewer clock cycles
if a sample needs fewer than 10 steps.

## Lanes

Lanes are hardware multipliers that work in parallel in the inner loop. The table lists cores with different
numbers of lanes on the ECP5-{part}, with Fmax for seeds {seeds}. The banded cores have one lane, because each
row must wait for the previous row, not for multiplications. If a predictor has one column, each lane
processes its own vector and has its own kernel unit. Cell clocks per sample are the number of LUTs and
flip-flops, times the period per sample. This proxy for energy counts every cell in every clock cycle.

| core | lanes | LUT | flip-flops | DSP blocks | block RAM | Fmax, MHz | period | samples/s | cell clocks |
|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|
{lanes}

The chart shows the predictor, learner, solver and trainer cores of the examples without an intercept.

![Samples per second, look-up tables and DSP blocks against lanes](../figures/{figure})

For your own plan, run `kerncast estimate FOLDER --lanes 1,2,4 --plot lanes.svg`.
"""


class UnknownResult(Exception):
    """Exception: a result has not been measured."""


class Results:
    """Results of yosys and nextpnr in a file, by a digest of the code.

    Parameters
    ----------
    path : Path
        The JSON file. It is written after each result.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.known: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}

    def keep(self, key: str, value: dict[str, Any]) -> dict[str, Any]:
        """Store a result in the file, and return it."""
        self.known[key] = value
        write_whole(self.path, json.dumps(self.known, indent=1) + "\n")
        return value


@dataclass(frozen=True)
class Netlist:
    """Core that is synthesised and placed, unless the results are known."""

    title: str
    top: str
    sources: Sequence[Path]
    parameters: dict[str, int]
    results: Results
    part: str
    only_known: bool = False

    def area(self, family: str, work: Path) -> Area:
        """Return the cells in an FPGA family, from the file or from yosys.

        If yosys runs, the netlist is written to `work`.
        """
        key = f"{self.digest()} {family}"
        if key not in self.results.known:
            self.refuse_unknown()
            self.results.keep(key, self.mapped(family, work).as_dict())
        return Area(**self.results.known[key])

    def mapped(self, family: str, work: Path) -> Area:
        """Synthesise the core with yosys; return the cells."""
        print(f"{self.title}: {FAMILIES[family].title}, yosys", flush=True)
        return synthesise(self.sources, self.top, FAMILIES[family], work, self.parameters)

    def placed(self, seed: int, work: Path) -> Placement:
        """Return the result of placing the core with a seed."""
        key = f"{self.digest()} {self.part} {PLACING.clock:g} {seed}"
        if key not in self.results.known:
            self.refuse_unknown()
            if not (work / "netlist.json").is_file():
                self.mapped(PLACED, work)
            print(f"{self.title}: seed {seed}, nextpnr", flush=True)
            one = place(work, self.part, PLACING.clock, (seed,), PLACING.limit)
            print(f"{self.title}: seed {seed}, {one.fmax:.1f} MHz: {' > '.join(one.critical)}", flush=True)
            self.results.keep(key, {"fmax": one.fmax, "used": {k: list(pair) for k, pair in one.used.items()},
                                    "critical": list(one.critical)})
        value = self.results.known[key]
        return Placement(self.part, {seed: value["fmax"]},
                         {kind: (used, there) for kind, (used, there) in value["used"].items()},
                         tuple(value["critical"]))

    def refuse_unknown(self) -> None:
        """Raise UnknownResult if no tool may run."""
        if self.only_known:
            raise UnknownResult(self.title)

    def digest(self) -> str:
        """Return a digest of top module, lanes and sources (without comments)."""
        texts = {path.stem: " ".join(re.sub(r"//[^\n]*", " ", path.read_text(encoding="utf-8")).split())
                 for path in self.sources}
        used, waiting = set[str](), [self.top]
        while waiting:
            name = waiting.pop()
            used.add(name)
            waiting += [word for word in texts if word not in used and re.search(rf"\b{word}\b", texts[name])]
        parts = [f"{self.top} {sorted(self.parameters.items())}", *(texts[name] for name in sorted(used))]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:24]


def measured(name: str, lanes: Sequence[int], families: Sequence[str],
             results: Results, only_known: bool = False) -> Iterator[Estimate]:
    """Yield estimates of a core for numbers of lanes and FPGA families.

    If `only_known` is true, no tool runs, and families and seeds without a result are omitted.
    """
    case = CASES[name]
    plan, core = case.plan(), core_named(case.core)
    with tempfile.TemporaryDirectory() as folder:
        generate_rtl(plan, folder)
        for count in lanes:
            netlist = Netlist(_title(name, count), f"{plan.name}_{core.name}",
                              rtl_sources(folder, plan, core), core.parameters(plan, count), results,
                              case.part, only_known)
            one = _one(plan, core, count, netlist, families)
            if one is not None:
                yield replace(one, core=name)


def _one(plan: Plan, core: RtlCore, lanes: int, netlist: Netlist,
         families: Sequence[str]) -> Estimate | None:
    area: dict[str, Area] = {}
    placed: list[Placement] = []
    with tempfile.TemporaryDirectory() as work:
        for seed in PLACING.seeds:
            with suppress(UnknownResult):
                area[PLACED] = netlist.area(PLACED, Path(work))
                try:
                    placed.append(netlist.placed(seed, Path(work)))
                except KerncastError as error:
                    return combined(plan, core, lanes, None, area, None, error.problems)
    if not placed:
        return None
    for family in families:
        with tempfile.TemporaryDirectory() as work, suppress(UnknownResult):
            area[family] = netlist.area(family, Path(work))
    best = max(placed, key=lambda one: one.fmax)
    seeds = {seed: fmax for one in placed for seed, fmax in one.seeds.items()}
    area = {family: area[family] for family in FAMILIES if family in area}
    return combined(plan, core, lanes, None, area, replace(best, seeds=seeds))


def cell_rows(one: Estimate) -> list[str]:
    """Return the rows of an estimate in the table of cells."""
    return [f"| {one.core} | {FAMILIES[name].title} | " + " | ".join(
        f"{count:,}" for count in area.as_dict().values()) + " |" for name, area in one.area.items()]


def speed_row(one: Estimate) -> str:
    """Return the row of an estimate in the table of speeds."""
    placed = one.placement
    assert placed is not None
    kind, share = placed.fullest
    return (f"| {one.core} | {placed.fmax:.1f} | {kind} {share:.0%} | {one.operation} | "
            f"{_rate(one)} |")


def lane_row(one: Estimate) -> str:
    """Return the row of an estimate in the table of lanes."""
    area = one.area[PLACED]
    fmax = (UNPLACED[one.problems[0].code] if one.placement is None
            else ", ".join(f"{one.placement.seeds[seed]:.1f}" if seed in one.placement.seeds else "-"
                           for seed in PLACING.seeds))
    return (f"| {one.core} | {one.lanes} | {area.lut:,} | {area.ff:,} | {area.dsp} | {area.ram} | {fmax} | "
            f"{one.period:,.12g} | {_per_second(one)} | {one.cell_clocks[PLACED]:,.0f} |")


def _rate(one: Estimate) -> str:
    return f"{one.cycles:,} | {one.period:,.12g} | {_per_second(one)}"


def _per_second(one: Estimate) -> str:
    rate = one.samples_per_second
    return "-" if rate is None else f"{rate:,.0f}"


def verdict(found: Sequence[Estimate]) -> str:
    """Return a sentence on the cores that reach the target frequency with every seed."""
    goal, titles = f"{PLACING.clock:g} MHz", {_title(one.core, one.lanes): one for one in found}
    below = [title for title, one in titles.items()
             if one.placement is None or min(one.placement.seeds.values()) < PLACING.clock]
    left = [title for name, case in CASES.items() for lanes in case.lanes for title in [_title(name, lanes)]
            if title not in titles or (titles[title].placement is not None
                                       and titles[title].placement.seeds.keys() != set(PLACING.seeds))]
    reached = len(set(titles) - set(below) - set(left))
    which = f"{reached} cores" if below or left else "All cores fit a small FPGA and"
    text = f"{which} reach {goal} on the ECP5 with every seed."
    text += f" Cores below 100 MHz with at least one seed: {'; '.join(below)}." if below else ""
    return text + (f" Cores not measured with every seed: {'; '.join(left)}." if left else "")


def _title(core: str, lanes: int) -> str:
    return f"{core} with {lanes} lane{'s' if lanes > 1 else ''}"


def page(found: Sequence[Estimate]) -> str:
    """Return the page.

    It contains the cores with their fewest lanes in all families, and the cores with several lanes.
    """
    single = [one for one in found if one.lanes == CASES[one.core].lanes[0]]
    return TEXT.format(
        part=PLACING.part, seeds=", ".join(map(str, PLACING.seeds)), verdict=verdict(found),
        cells="\n".join(row for one in single for row in cell_rows(one)),
        speed="\n".join(map(speed_row, single)), lanes="\n".join(map(lane_row, found)),
        n=max(one.samples for one in single), figure=FIGURE.name, command=COMMAND)


def main() -> None:
    """Measure the given cores; if none is given, measure all and write the page."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help=", ".join(CASES))
    parser.add_argument("--known", action="store_true", help="measure nothing; write what is known")
    asked = parser.parse_args()
    results, found = Results(KEPT), []
    for name in asked.names or CASES:
        for lanes in CASES[name].lanes:
            families = tuple(FAMILIES) if lanes == CASES[name].lanes[0] else (PLACED,)
            found += measured(name, (lanes,), families, results, asked.known)
    if not asked.names:
        PAGE.write_text(page(found), encoding="utf-8", newline="\n")
        plain = [one for one in found if CASES[one.core].example and not CASES[one.core].bias
                 and CASES[one.core].core not in ("stream", "fitted")]
        draw_lanes([replace(one, area={PLACED: one.area[PLACED]}) for one in plain], FIGURE)


if __name__ == "__main__":
    main()
