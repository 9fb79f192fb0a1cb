"""cli: ``kerncast estimate``: estimate cells, Fmax and clock cycles of RTL cores."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..sim.errors import EXIT_DIFFERENT, KerncastError, fail
from ._options import GeneratedFolder, JsonFlag, separated
from ._output import print_json, table
from ._progress import steps

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..codegen.rtl import RtlCore
    from ..hw.rtl.estimate import Estimate
    from ..hw.rtl.synthesis import Placement
    from ..sim.plan import Plan

Families = Annotated[list[str] | None, typer.Option(
    "--family", metavar="ID", show_default="ecp5",
    help="FPGA family: ecp5, ice40, xilinx7 or all; repeat the option, or separate values by commas.")]
Cores = Annotated[list[str] | None, typer.Option(
    "--core", metavar="NAME", show_default="all",
    help="RTL core: predictor, learner, solver, trainer, stream or fitted; repeat the option, or separate "
         "values by commas.")]
Lanes = Annotated[list[str] | None, typer.Option(
    "--lanes", metavar="COUNT", show_default="1",
    help="Number of hardware multipliers in the inner loop, a power of two; repeat the option, or separate "
         "values by commas.")]
Part = Annotated[str, typer.Option(metavar="PART", help="ECP5 part: 12k, 25k, 45k or 85k.")]
Clock = Annotated[float, typer.Option(metavar="MHZ", help="Target clock frequency for the placer, in "
                                                          "MHz.", min=1.0,
                                  max=10000)]
Seeds = Annotated[int, typer.Option(metavar="COUNT", help="Number of runs of the placer; 0 disables place "
                                                          "and route.", min=0)]
Limit = Annotated[float, typer.Option(
    metavar="MINUTES", help="End a run of yosys or of the placer after this time.", min=0.01, max=10_000.0)]
Simulate = Annotated[str | None, typer.Option(
    metavar="NAME", show_default=False,
    help="Count the clock cycles in a simulator too, except those of the stream and fitted cores: icarus or "
         "verilator.")]
Plot = Annotated[Path | None, typer.Option(
    metavar="FILE", show_default=False,
    help="Draw samples/s, look-up tables and hardware multipliers against the number of lanes: .svg, .png "
         "or .pdf.")]


def estimate(out: GeneratedFolder, family: Families = None, core: Cores = None, lanes: Lanes = None,
             part: Part = "25k", clock: Clock = 100.0, seeds: Seeds = 1, limit: Limit = 30.0,
             simulate: Simulate = None, plot: Plot = None, as_json: JsonFlag = False) -> None:
    """Estimate FPGA cells, clock and samples per second.

    yosys counts the cells for ECP5, iCE40 and AMD 7 series. nextpnr places the core on an ECP5, without pins,
    and reports Fmax. The first run of each program compiles it, which takes a minute or more. Placement takes
    longer with more lanes. "Cell clocks per sample" is the number of look-up tables and flip-flops times the
    clock cycles per sample, an indicator of the energy. Exits with 2 if a core does not fit the part, or if
    yosys or nextpnr fails or exceeds the time limit; the results of the other cores are still printed. Exits
    with 1 if a simulator counts a different number of clock cycles than the formula of the plan.

    Examples
    --------
    kerncast estimate build/digits
    kerncast estimate build/digits --core predictor --lanes 1,2 --plot a.svg
    kerncast estimate build/ecg --lanes 1,2,4 --family all --limit 60
    kerncast estimate build/ecg --core trainer --simulate icarus --json
    """
    from ..codegen.generate import load_plan
    from ..hw.rtl.estimate import Placing, estimates, resolve_cores, resolve_families
    from ..lab.figures.lanes import check_picture

    plan, _ = load_plan(out)
    cores, families = resolve_cores(plan, separated(core)), resolve_families(separated(family) or ("ecp5",))
    if plot is not None:
        check_picture(plot)
    placing = Placing(part, clock, range(1, seeds + 1), 60 * limit)
    found: list[Estimate] = []
    try:
        with steps(as_json) as step:
            work = estimates(plan, out, cores, families, lanes=_lanes(separated(lanes) or ["1"]),
                             placing=placing, count=_counter(plan, out, simulate), step=step)
            step("the first call compiles yosys and nextpnr, which takes a minute or more")
            for one in work:
                found.append(one)
    except (KeyboardInterrupt, KerncastError):  # its message comes after the results
        if found and not as_json:
            _draw(found)
        raise
    _print(plan, found, plot, as_json)


def _print(plan: Plan, found: list[Estimate], plot: Path | None, as_json: bool) -> None:
    """Print and draw the estimates; exit with 2 or 1 if there are problems.

    The exit code is 2 for problems, and 1 if a simulator counts a different number of clock cycles than the
    formula.
    """
    from ..lab.figures.lanes import draw_lanes

    problems = [problem for one in found for problem in one.problems]
    unequal = [one for one in found if one.simulated not in (None, one.cycles)]
    if plot is not None:
        draw_lanes(found, plot)
    if as_json:
        print_json({"plan": plan.hash, "mismatches": len(unequal), "plot": plot and str(plot),
              "estimates": [one.as_dict() for one in found],
              "errors": [problem.as_dict() for problem in problems]})
    else:
        _draw(found)
        if plot is not None:
            typer.echo(f"wrote {plot}: samples/s, look-up tables and hardware multipliers against the "
                       f"number of lanes")
    if problems and as_json:
        raise typer.Exit(KerncastError(problems).exit_code)
    if problems:
        raise KerncastError(problems)
    if unequal:
        raise typer.Exit(EXIT_DIFFERENT)


def _lanes(words: list[str]) -> list[int]:
    """Return the numbers of lanes; raise E340 if a text is not an integer."""
    try:
        return [int(word) for word in words]
    except ValueError:
        raise fail("E340", "--lanes is not a list of powers of two", where="--lanes", value=",".join(words),
                   allowed="powers of two, separated by commas",
                   remedy="separate the numbers by commas, for example --lanes 1,2,4") from None


def _counter(plan: Plan, out: Path, simulator: str | None) -> Callable[[RtlCore, int], int | None] | None:
    """Return a function that counts clock cycles in a simulator.

    The result is None if no simulator is requested. Raises an error if its tools are missing.
    """
    if simulator is None:
        return None
    from ..codegen.rtl import BARE_CORES
    from ..hw.rtl.clocks import count_clocks
    from ..hw.rtl.simulators import SIMULATORS, find_simulator

    if simulator not in SIMULATORS:
        raise fail("E420", "no such simulator", where="--simulate", value=simulator,
                   allowed=", ".join(SIMULATORS), remedy="choose one of the allowed values")
    find_simulator(simulator)
    return lambda core, lanes: None if core in BARE_CORES else count_clocks(plan, out, core, lanes, simulator)


def _draw(found: list[Estimate]) -> None:
    """Print the tables: cells by FPGA family, speed, and critical paths."""
    for title, rows in (("Cells (yosys)", _cells(found)), ("Speed (nextpnr, ECP5)", _speed(found)),
                        ("Slowest paths (nextpnr, ECP5)", _paths(found))):
        if rows[1:]:
            typer.echo(f"{title}\n{table(rows, keys=2)}\n")


def _cells(found: list[Estimate]) -> list[list[str]]:
    head = ["core", "lanes", "family", "LUT", "FF", "carry", "DSP", "block RAM", "LUT RAM",
            "cell clocks/sample"]
    return [head] + [[one.core, str(one.lanes), family, *(f"{n:,}" for n in area.as_dict().values()),
                      f"{one.cell_clocks[family]:,.0f}"]
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
    """Return the part, Fmax, and the fullest kind of cell.

    If there are several seeds, Fmax is given for each of them.
    """
    if placement is None:
        return "-", "-", "-"
    seeds = ", ".join(f"{fmax:.1f}" for fmax in placement.seeds.values())
    kind, share = placement.fullest
    return (placement.part, f"{placement.fmax:.1f}" + (f" of {seeds}" if len(placement.seeds) > 1 else ""),
            f"{kind} {share:.0%}")


def _paths(found: list[Estimate]) -> list[list[str]]:
    return [["core", "lanes", "slowest path, from register to register"]] + [
        [one.core, str(one.lanes), " > ".join(one.placement.critical)] for one in found if one.placement]
