"""cli: ``kerncast estimate``: what the generated cores take of an FPGA, and how fast they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ..sim.errors import EXIT_DIFFERENT, fail
from .build import GeneratedFolder
from .progress import steps
from .shell import JsonFlag, emit

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ..codegen.rtl import Core
    from ..hw.rtl.estimate import Estimate
    from ..sim.plan import Plan

Families = Annotated[list[str] | None, typer.Option(
    "--family", metavar="ID", show_default=False,
    help="ecp5, ice40, xilinx7 or all; may be given several times. By default ecp5.")]
Cores = Annotated[list[str] | None, typer.Option(
    "--core", metavar="NAME", show_default=False,
    help="predictor, learner, solver or trainer; may be given several times. By default all there are.")]


def estimate(out: GeneratedFolder, family: Families = None, core: Cores = None,
             lanes: Annotated[str, typer.Option(
                 help="Lanes of predictor, solver and trainer, commas between.")] = "1",
             part: Annotated[str, typer.Option(help="ECP5 part: 12k, 25k, 45k or 85k.")] = "25k",
             clock: Annotated[float, typer.Option(help="MHz that the placer aims at.", min=1.0)] = 100.0,
             seeds: Annotated[int, typer.Option(help="Runs of the placer; 0 for none.", min=0)] = 1,
             simulate: Annotated[str | None, typer.Option(
                 metavar="SIMULATOR", show_default=False,
                 help="Count the clocks in a simulator too: icarus or verilator.")] = None,
             as_json: JsonFlag = False) -> None:
    """Estimate cells, Fmax, clocks an operation and samples a second of the SystemVerilog cores.

    Cells are those that yosys maps to, for ECP5, iCE40 and AMD 7 series; Fmax is that of nextpnr on an ECP5,
    without pins. The first call of each program compiles it, which takes a minute or more. Exits with 1 where
    a simulator counts other clocks than the plan's formula.

    Examples
    --------
    kerncast estimate build/digits
    kerncast estimate build/digits --core predictor --lanes 1,2,4
    kerncast estimate build/ecg --core solver --lanes 1,2,4 --family all
    kerncast estimate build/ecg --core trainer --seeds 3 --simulate icarus --json
    """
    from ..codegen.generate import load_plan
    from ..hw.rtl.estimate import chosen_cores, chosen_families, estimates, refuse_unknown_part

    plan, _ = load_plan(out)
    cores, families = chosen_cores(plan, core or ()), chosen_families(family or ("ecp5",))
    refuse_unknown_part(part)
    numbers, count = _lanes(lanes), _counter(plan, out, simulate)
    found: list[Estimate] = []
    with steps(as_json) as step:
        step("the first call of yosys or nextpnr compiles it: a minute or more, once")
        for one in estimates(plan, out, cores, families, lanes=numbers, part=part, clock=clock,
                             seeds=range(1, seeds + 1), count=count, step=step):
            found.append(one)
    if as_json:
        emit({"plan": plan.hash, "mismatches": len(_unequal(found)),
              "estimates": [one.as_dict() for one in found]})
    else:
        _draw(found)
    if _unequal(found):
        raise typer.Exit(EXIT_DIFFERENT)


def _lanes(text: str) -> list[int]:
    """Numbers with commas between; E340."""
    try:
        return [int(word) for word in text.split(",")]
    except ValueError:
        raise fail("E340", "there are no such lanes", where="--lanes", value=text,
                   allowed="powers of two, with commas between", remedy="for example --lanes 1,2,4") from None


def _counter(plan: Plan, out: Path, simulator: str | None) -> Callable[[Core, int], int] | None:
    """How clocks are counted, where that is asked for; what is missing for it is told at once."""
    if simulator is None:
        return None
    from ..hw.rtl.clocks import counted_clocks
    from ..hw.rtl.simulators import find_simulator

    find_simulator(simulator)
    return lambda core, lanes: counted_clocks(plan, out, core, lanes, simulator)


def _unequal(found: list[Estimate]) -> list[Estimate]:
    return [one for one in found if one.simulated not in (None, one.cycles)]


def _draw(found: list[Estimate]) -> None:
    """Two tables: the cells by family, and the speed."""
    from rich.console import Console
    from rich.table import Table

    cells = Table(title="Cells (yosys)")
    for head in ("core", "lanes", "family", "LUT", "FF", "carry", "DSP", "block RAM", "LUT RAM"):
        cells.add_column(head, justify="left" if head in ("core", "family") else "right")
    speed = Table(title="Speed (nextpnr, ECP5)")
    for head in ("core", "lanes", "part", "Fmax MHz", "fullest", "operation", "clocks", "simulated",
                 "samples/s"):
        speed.add_column(head, justify="left" if head in ("core", "part", "operation") else "right")
    for one in found:
        for family, area in one.area.items():
            cells.add_row(one.core, str(one.lanes), family, *(f"{n:,}" for n in area.as_dict().values()))
        placed, rate = one.placement, one.samples_per_second
        fullest = max((used / there, kind) for kind, (used, there) in placed.used.items()) if placed else None
        speed.add_row(one.core, str(one.lanes), placed.part if placed else "-",
                      f"{placed.fmax:.1f}" if placed else "-",
                      f"{fullest[1]} {fullest[0]:.0%}" if fullest else "-", one.operation, f"{one.cycles:,}",
                      "-" if one.simulated is None else f"{one.simulated:,}",
                      "-" if rate is None else f"{rate:,.0f}")
    for table in (cells, speed):
        # A pipe, or a narrow terminal, gets wider lines rather than figures cut short.
        width = Console(width=1000).measure(table).maximum
        Console(width=max(width, Console().width)).print(table)
