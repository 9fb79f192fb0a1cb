"""cli: ``kerncast estimate``: what the generated cores take of an FPGA, and how fast they are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..sim.errors import EXIT_DIFFERENT, KerncastError, fail
from .build import GeneratedFolder
from .progress import steps
from .shell import JsonFlag, emit

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..codegen.rtl import Core
    from ..hw.rtl.estimate import Estimate
    from ..hw.rtl.synthesis import Placement
    from ..sim.plan import Plan

Families = Annotated[list[str] | None, typer.Option(
    "--family", metavar="ID", show_default=False,
    help="ecp5, ice40, xilinx7 or all; may be given several times. By default ecp5.")]
Cores = Annotated[list[str] | None, typer.Option(
    "--core", metavar="NAME", show_default=False,
    help="predictor, learner, solver or trainer; may be given several times. By default all there are.")]


Plot = Annotated[Path | None, typer.Option(
    metavar="FILE", show_default=False,
    help="Draw samples/s, look-up tables and multipliers over the lanes, into a .svg, .png or .pdf file.")]


def estimate(out: GeneratedFolder, family: Families = None, core: Cores = None,
             lanes: Annotated[str, typer.Option(
                 help="Multipliers of the inner loop, powers of two, commas between.")] = "1",
             part: Annotated[str, typer.Option(help="ECP5 part: 12k, 25k, 45k or 85k.")] = "25k",
             clock: Annotated[float, typer.Option(help="MHz that the placer aims at.", min=1.0)] = 100.0,
             seeds: Annotated[int, typer.Option(help="Runs of the placer; 0 for none.", min=0)] = 1,
             limit: Annotated[float, typer.Option(
                 metavar="MINUTES", help="Of a run of the placer, which is ended then.", min=0.01,
                 max=10_000.0)] = 30.0,
             simulate: Annotated[str | None, typer.Option(
                 metavar="SIMULATOR", show_default=False,
                 help="Count the clocks in a simulator too: icarus or verilator.")] = None,
             plot: Plot = None, as_json: JsonFlag = False) -> None:
    """Estimate cells, Fmax, clocks an operation and samples a second of the SystemVerilog cores.

    Cells are those that yosys maps to, for ECP5, iCE40 and AMD 7 series; Fmax is that of nextpnr on an ECP5,
    without pins. The first call of each program compiles it, which takes a minute or more; more lanes take
    the placer longer. Exits with 2 where a core does not fit the part or is not placed within the limit, what
    was found of others printed, and with 1 where a simulator counts other clocks than the plan's formula.

    Examples
    --------
    kerncast estimate build/digits
    kerncast estimate build/digits --core predictor --lanes 1,2,4 --plot lanes.svg
    kerncast estimate build/ecg --core solver --lanes 1,2,4 --family all --limit 60
    kerncast estimate build/ecg --core trainer --seeds 3 --simulate icarus --json
    """
    from ..codegen.generate import load_plan
    from ..hw.rtl.estimate import Placing, chosen_cores, chosen_families, estimates
    from ..lab.figures.lanes import check_picture

    plan, _ = load_plan(out)
    cores, families = chosen_cores(plan, core or ()), chosen_families(family or ("ecp5",))
    if plot is not None:
        check_picture(plot)
    placing = Placing(part, clock, range(1, seeds + 1), 60 * limit)
    found: list[Estimate] = []
    try:
        with steps(as_json) as step:
            work = estimates(plan, out, cores, families, lanes=_lanes(lanes), placing=placing,
                             count=_counter(plan, out, simulate), step=step)
            step("the first call of yosys or nextpnr compiles it: a minute or more, once")
            for one in work:
                found.append(one)
    except (KeyboardInterrupt, KerncastError):  # what is said of it comes after what was found
        if found and not as_json:
            _draw(found)
        raise
    _tell(plan, found, plot, as_json)


def _tell(plan: Plan, found: list[Estimate], plot: Path | None, as_json: bool) -> None:
    """Print and draw what was found; exit with what it means."""
    from ..lab.figures.lanes import draw_lanes

    problems = [problem for one in found for problem in one.problems]
    unequal = [one for one in found if one.simulated not in (None, one.cycles)]
    if plot is not None:
        draw_lanes(found, plot)
    if as_json:
        emit({"plan": plan.hash, "mismatches": len(unequal), "plot": plot and str(plot),
              "estimates": [one.as_dict() for one in found],
              "errors": [problem.as_dict() for problem in problems]})
    else:
        _draw(found)
        if plot is not None:
            typer.echo(f"{plot}: samples/s, look-up tables and multipliers over the lanes")
    if problems and as_json:
        raise typer.Exit(KerncastError(problems).exit_code)
    if problems:
        raise KerncastError(problems)
    if unequal:
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
    from ..hw.rtl.simulators import SIMULATORS, find_simulator

    if simulator not in SIMULATORS:
        raise fail("E420", "there is no such simulator", where="--simulate", value=simulator,
                   allowed=", ".join(SIMULATORS), remedy="choose one of these")
    find_simulator(simulator)
    return lambda core, lanes: counted_clocks(plan, out, core, lanes, simulator)


def _draw(found: list[Estimate]) -> None:
    """The tables: the cells by family, the speed, and the slowest paths of what was placed."""
    from rich.console import Console
    from rich.table import Table

    words = ("core", "family", "part", "operation", "slowest path, from register to register")
    for title, rows in (("Cells (yosys)", _cells(found)), ("Speed (nextpnr, ECP5)", _speed(found)),
                        ("Slowest paths (nextpnr, ECP5)", _paths(found))):
        table = Table(title=title)
        for head in rows[0]:
            table.add_column(head, justify="left" if head in words else "right")
        for row in rows[1:]:
            table.add_row(*row)
        # A pipe, or a narrow terminal, gets wider lines rather than figures cut short.
        width = Console(width=1000).measure(table).maximum
        if rows[1:]:
            Console(width=max(width, Console().width)).print(table)


def _cells(found: list[Estimate]) -> list[list[str]]:
    head = ["core", "lanes", "family", "LUT", "FF", "carry", "DSP", "block RAM", "LUT RAM"]
    return [head] + [[one.core, str(one.lanes), family, *(f"{n:,}" for n in area.as_dict().values())]
                     for one in found for family, area in one.area.items()]


def _speed(found: list[Estimate]) -> list[list[str]]:
    rows = [["core", "lanes", "part", "Fmax MHz", "fullest", "operation", "clocks", "simulated", "period",
             "samples/s"]]
    for one in found:
        rate = one.samples_per_second
        rows.append([one.core, str(one.lanes), *_placed(one.placement), one.operation, f"{one.cycles:,}",
                     "-" if one.simulated is None else f"{one.simulated:,}",
                     f"{one.period:,.12g}", "-" if rate is None else f"{rate:,.0f}"])
    return rows


def _placed(placement: Placement | None) -> tuple[str, str, str]:
    """Part, Fmax, of which seeds where there are several, and the fullest kind of cell."""
    if placement is None:
        return "-", "-", "-"
    seeds = ", ".join(f"{fmax:.1f}" for fmax in placement.seeds.values())
    kind, share = placement.fullest
    return (placement.part, f"{placement.fmax:.1f}" + (f" of {seeds}" if len(placement.seeds) > 1 else ""),
            f"{kind} {share:.0%}")


def _paths(found: list[Estimate]) -> list[list[str]]:
    return [["core", "lanes", "slowest path, from register to register"]] + [
        [one.core, str(one.lanes), " > ".join(one.placement.critical)] for one in found if one.placement]
