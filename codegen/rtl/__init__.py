"""codegen.rtl: generate SystemVerilog cores from a plan.

The package lists the cores, decides which of them support a plan, and renders their files.
"""

from __future__ import annotations

from pathlib import Path

from ...sim._output_files import write_whole
from ...sim.errors import fail
from ...sim.plan import Plan
from ...sim.replay.vectors import Vectors
from .common import MOST_WORDS, model_frame, model_tag, primitives, vectors
from .core import RtlCore
from .fitted import FITTED
from .learner import LEARNER
from .names import unique_file, unique_names, with_unique_names
from .predictor import PREDICTOR, predictor_cycles, predictor_overhead, predictor_period
from .solver import SOLVER
from .stream import STREAM
from .testbench import MODULES, render_testbench
from .trainer import TRAINER

__all__ = ["ALL_CORES", "BARE_CORES", "CORES", "FITTED", "FOLDER", "LEARNER", "MOST_WORDS", "PREDICTOR",
           "SOLVER", "STREAM", "TRAINER", "RtlCore", "core_named", "fits", "generate_rtl", "model_frame",
           "model_tag", "predictor_cycles", "predictor_overhead", "predictor_period", "refuse_unfit",
           "render_refusals", "render_rtl", "rtl_sources", "unique_file", "unique_names", "vectors"]

#: Folder of the SystemVerilog in a generated folder.
FOLDER = "rtl"
#: Cores with registers, in the order of README.md.
CORES = (PREDICTOR, LEARNER, SOLVER, TRAINER)
#: Cores with streams only, which have no registers and no packages.
BARE_CORES = (STREAM, FITTED)
ALL_CORES = (*CORES, *BARE_CORES)
_NAMES = ", ".join(core.name for core in ALL_CORES)


def core_named(name: str) -> RtlCore:
    """Return a core by name.

    Raises E313 if the name is unknown.
    """
    for core in ALL_CORES:
        if core.name == name:
            return core
    raise fail("E313", "no such SystemVerilog core", where="--core", value=name,
               allowed=_NAMES, remedy="choose one of the allowed values")


def fits(plan: Plan) -> bool:
    """Report whether any core supports the plan."""
    return any(core.fits(plan) for core in CORES)


def refuse_unfit(plan: Plan) -> None:
    """Raise E306 or E307 if no core supports a plan.

    The error states the reason why the predictor does not support it.
    """
    if not fits(plan):
        PREDICTOR.refuse_unfit(plan)


def render_rtl(plan: Plan, vectors: Vectors | None = None) -> dict[str, str]:
    """Render the files of every core that supports a plan.

    The output is deterministic: the same plan gives the same bytes.

    Parameters
    ----------
    plan : Plan
    vectors : Vectors, optional
        Test vectors. If given, a SystemVerilog testbench that replays them is added for each core.

    Returns
    -------
    dict of str to str
        Texts by file name. Each name begins with ``rtl/``.

    Raises
    ------
    KerncastError
        E306 or E307 if no core supports the plan. The error states the predictor's reason.
    """
    refuse_unfit(plan)
    parts = [core.render(plan) | _testbench(plan, core, vectors) for core in ALL_CORES if core.fits(plan)]
    files = {name: text for part in parts for name, text in part.items()}
    files["README.md"] = "\n".join([*(part["README.md"] for part in parts), _missing(plan)])
    return {f"{FOLDER}/{name}": text for name, text in with_unique_names(files).items()}


def _testbench(plan: Plan, core: RtlCore, vectors: Vectors | None) -> dict[str, str]:
    """Render a core's testbench and the SystemVerilog modules that it needs."""
    files = {} if vectors is None else render_testbench(plan, core, core.ports(plan), vectors)
    if core in BARE_CORES:  # it is in no FuseSoC package
        files.pop(f"{plan.name}_{core.name}_tb.core", None)
    return files | primitives(MODULES) if files else {}


def render_refusals(plan: Plan) -> dict[str, str]:
    """Render the README for a plan that no core supports, with the reasons."""
    return {f"{FOLDER}/README.md": _missing(plan)}


def _missing(plan: Plan) -> str:
    """Return the section of README.md on the cores that do not support the plan."""
    reasons = ((core.name, error.problems[0]) for core in CORES
               for error in [core.refusal(plan)] if error is not None)
    return "# Cores that this plan does not have\n\n" + "".join(
        f"* {name}: {problem.message}; `{problem.where}` is {problem.value}, allowed is {problem.allowed}\n"
        for name, problem in reasons)


def generate_rtl(plan: Plan, out_dir: str | Path) -> list[Path]:
    """Write a plan's SystemVerilog files to ``out_dir/rtl``, for a simulator.

    To generate a folder with a manifest, use :func:`..generate.generate`.

    Parameters
    ----------
    plan : Plan
    out_dir : path

    Returns
    -------
    list of Path
        The files written.
    """
    written = []
    for name, text in render_rtl(plan).items():
        path = Path(out_dir) / name
        write_whole(path, text)
        written.append(path)
    return written


def rtl_sources(out_dir: str | Path, plan: Plan, core: RtlCore = PREDICTOR) -> list[Path]:
    """List a core's SystemVerilog files in a generated folder, in compile order.

    Raises
    ------
    KerncastError
        E305 if the folder contains no such files, E306 or E307 if the core does not support the plan.
    """
    core.refuse_unfit(plan)
    folder = Path(out_dir) / FOLDER
    listed = folder / f"{plan.name}_{core.name}.f"
    if not listed.is_file():
        raise fail("E305", "the folder contains no SystemVerilog for this plan", where=str(folder),
                   value=f"no {listed.name}", allowed="a folder made by kerncast gen",
                   remedy="generate it: kerncast gen SPEC -o FOLDER")
    lines = listed.read_text(encoding="utf-8").splitlines()
    return [folder / line for line in lines if line and not line.startswith("//")]
