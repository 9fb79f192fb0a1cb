"""cli: ``kerncast gen``: from a spec to a folder of C."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..sim.errors import EXIT_DIFFERENT, KerncastError
from .shell import JsonFlag, SpecPath, load_spec, show, warnings_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..sim.plan import Plan
    from ..sim.spec import Spec

OutFolder = Annotated[Path, typer.Option("-o", "--out", help="The folder to write.", show_default=False)]

PackageKinds = Annotated[list[str] | None, typer.Option(
    "--package", metavar="KINDS", show_default=False,
    help="Make it a library of cmake, make, zephyr, platformio, arduino, or all; several with commas between "
         "them.")]
CoreNames = Annotated[list[str] | None, typer.Option(
    "--core", metavar="CORE", show_default=False,
    help="Refuse a spec of which there is no such core in SystemVerilog: predictor, learner, solver, "
         "trainer; may be given again.")]


def gen(path: SpecPath, out: OutFolder,
        check: Annotated[bool, typer.Option("--check", help="Write nothing; exit 1 where the folder "
                                                            "is not what would be written.")] = False,
        package: PackageKinds = None, core: CoreNames = None, as_json: JsonFlag = False) -> None:
    """Generate the C library of a spec and its cores in SystemVerilog, with plan and test vectors.

    The folder must be new, empty, or one that kerncast wrote before; files edited by hand are never
    overwritten. The same spec gives the same bytes.

    With --package the folder drops into a build: the files of that build system, and test vectors as C
    with a program that runs them. Without it again, they are removed.

    With a table [hls] in the spec the folder holds C++ for high-level synthesis, too.

    Examples
    --------
    kerncast gen ecg.toml -o build/ecg
    kerncast gen ecg.toml -o build/ecg --check
    kerncast gen ecg.toml -o firmware/ecg --package cmake
    kerncast gen ecg.toml -o lib/ecg --package platformio,arduino
    kerncast gen ecg.toml -o modules/ecg --package all --check
    kerncast gen ecg.toml -o build/ecg --core learner
    """
    from ..codegen.c.packages import chosen_packages
    from ..codegen.firmware.targets import load_target
    from ..codegen.generate import describe, generate, refuse_oversize, stale_files
    from ..codegen.rtl import FOLDER
    from ..lab.costs.limits import refuse_unmeasurable
    from ..lab.workflow import plan_and_vectors

    packages, spec = chosen_packages(package or ()), load_spec(path)
    refuse_unmeasurable(spec)
    refuse_oversize(spec)
    plan, vectors = plan_and_vectors(spec, path.parent)
    _refuse_cores(spec, plan, core or ())
    if check:
        old = stale_files(plan, out, load_target(spec.target.id), vectors=vectors, packages=packages,
                          spec=spec)
        show({"stale": old}, as_json, "\n".join(f"stale  {name}" for name in old) or "up to date")
        if old:
            raise typer.Exit(EXIT_DIFFERENT)
        return
    manifest = generate(plan, out, spec.target.id, vectors=vectors, packages=packages, spec=spec)
    show({"out": str(out), **describe(manifest), "packages": packages, "cores": _cores(plan),
          "state_bytes": plan.state_bytes, "table_bytes": plan.table_bytes,
          "warnings": warnings_of(spec, plan, as_json)}, as_json,
         f"{out}: {len(manifest.files)} files, model {plan.state_bytes} bytes of RAM, "
         f"tables {plan.table_bytes} bytes of flash\nplan {plan.hash}\n"
         f"cores in {out / FOLDER}: {', '.join(_cores(plan)) or 'none, its README.md says why'}")


def _cores(plan: Plan) -> list[str]:
    """The cores of a plan in SystemVerilog."""
    from ..codegen.rtl import CORES

    return [core.name for core in CORES if core.fits(plan)]


def _refuse_cores(spec: Spec, plan: Plan, names: Sequence[str]) -> None:
    """Refuse a plan that a core asked for cannot hold: E306, E307, and E313 for no core of that name."""
    from ..codegen.rtl import core_named

    for name in names:
        core = core_named(name)
        try:
            core.refuse_unfit(plan)
        except KerncastError as error:
            raise spec.located(error) from None
