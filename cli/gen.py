"""cli: ``kerncast gen``: generate a folder of C and SystemVerilog from a spec."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..sim.errors import EXIT_DIFFERENT, KerncastError
from ._options import JsonFlag, SpecPath, separated
from ._output import Answer, emit
from ._spec import load_spec, warnings_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..sim.plan import Plan
    from ..sim.spec import Spec

OutFolder = Annotated[Path, typer.Option("-o", "--out", metavar="OUT", help="Folder to write.",
                                         show_default=False)]
Check = Annotated[bool, typer.Option(
    "--check", help="Write nothing; exit with 1 if the folder is not up to date.")]
PackageKinds = Annotated[list[str] | None, typer.Option(
    "--package", metavar="KIND", show_default=False,
    help="Add the files of a build system (cmake, make, zephyr, platformio, arduino, esp-idf, cmsis), the "
         "C++ wrapper (cpp), or all; repeat the option, or separate values by commas.")]
PackFolder = Annotated[Path | None, typer.Option(
    "--pack", metavar="FOLDER", show_default=False,
    help="Write a CMSIS-Pack, kerncast.NAME.VERSION.pack, to this folder; adds the package cmsis.")]
CoreNames = Annotated[list[str] | None, typer.Option(
    "--core", metavar="CORE", show_default=False,
    help="Require this RTL core: predictor, learner, solver, trainer, stream or fitted; repeat the "
         "option, or separate values by commas.")]


def gen(path: SpecPath, out: OutFolder, check: Check = False, package: PackageKinds = None,
        pack: PackFolder = None, core: CoreNames = None, as_json: JsonFlag = False) -> None:
    """Generate the C library and the RTL cores of a spec.

    The plan and the test vectors are written, too. The folder must be new, empty, or one that kerncast wrote
    before. Files that you edited are never overwritten. The same spec gives the same bytes.

    With --package, the folder also contains the files of a build system, the test vectors as C constants, and
    a program that replays them. Without --package, these files are removed again. If the spec contains a
    table [hls], the folder also contains C++ for high-level synthesis.

    Examples
    --------
    kerncast gen ecg.toml -o build/ecg
    kerncast gen ecg.toml -o build/ecg --check
    kerncast gen ecg.toml -o firmware/ecg --package cmake
    kerncast gen ecg.toml -o lib/ecg --package platformio,arduino
    kerncast gen ecg.toml -o build/ecg --pack build/packs
    kerncast gen ecg.toml -o build/ecg --core learner
    """
    from ..codegen.c.pack import refuse_unwritable_pack, write_pack
    from ..codegen.c.packages import resolve_packages
    from ..codegen.firmware.targets import load_target
    from ..codegen.generate import describe, generate, refuse_oversize, stale_files
    from ..codegen.rtl import FOLDER
    from ..lab.costs.limits import refuse_unmeasurable
    from ..lab.workflow import plan_and_vectors

    packages, spec = resolve_packages([*(package or ()), *(["cmsis"] if pack else [])]), load_spec(path)
    refuse_unwritable_pack(pack)
    refuse_unmeasurable(spec)
    refuse_oversize(spec)
    plan, vectors = plan_and_vectors(spec, path.parent)
    _refuse_cores(spec, plan, separated(core))
    if check:
        _report_stale(stale_files(plan, out, load_target(spec.target.id), vectors=vectors, packages=packages,
                                  spec=spec), as_json)
        return
    manifest = generate(plan, out, spec.target.id, vectors=vectors, packages=packages, spec=spec)
    values = {"out": str(out), **describe(manifest), "packages": packages, "cores": _cores(plan),
              "state_bytes": plan.state_bytes, "table_bytes": plan.table_bytes,
              "warnings": warnings_of(spec, plan, as_json)}
    values |= {"pack": str(write_pack(out, plan.name, pack))} if pack else {}
    text = (f"{out}: {len(manifest.files)} files, model {plan.state_bytes} bytes of RAM, "
            f"tables {plan.table_bytes} bytes of flash\nplan {plan.hash}\n"
            f"RTL cores in {out / FOLDER}: {', '.join(_cores(plan)) or 'none; its README.md explains why'}")
    after = ("kerncast", "build", str(out)) if vectors is None else ("kerncast", "test", str(out),
                                                                    "--on", "host")
    emit(Answer(values, text, after), as_json)


def _report_stale(old: list[str], as_json: bool) -> None:
    """Print the files that are not up to date; if there are any, exit with 1."""
    emit(Answer({"stale": old}, "\n".join(f"stale  {name}" for name in old) or "up to date"), as_json)
    if old:
        raise typer.Exit(EXIT_DIFFERENT)


def _cores(plan: Plan) -> list[str]:
    """Return the names of the RTL cores that support a plan."""
    from ..codegen.rtl import ALL_CORES

    return [core.name for core in ALL_CORES if core.fits(plan)]


def _refuse_cores(spec: Spec, plan: Plan, names: Sequence[str]) -> None:
    """Raise E306 or E307 if a requested RTL core does not support the plan.

    Raises E313 if a core is unknown.
    """
    from ..codegen.rtl import core_named

    for name in names:
        core = core_named(name)
        try:
            core.refuse_unfit(plan)
        except KerncastError as error:
            raise spec.located(error) from None
