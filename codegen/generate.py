"""codegen: write the generated folder of a plan.

All files are rendered in memory and checked before the first one is written.

A generated folder contains `manifest.json` with the hash of every file. A folder without a manifest is used
only if it is empty. Files that were edited are not overwritten, and files that kerncast did not write are not
changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from ..sim._files import read_bytes
from ..sim._output_files import partial_path, write_whole
from ..sim.data.predictor_file import model_file
from ..sim.errors import KerncastError, fail
from ..sim.plan import Plan
from ..sim.planner import make_plan
from ..sim.replay.vectors import Vectors
from ..sim.spec import Spec
from ..sim.spec.target import Target
from .c.classes import multiplies_pairs
from .c.context import context
from .c.contract import contract, returned
from .c.localise import localise
from .c.packages import render_packages, resolve_packages
from .c.saved_state import saved_context
from .c.shared import render_shared, runtime_hash
from .firmware.targets import load_target
from .hls import refuse_unfit, render_hls, requested_dialects
from .licence import LICENSE, SBOM, licence_text, sbom_text
from .manifest import MANIFEST, Manifest, content, digest, is_source, runtime_digest
from .resources import environment, read_text
from .rtl import fits as rtl_fits
from .rtl import render_refusals, render_rtl

#: Files next to the code: its inputs, and its expected results.
SPEC, PLAN, VECTORS = "spec.toml", "plan.json", "vectors.json"
RUNTIME = ("kc_rt.h", "kc_cast.h", "kc_bits.h", "kc_bits_clz.h", "kc_arith.h", "kc_block.h", "kc_exp2.h",
           "kc_abs_sinpi.h", "kc_table.h",
           "kc_trace.h", "kc_crc.h", "kc_storage.h", "kc_state.h",
           "kc_i32.h", "kc_compiler.h", "kc_simd.h", "kc_simd_dsp.h", "kc_simd_dsp_8.h",
           "kc_simd_helium.h", "kc_simd_q6.h",
           "kc_simd_hvx.h", "kc_simd_dspr2.h")
#: What a solver needs besides.
SOLVER_HEADERS = {"banded": ("kc_band.h",), "levinson": ("kc_rows.h", "kc_rows_dsp.h"),
                  "schur": ("kc_rows.h", "kc_rows_dsp.h"),
                  "rls": ("kc_rotate.h", "kc_rows.h", "kc_rows_dsp.h"),
                  "nlms": ("kc_rows.h", "kc_rows_dsp.h"),
                  "second_order": ("kc_rls.h", "kc_rls_dsp.h", "kc_rows.h", "kc_rows_dsp.h"),
                  "lookahead": ("kc_real.h", "kc_lookahead_vectors.h", "kc_lookahead_correct.h",
                                "kc_lookahead.h"),
                  "lookahead_f32": ("kc_f32.h", "kc_lookahead_f32_correct.h", "kc_lookahead_f32.h")}
#: What the root of a distance needs.
ROOT_HEADERS = ("kc_rotate.h", "kc_rows.h", "kc_rows_dsp.h")


def render_c(plan: Plan) -> dict[str, str]:
    """Render the C files of a plan; return their texts by file name.

    The output is deterministic: the same plan gives the same bytes.

    Parameters
    ----------
    plan : Plan

    Returns
    -------
    dict of str to str
    """
    values = context(plan, str(plan.evidence.get("spec", "of no file"))) | {"saved": saved_context(plan)}
    p = plan.name
    accuracy = "refine.c" if values["refine"] else "certify.c"
    tuning = ("tune.c",) if plan.tunes else ()
    algorithm = {"toeplitz_rls": ("train.c", "toeplitz.c", f"{values['solver']}.c", accuracy, "bound.c",
                                  *tuning),
                 "kernel_cg": ("train.c", "cg.c", "bound.c"),
                 "kernel_lms": ("lms_f32.c" if plan.in_float32 else "lms.c",
                                *(("linear.c",) if plan.linear else ())),
                 "online_kernel_rls": ("rls.c",), "kernel_predictor": ()}[plan.algorithm]
    names = {f"{p}_internal.h": "internal.h"}
    names |= {f"{p}_{base}": base for base in ("tables.c", "kernel.c", "model.c", *algorithm)}
    names |= {f"{p}_delay.c": "delay.c"} if plan.delay else {}
    names |= {f"{p}_stream.c": "stream.c"} if plan.stream_taps else {}
    names |= {f"{p}_classify.c": "classify.c"} if plan.decision else {}
    names |= {} if plan.fixed else {f"{p}_state.c": "state.c"}
    values["runtime_hash"] = runtime_hash()
    files = {name: environment().get_template(f"c/{template}.j2").render(values, file=name)
             for name, template in names.items()}
    files = localise(files, p)
    values |= {"returned": returned(files, p), "contract": partial(contract, plan,
                                                                    saved_bytes=values["saved"]["image"])}
    files[f"{p}.h"] = environment().get_template("c/model.h.j2").render(values, file=f"{p}.h")
    files["README.md"] = environment().get_template("c/README.md.j2").render(values)
    return files | render_shared() | {f"rt/{name}": read_text(f"firmware/rt/{name}")
                                      for name in (*RUNTIME, *_more_headers(plan))}


def _more_headers(plan: Plan) -> tuple[str, ...]:
    """List the additional runtime headers that the plan's algorithm needs."""
    if plan.in_float32:
        return ("kc_f32.h",) if plan.metric == "fklms" else ("kc_f32.h", "kc_gram_f32.h")
    linear = plan.options.get("linear", "") if plan.learns else ""
    learner = "second_order" if plan.second_order else linear
    headers = SOLVER_HEADERS.get(learner or plan.options.get("solver", ""), ())
    stream = SOLVER_HEADERS["banded"] if plan.stream_taps else ()  # its sum of products
    root = ROOT_HEADERS if plan.rooted else ()
    outputs = ("kc_outputs.h", "kc_outputs_dsp.h") if multiplies_pairs(plan) else ()
    return tuple(dict.fromkeys((*outputs, *headers, *stream, *root)))


def check_memory(plan: Plan, target: Target) -> None:
    """Raise E301 if a plan does not fit the memory of its target.

    The error contains the number of bytes needed and available.
    """
    room = target.ram_bytes - target.stack_bytes
    sample = plan.sizes["D"] * plan.signals["x"].format.c_bits // 8
    needed = plan.ram_bytes + plan.delay_bytes + plan.stream_bytes + sample
    if needed > room:
        size = "n" if "n" in plan.sizes else "N"
        formula = " + ".join([f"{f.bytes} {f.name}" for f in (*plan.memory, *plan.workspace)
                              if f.count > 1]
                             + ([f"{plan.delay_bytes} delay line"] if plan.delay else [])
                             + ([f"{plan.stream_bytes} stream"] if plan.stream_taps else [])
                             + [f"{sample} input sample"])
        raise fail("E301", f"the model does not fit the RAM of {target.id}", where=plan.size_key,
                   value=f"{needed} bytes needed for {size} = {plan.sizes[size]} ({formula})",
                   allowed=f"{room} bytes available ({target.ram_bytes} less {target.stack_bytes} "
                   "for the stack)",
                   remedy=f"lower {size}, use a shorter word length, or choose a larger target")
    if plan.table_bytes > target.flash_bytes:
        other = 'set [toeplitz] solver = "levinson", which has no table of the factor, or ' * plan.banded
        raise fail("E301", f"the tables do not fit the flash of {target.id}", where="[target] id",
                   value=f"{plan.table_bytes} bytes", allowed=f"{target.flash_bytes} bytes",
                   remedy=f"{other}choose a larger target")


def refuse_oversize(spec: Spec) -> None:
    """Raise an error if a model exceeds its target or its resource limits.

    This check runs before any expensive computation.

    Raises
    ------
    KerncastError
        E301 if the model does not fit the target, E311 if it does not fit an HLS core, E333 if it exceeds the
        RAM limit in [budget].
    """
    try:
        plan = make_plan(spec)
        check_memory(plan, load_target(spec.target.id))
        if requested_dialects(plan):
            refuse_unfit(plan)
        allowed = spec.budget.ram if spec.budget else None
        if allowed is not None and plan.ram_bytes > allowed:
            raise fail("E333", "the model exceeds its RAM limit", where="[budget] ram",
                       value=f"{plan.ram_bytes} bytes", allowed=f"{allowed} bytes",
                       remedy=f"lower {plan.size_key}, use a shorter word length, or raise the "
                              "limit in [budget]")
    except KerncastError as error:
        raise spec.located(error) from None


def refuse_foreign(out: Path, *, ours: bool, allowed: str, ignored: Path | None = None) -> None:
    """Raise E302 if the output is a file, or a folder with files from another source.

    Parameters
    ----------
    out : Path
        The output folder.
    ours : bool
        Whether kerncast generated the folder. If so, its contents are not checked.
    allowed : str
        Description of the allowed folders, for the message.
    ignored : Path, optional
        A file in the folder that is permitted.
    """
    if out.exists() and not out.is_dir():
        raise fail("E302", "the output is not a folder", where=str(out), value="a file",
                   allowed="a new or an empty folder", remedy="choose another folder with -o")
    if ours or not out.is_dir():
        return
    foreign = sorted(p.name for p in out.iterdir() if p != ignored)
    if foreign:
        raise fail("E302", "the output folder contains files that kerncast did not write",
                   where=str(out), value=", ".join(foreign[:5]), allowed=allowed,
                   remedy="choose another folder with -o, or empty this folder")


def _refuse_places(out: Path, names: set[str]) -> None:
    """Raise E302 if a subfolder for generated files was replaced by a file or a link.

    Through a link, kerncast would write or delete files in another place.
    """
    folders = {folder for name in names for folder in Path(name).parents[:-1]}
    others = sorted(folder.as_posix() for folder in folders if (out / folder).is_symlink()
                    or ((out / folder).exists() and not (out / folder).is_dir()))
    if others:
        raise fail("E302", "a subfolder of the output folder is a file, or a link to another place",
                   where=str(out), value=", ".join(others), allowed="real folders",
                   remedy="remove the file or link, or choose another folder with -o")


def _refuse_edited(out: Path, old: Manifest, files: dict[str, str]) -> None:
    """Raise E303 if generated files were edited."""
    edited = []
    for name in sorted({*old.files, *files}):
        path = out / name
        text = content(path)
        if text is None:
            if path.is_symlink() or path.exists():
                edited.append(name)
        elif text != files.get(name) and not old.wrote(name, text):
            edited.append(name)
    if edited:
        raise fail("E303", "files of the output folder were edited", where=str(out),
                   value=", ".join(edited), allowed="the generated files",
                   remedy="move your changes elsewhere and delete these files, or choose another folder "
                          "with -o")


def _remove(out: Path, name: str) -> None:
    """Remove a generated file, and its parent folders if they are then empty."""
    (out / name).unlink(missing_ok=True)
    for folder in Path(name).parents[:-1]:
        if not (out / folder).is_dir() or any((out / folder).iterdir()):
            break
        (out / folder).rmdir()


def stale_files(plan: Plan, out: Path, target: Target | None = None, *, vectors: Vectors | None = None,
                packages: Sequence[str] = (), spec: Spec | None = None) -> list[str]:
    """List the files in `out` that differ from the output of :func:`generate`.

    Missing files are included.
    """
    files, manifest = render_all(plan, target, vectors, packages, spec)
    files[MANIFEST] = manifest.to_json()
    return [name for name, text in files.items() if content(out / name) != text]


def render_all(plan: Plan, target: Target | None,
               vectors: Vectors | None,
               packages: Sequence[str] = (), spec: Spec | None = None) -> tuple[dict[str, str], Manifest]:
    """Render all files of a generated folder, and their manifest.

    If no SystemVerilog core supports the plan, a README states the reasons.
    """
    files = render_c(plan) | {PLAN: plan.to_json()}
    if kinds := resolve_packages(packages):
        added = render_packages(plan, kinds, vectors, [*filter(is_source, files)], target)
        files |= added | {"README.md": files["README.md"] + added["README.md"]}
    files |= render_rtl(plan, vectors) if rtl_fits(plan) else render_refusals(plan)
    for dialect in requested_dialects(plan):
        files |= render_hls(plan, dialect, vectors)
    if vectors is not None:
        files[VECTORS] = vectors.to_json()
    if spec is not None:
        files[SPEC] = spec.to_toml()
        files |= _model_files(spec, files)
    files[LICENSE] = licence_text()
    files[SBOM] = sbom_text(plan, files)
    manifest = Manifest(plan.name, plan.hash, str(plan.evidence.get("spec", "")),
                        target.id if target else "", runtime_digest(files),
                        {name: digest(text) for name, text in sorted(files.items())})
    return files, manifest


def _model_files(spec: Spec, files: Mapping[str, str]) -> dict[str, str]:
    """Return the file of the trained model that a spec refers to, if any.

    Raises E109 if it would replace one of the generated `files`.
    """
    made = model_file(spec)
    taken = {name.lower() for name in files} | {MANIFEST, LICENSE.lower(), SBOM.lower()}
    for name in made:
        if name.lower() in taken:
            raise fail("E109", "the name would replace a generated file", where="[predictor] file",
                       value=name, allowed="a name that kerncast gen does not use in this folder",
                       remedy="rename the model's file, and change `file` in [predictor]")
    return made


def generate(plan: Plan, out_dir: str | Path, target: str | Target | None = None, *,
             vectors: Vectors | None = None, packages: Sequence[str] = (),
             spec: Spec | None = None) -> Manifest:
    """Generate the C library and the RTL cores of a plan in a folder.

    Parameters
    ----------
    plan : Plan
    out_dir : path
        A new or empty folder, or one that kerncast wrote before.
    target : str or Target, optional
        Raise an error if the plan does not fit the memory of this target.
    vectors : Vectors, optional
        Test vectors to store in the folder, for ``kerncast test``.
    packages : sequence of str
        Build systems that the folder supports: names from :data:`.c.packages.PACKAGES`, or ``all``.
    spec : Spec, optional
        Spec to store in the folder, for ``kerncast verify``.

    Returns
    -------
    Manifest

    Raises
    ------
    KerncastError
        E301 if the plan is too large, E302 for a folder with other files, E303 for edited files, E304 for a
        damaged manifest, E308 for missing vectors, E310 for an unknown package, E311 without an HLS core.
    """
    out = Path(out_dir)
    chosen = load_target(target) if isinstance(target, str) else target
    if chosen is not None:
        check_memory(plan, chosen)
    files, manifest = render_all(plan, chosen, vectors, packages, spec)
    old = Manifest.read(out)
    # A run that was killed at its very first file leaves that file's beginning.
    refuse_foreign(out, ours=old is not None, ignored=partial_path(out / MANIFEST),
                   allowed=f"an empty folder, or one with kerncast's {MANIFEST}")
    old = old or replace(manifest, files={})
    _refuse_places(out, {*old.files, *files})
    _refuse_edited(out, old, files)
    # The names go first: an interrupted run leaves only files that the manifest lists.
    write_whole(out / MANIFEST, old.transition_to(manifest).to_json())
    for name, text in files.items():
        write_whole(out / name, text)
    for name in sorted(set(old.files) - set(files)):
        _remove(out, name)
    write_whole(out / MANIFEST, manifest.to_json())
    return manifest


def write_c(plan: Plan, folder: Path) -> list[str]:
    """Write only the C files of a plan to a new folder, for a build that is not kept.

    Return the names of the sources.
    """
    files = render_c(plan)
    (folder / "rt").mkdir(parents=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    return sorted(filter(is_source, files))


def _not_generated(out: Path, value: str) -> KerncastError:
    return fail("E305", "kerncast did not generate this folder", where=str(out), value=value,
                allowed="a folder made by kerncast gen", remedy="generate it: kerncast gen SPEC -o FOLDER")


def load_manifest(out_dir: str | Path) -> Manifest:
    """Load the manifest of a generated folder.

    Raises E305 if kerncast did not generate the folder or was interrupted, and E213 if another version of
    kerncast generated it.
    """
    manifest = Manifest.read(Path(out_dir))
    if manifest is None:
        raise _not_generated(Path(out_dir), f"no {MANIFEST}")
    manifest.check_version(str(out_dir))
    if not manifest.is_complete:
        raise _not_generated(Path(out_dir), "generation was interrupted")
    return manifest


def load_plan(out_dir: str | Path) -> tuple[Plan, Manifest]:
    """Load the plan and the manifest of a generated folder.

    Raises E305 if kerncast did not generate the folder, and E210 if the plan is damaged.
    """
    manifest = load_manifest(out_dir)
    path = Path(out_dir) / PLAN
    if not path.is_file():
        raise _not_generated(Path(out_dir), f"no {PLAN}")
    return Plan.from_json(_json_text(path), str(path)), manifest


def _json_text(path: Path) -> str:
    """Read a JSON file of the folder; replace bytes that are not valid UTF-8."""
    return read_bytes(path).decode("utf-8", "replace")


def load_vectors(out_dir: str | Path) -> Vectors | None:
    """Load the test vectors of a generated folder; None if there are none."""
    path = Path(out_dir) / VECTORS
    return Vectors.from_json(_json_text(path), str(path)) if path.is_file() else None


def describe(manifest: Manifest) -> dict[str, Any]:
    """Return the content of a manifest as a dictionary, for ``--json``."""
    return {"name": manifest.name, "plan": manifest.plan, "target": manifest.target,
            "files": list(manifest.files)}
