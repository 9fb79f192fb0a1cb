"""hw: estimate area, Fmax, clock cycles and throughput of cores."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ...codegen.rtl import ALL_CORES, RtlCore, rtl_sources
from ...sim.errors import KerncastError, Problem, fail
from ...sim.plan import Plan
from .synthesis import FAMILIES, PARTS, Area, Family, Placement, find_tools, place, synthesise

#: The family whose parts nextpnr places on.
PLACED = "ecp5"
#: What a core does once in ``RtlCore.cycles``, and the samples that go into it, as a size of the plan or 1.
_OPERATIONS = {"predictor": ("prediction", ""), "learner": ("update", ""), "solver": ("system", "n"),
               "trainer": ("training", "n"), "stream": ("sample", ""), "fitted": ("signal", "n")}


@dataclass(frozen=True)
class Estimate:
    """Estimate of a core with a given number of lanes.

    Parameters
    ----------
    core : str
        Name of the core.
    lanes : int
        Number of hardware multipliers in the inner loop.
    operation : str
        The operation of which the clock cycles are given: prediction, update, system, training, sample or
        signal.
    samples : int
        Number of samples per operation.
    cycles : int
        Clock cycles of an operation without stalls, by the plan's formula.
    simulated : int or None
        Clock cycles of the operation in a simulation.
    area : dict of str to Area
        Area by FPGA family.
    placement : Placement or None
        Placement on the ECP5.
    period : float
        Clock cycles from the start of an operation to the start of the next one. It is less than `cycles` if
        operations overlap.
    problems : tuple of Problem
        Reasons why the core could not be synthesised for a family or placed on the ECP5 (E341, E342, E344).
    """

    core: str
    lanes: int
    operation: str
    samples: int
    cycles: int
    simulated: int | None
    area: dict[str, Area]
    placement: Placement | None
    period: float
    problems: tuple[Problem, ...] = ()

    @property
    def samples_per_second(self) -> float | None:
        """Return the samples per second at Fmax; None if the core was not placed."""
        return None if self.placement is None else self.placement.fmax * 1e6 * self.samples / self.period

    @property
    def cell_clocks(self) -> dict[str, float]:
        """Return the cell clocks per sample by FPGA family, an indicator of the energy.

        A cell clock is one look-up table or flip-flop during one clock cycle.
        """
        return {family: (cells.lut + cells.ff) * self.period / self.samples
                for family, cells in self.area.items()}

    def as_dict(self) -> dict[str, Any]:
        """Return the estimate as a dictionary for ``--json``."""
        rate = self.samples_per_second
        return {"core": self.core, "lanes": self.lanes, "operation": self.operation,
                "samples_per_operation": self.samples, "cycles": self.cycles,
                "simulated_cycles": self.simulated, "period_cycles": self.period,
                "area": {k: a.as_dict() for k, a in self.area.items()},
                "cell_clocks_per_sample": {k: round(clocks, 1) for k, clocks in self.cell_clocks.items()},
                "placement": None if self.placement is None else self.placement.as_dict(),
                "problems": [problem.code for problem in self.problems],
                "samples_per_second": None if rate is None else round(rate, 1)}


@dataclass(frozen=True)
class Placing:
    """Options for the placement of cores on an ECP5.

    Parameters
    ----------
    part, clock, seeds, limit
        As in :func:`~.synthesis.place`. If `seeds` is empty, the cores are not placed. `limit` also applies
        to each run of yosys.
    """

    part: str = "25k"
    clock: float = 100.0
    seeds: Sequence[int] = (1,)
    limit: float | None = None


def resolve_families(names: Sequence[str]) -> list[Family]:
    """Return FPGA families by name; `all` selects every family.

    Raises E340 if a name is unknown.
    """
    for name in names:
        if name != "all" and name not in FAMILIES:
            raise fail("E340", "no such FPGA family", where="--family", value=name,
                       allowed=", ".join((*FAMILIES, "all")), remedy="choose one of the allowed values")
    return [family for family in FAMILIES.values() if family.id in names or "all" in names]


def resolve_cores(plan: Plan, names: Sequence[str]) -> list[RtlCore]:
    """Return cores by name; by default, all cores that support the plan.

    Raises
    ------
    KerncastError
        E340 if a name is unknown; E306 or E307 if the core does not support the plan.
    """
    known = {core.name: core for core in ALL_CORES}
    for name in names:
        if name not in known:
            raise fail("E340", "the plan has no such core", where="--core", value=name,
                       allowed=", ".join(core.name for core in ALL_CORES if core.fits(plan)),
                       remedy="choose one of the allowed values")
        known[name].refuse_unfit(plan)
    if not names and not any(core.fits(plan) for core in ALL_CORES):
        ALL_CORES[0].refuse_unfit(plan)
    return [core for core in ALL_CORES if core.name in names or (not names and core.fits(plan))]


def refuse_unknown_part(part: str) -> None:
    """Raise E340 if nextpnr does not support a part."""
    if part not in PARTS:
        raise fail("E340", "no such FPGA part", where="--part", value=part, allowed=", ".join(PARTS),
                   remedy="choose one of the allowed values")


def estimates(plan: Plan, folder: Path, cores: Sequence[RtlCore], families: Sequence[Family], *,
              lanes: Sequence[int] = (1,), placing: Placing | None = None,
              count: Callable[[RtlCore, int], int | None] | None = None,
              step: Callable[[str], None] = lambda _: None) -> Iterator[Estimate]:
    """Synthesise cores of a generated folder, and place them on an ECP5 if requested.

    The arguments are checked at once; the cores are synthesised during iteration. If a core cannot be
    synthesised or placed, its estimate contains the problems.

    Parameters
    ----------
    plan : Plan
    folder : Path
        A generated folder.
    cores : sequence of RtlCore
    families : sequence of Family
    lanes : sequence of int
        Numbers of lanes, each a power of two.
    placing : Placing, optional
    count : callable, optional
        ``count(core, lanes)`` returns the clock cycles of an operation from simulation, or None.
    step : callable, optional
        Progress callback. It receives a text, such as ``2/6 solver, 1 lane: simulation``.

    Raises
    ------
    KerncastError
        E501 if a tool is missing; E305 if the folder does not contain a core; E340 if the part is unknown, or
        if a number of lanes is not a power of two or is not supported by a core.
    """
    placing = placing or Placing()
    refuse_unknown_part(placing.part)
    refuse_odd_lanes(lanes)
    placed = bool(placing.seeds) and any(family.id == PLACED for family in families)
    find_tools(["yosys", "nextpnr-ecp5"] if placed else ["yosys"])
    for core, number in itertools.product(cores, lanes):
        core.parameters(plan, number)
    sources = {core.name: rtl_sources(folder, plan, core) for core in cores}
    wanted, counter = list(itertools.product(cores, dict.fromkeys(lanes))), itertools.count(1)
    steps = len(wanted) * (len(families) + placed + (count is not None))

    def report(what: str) -> None:
        step(f"{next(counter)}/{steps} {what}")

    return (_made(plan, core, number, sources[core.name], families, placing, count, report)
            for core, number in wanted)


def _made(plan: Plan, core: RtlCore, lanes: int, sources: Sequence[Path], families: Sequence[Family],
          placing: Placing, count: Callable[[RtlCore, int], int | None] | None,
          report: Callable[[str], None]) -> Estimate:
    """Estimate one core. The tools must have been checked before."""
    title = f"{core.name}, {lanes} lane{'s' if lanes > 1 else ''}"
    area: dict[str, Area] = {}
    placement: Placement | None = None
    problems: tuple[Problem, ...] = ()
    for family in families:
        with tempfile.TemporaryDirectory(prefix="kerncast-") as work:
            try:
                report(f"{title}: {family.title}, yosys")
                area[family.id] = synthesise(sources, f"{plan.name}_{core.name}", family, Path(work),
                                             core.parameters(plan, lanes), placing.limit)
                if family.id == PLACED and placing.seeds:
                    report(f"{title}: {family.title} {placing.part}, nextpnr")
                    placement = place(Path(work), placing.part, placing.clock, placing.seeds, placing.limit)
            except KerncastError as error:  # the other families and cores are estimated all the same
                problems += tuple(replace(one, where=f"{title}: {one.where}") for one in error.problems)
    if count is not None:
        report(f"{title}: simulation")
    simulated = None if count is None else count(core, lanes)
    return combined(plan, core, lanes, simulated, area, placement, problems)


def refuse_odd_lanes(lanes: Sequence[int]) -> None:
    """Raise E340 if a number of lanes is not a power of two."""
    for number in lanes:
        if number < 1 or number & (number - 1):
            raise fail("E340", "the number of lanes is not a power of two", where="--lanes", value=number,
                       allowed="powers of two", remedy="choose 1, 2, 4, ...")


def combined(plan: Plan, core: RtlCore, lanes: int, simulated: int | None, area: dict[str, Area],
             placement: Placement | None, problems: tuple[Problem, ...] = ()) -> Estimate:
    """Combine the results of the tools with the plan's formulas in an estimate."""
    operation, size = _OPERATIONS[core.name]
    return Estimate(core.name, lanes, operation, plan.sizes[size] if size else 1, core.cycles(plan, lanes),
                    simulated, area, placement, (core.period or core.cycles)(plan, lanes), problems)
