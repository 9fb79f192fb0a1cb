"""lab: verify a generated folder or a bundle.

All files and values are computed again from the spec and the samples, and compared with the folder. A bundle
is a ZIP file of a folder, the results of its verification, and the versions of all software, so that it can
be verified on another machine.

A folder or bundle is not trusted. Only its spec, its samples and its trained model are read as input, and are
strictly validated. All other files are only compared, byte for byte, with files that are derived here. No
file from the folder is compiled, loaded or run. Back ends are built from the derived files, in a separate
folder.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import sys
import tempfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from ... import __version__
from ...codegen.c.packages import packages_in
from ...codegen.firmware.targets import load_target
from ...codegen.generate import PLAN, SPEC, VECTORS, load_manifest, load_vectors, render_all
from ...codegen.manifest import MANIFEST, Manifest, content, digest
from ...hw.backends import open_backend
from ...sim._files import unpacked_bytes
from ...sim._json import parse_json, read_json
from ...sim._output_files import refuse_unwritable, write_whole
from ...sim.backend import Comparison
from ...sim.errors import KerncastError, fail
from ...sim.model import open_model
from ...sim.plan import Plan
from ...sim.planner import make_plan
from ...sim.replay.divergence import Report
from ...sim.replay.vectors import Vectors, make_vectors
from ...sim.spec import Spec
from .bit_flips import Damage, damage_frames, damage_states
from .ledger import Row, run_backend
from .origin import planning_samples

#: File of a bundle with the versions of the verifier, in addition to the files of the folder.
VERIFIED = "verified.json"
#: Limits of a bundle, above any folder that kerncast writes, so that a small file cannot fill a disk.
LARGEST_BYTES = 1 << 28
MAX_FILES = 4096
_PACKAGES = ("numpy", "numba", "jinja2", "cffi", "unicorn", "ziglang")
_VERIFIABLE = "a folder that kerncast gen wrote, or a bundle that kerncast verify FOLDER -o FILE.zip wrote"
_REDO = "generate the folder again: kerncast gen SPEC -o FOLDER"


@dataclass(frozen=True)
class Check:
    """Result of comparing items, which may be files, bytes or values (`unit`)."""

    name: str
    unit: str
    compared: int
    mismatches: int
    first: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return the check as a dictionary for ``--json``."""
        return {"name": self.name, "unit": self.unit, "compared": self.compared,
                "mismatches": self.mismatches, "first": self.first}


@dataclass(frozen=True)
class Verification:
    """Result of a verification.

    Parameters
    ----------
    plan : str
        The plan's hash.
    checks : tuple of Check
    rows : tuple of Row
        The comparison of each back end with the integer model.
    damage : tuple of Damage
        The detection of damaged states and frames.
    here, there : dict of str to str
        Software versions on this machine, and on the machine that made the bundle. `there` is empty for a
        folder.
    """

    plan: str
    checks: tuple[Check, ...]
    rows: tuple[Row, ...]
    damage: tuple[Damage, ...]
    here: dict[str, str]
    there: dict[str, str]

    @property
    def trusted(self) -> bool:
        """Report whether every byte and value equals the one derived on this machine."""
        return not self.mismatches

    @property
    def words(self) -> int:
        """Return the number of compared values, including the integer model."""
        return sum(c.compared for c in self.checks if c.unit == "words") + sum(r.words for r in self.rows)

    @property
    def mismatches(self) -> int:
        """Return the number of different bytes and values, plus undetected damages."""
        return (sum(check.mismatches for check in self.checks) + sum(row.mismatches for row in self.rows)
                + sum(damage.missed for damage in self.damage))

    def as_dict(self) -> dict[str, Any]:
        """Return the result as a dictionary for ``--json`` and the bundle."""
        return {"plan": self.plan, "trusted": self.trusted, "words": self.words,
                "mismatches": self.mismatches,
                "checks": [check.as_dict() for check in self.checks],
                "backends": [row.as_dict() for row in self.rows],
                "damage": [damage.as_dict() for damage in self.damage],
                "versions": self.here, "made_with": self.there}


def versions() -> dict[str, str]:
    """Return the versions of all software that could affect the result."""
    found = {"kerncast": __version__, "python": platform.python_version(),
             "machine": f"{sys.platform} {platform.machine()}"}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def verify(given: Path, backends: Sequence[str], flips: int, report: Report,
           bundle: Path | None = None) -> Verification:
    """Derive the plan, code and values of a folder or bundle again, and compare them.

    Parameters
    ----------
    given : Path
        A folder made by ``kerncast gen``, or a bundle.
    backends : sequence of str
        Back ends on which to replay the vectors. They are built from the derived files, and only if all files
        are equal.
    flips : int
        Number of states and frames to damage in each way.
    report : callable
        Progress callback; receives the name of the current step.
    bundle : Path, optional
        File of a new bundle. It is written only if there are no mismatches.

    Raises
    ------
    KerncastError
        E304 or E305 if this is not a generated folder, E1xx or E211 if its spec or vectors are invalid, E336
        if the file is not a bundle, E337 if another version made it, E338 if the spec or the samples are
        missing, E339 if `bundle` exists, E191 if `bundle` cannot be written.
    """
    if bundle is not None:
        _check_new(bundle)
    with _opened(given, report) as (folder, manifest, there):
        found = _verified(folder, manifest, there, backends, flips, report)
        if bundle is not None and not found.mismatches:
            report(f"writing {bundle}")
            _write(bundle, folder, manifest, found)
    return found


def _check_new(bundle: Path) -> None:
    """Check that a bundle can be written, before the verification.

    Raises E339 if the file exists or is a link, and E191 if it cannot be written.
    """
    if os.path.lexists(bundle):
        raise fail("E339", "the file of the bundle exists already", where="-o", value=str(bundle),
                   allowed="a new file", remedy="choose another name, or remove the file")
    refuse_unwritable(bundle, "-o", "the bundle")


def _verified(folder: Path, manifest: Manifest, there: dict[str, str], backends: Sequence[str], flips: int,
              report: Report) -> Verification:
    report("comparing files with the manifest")
    checks = [_files_of(folder, manifest)]
    if checks[0].mismatches:  # what is derived from them would prove nothing
        return Verification(manifest.plan, tuple(checks), (), (), versions(), there)
    vectors, spec = _loaded(folder, manifest)
    report("deriving the plan from spec and samples")
    plan = make_plan(spec, *planning_samples(make_plan(spec), vectors))
    checks.append(_bytes("plan", _held(folder, [PLAN]), {PLAN: plan.to_json()}))
    report("running the integer model")
    own = make_vectors(open_model(plan), [(call.name, call.x_raw, call.y_raw) for call in vectors.calls])
    checks.append(_words(own, vectors))
    report("generating the code")
    target = load_target(manifest.target) if manifest.target else None
    files, again = render_all(plan, target, own, packages_in(manifest.name, manifest.files), spec)
    files[MANIFEST] = again.to_json()
    checks.append(_bytes("generated files", _held(folder, [MANIFEST, *manifest.files]), files))
    if any(check.mismatches for check in checks):  # the verdict stands: run nothing
        return Verification(plan.hash, tuple(checks), (), (), versions(), there)
    rows, damage = [], []
    with tempfile.TemporaryDirectory(prefix="kerncast-") as made:
        derived = Path(made) / "derived"
        for name, text in files.items():
            write_whole(derived / name, text)
        for name in backends:
            report(name)
            rows.append(run_backend(plan, own, name, derived))
        if flips:
            report("damaging states and frames")
            for name in ("model", *(name for name in backends if name.startswith("host"))):
                damage += _damaged_states(plan, own, name, derived, flips)
            damage += damage_frames(own, flips)
    return Verification(plan.hash, tuple(checks), tuple(rows), tuple(damage), versions(), there)


def _damaged_states(plan: Plan, vectors: Vectors, name: str, folder: Path, flips: int) -> list[Damage]:
    backend = open_backend(plan, name, source=folder)
    try:
        if "save" not in backend.calls:  # a model that was trained elsewhere has no state
            return []
        for call in vectors.calls:
            if call.name != "predict":
                call.run(backend)
        return damage_states(backend, flips)
    finally:
        backend.close()


def _loaded(folder: Path, manifest: Manifest) -> tuple[Vectors, Spec]:
    """Read the vectors and the spec of a folder that matches its manifest."""
    vectors = load_vectors(folder)
    if vectors is None or not (folder / SPEC).is_file():
        raise fail("E338", "the folder does not contain its spec or its samples", where=str(folder),
                   value=f"no {VECTORS if vectors is None else SPEC}",
                   allowed="a folder made by kerncast gen from a spec with [data]", remedy=_REDO)
    spec = Spec.load(folder / SPEC)
    if spec.predictor is not None and str(PurePosixPath(spec.predictor.file)) not in manifest.files:
        # Not read from another place: what is verified must not choose files of this machine.
        raise fail("E338", "the folder does not contain its trained model",
                   where=f"{folder / SPEC} [predictor] file", value=spec.predictor.file,
                   allowed="a trained model in the folder of its spec, or below it",
                   remedy="move the model there, change `file`, and generate the folder again")
    return vectors, spec


def _held(folder: Path, names: Sequence[str]) -> dict[str, str]:
    """Read files of a folder; return their texts by name, empty for a missing file."""
    return {name: content(folder / name) or "" for name in names}


def _files_of(folder: Path, manifest: Manifest) -> Check:
    """Compare each file of a folder with its digest in the manifest."""
    wrong = [name for name, sha in manifest.files.items()
             if (text := content(folder / name)) is None or digest(text) != sha]
    return Check("files", "files", len(manifest.files), len(wrong), ", ".join(wrong[:3]))


def _bytes(name: str, held: dict[str, str], made: dict[str, str]) -> Check:
    """Compare the texts of files byte by byte.

    If a file is missing on one side, each of its bytes counts as a mismatch.
    """
    compared, unequal, first = 0, 0, ""
    for file in sorted({*held, *made}, key=lambda file: (file == MANIFEST, file)):  # the cause first
        here, there = (np.frombuffer(side.get(file, "").encode("utf-8", "surrogateescape"), np.uint8)
                       for side in (held, made))
        size = max(len(here), len(there))
        common = min(len(here), len(there))
        differ = size - common + int(np.count_nonzero(here[:common] != there[:common]))
        compared, unequal = compared + size, unequal + differ
        first = first or (file if differ else "")
    return Check(name, "bytes", compared, unequal, first)


def _words(own: Vectors, held: Vectors) -> Check:
    """Compare the results of the integer model with those in the folder's vectors."""
    result = Comparison()
    for i, (made, found) in enumerate(zip(own.calls, held.calls, strict=True)):
        result.add(f"call {i} {found.name}", made.expected, found.expected)
    result.add("state", own.state, held.state)
    result.add("workspace", own.workspace, held.workspace)
    result.add("fitted", own.fitted, held.fitted)
    return Check("model", "words", result.words, result.mismatches, result.first)


@contextmanager
def _opened(given: Path, report: Report) -> Iterator[tuple[Path, Manifest, dict[str, str]]]:
    """Copy a folder or unpack a bundle into a temporary folder, for the block.

    The original folder is not changed by builds.
    """
    with tempfile.TemporaryDirectory(prefix="kerncast-") as made:
        own = Path(made) / "bundle"
        if given.is_dir():
            _copy(given, own)
        else:
            report(f"unpacking {given}")
        try:
            there = {} if given.is_dir() else _unpack(given, own)
            manifest = load_manifest(own)
            _refuse_other_version(given, own)
            yield own, manifest, there
        except KerncastError as error:  # a place in the folder of our own is one in what was given
            raise KerncastError([replace(p, where=p.where.replace(str(own), str(given)),
                                         value=p.value.replace(str(own), str(given)))
                                 for p in error.problems]) from None


def _copy(given: Path, into: Path) -> None:
    """Copy the files that a folder's manifest lists.

    Links and special files are not copied.
    """
    names = [name for name in (MANIFEST, *load_manifest(given).files)
             if (given / name).is_file() and not (given / name).is_symlink()]
    if len(names) > MAX_FILES or sum((given / name).stat().st_size for name in names) > LARGEST_BYTES:
        raise fail("E336", "the folder is larger than any that kerncast writes", where=str(given),
                   value=f"{len(names)} files", allowed=f"{MAX_FILES} files, {LARGEST_BYTES} bytes",
                   remedy=_REDO)
    for name in names:
        (into / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(given / name, into / name)


def _member(file: zipfile.ZipFile, name: str) -> bytes:
    """Read a member, and no more of it than its stated size."""
    with file.open(name) as part:
        return part.read(file.getinfo(name).file_size)


def _unpack(given: Path, into: Path) -> dict[str, str]:
    """Unpack a bundle's files; return the software versions with which it was made."""
    if not given.exists():
        raise fail("E336", "the folder or bundle does not exist", where=str(given), value="no such file",
                   allowed=_VERIFIABLE, remedy="check the path")
    try:
        if not given.is_file() or given.stat().st_size > LARGEST_BYTES:  # a device has no end
            raise ValueError(f"it is not a regular file, or it is larger than {LARGEST_BYTES} bytes")
        with zipfile.ZipFile(given) as file:
            entries = file.infolist()
            if len(entries) > MAX_FILES or unpacked_bytes(file) > LARGEST_BYTES:
                raise ValueError(f"it contains more than {MAX_FILES} files or {LARGEST_BYTES} bytes")
            into.mkdir()
            (into / MANIFEST).write_bytes(_member(file, MANIFEST))
            listed = load_manifest(into).files
            names = Counter(entry.filename for entry in entries)
            if odd := [name for name in sorted(names)
                       if names[name] > 1 or name not in {MANIFEST, VERIFIED, *listed}]:
                raise ValueError(f"files not in the manifest, or in the bundle twice: {', '.join(odd[:3])}")
            for name in listed:
                if name in names:
                    (into / name).parent.mkdir(parents=True, exist_ok=True)
                    (into / name).write_bytes(_member(file, name))
            there = dict(parse_json(_member(file, VERIFIED))["versions"])
            if not all(isinstance(text, str) for text in (*there, *there.values())):
                raise ValueError(f"the versions in {VERIFIED} are not text")
            return there
    except KerncastError:
        raise
    except (OSError, EOFError, ValueError, KeyError, TypeError, RuntimeError, zipfile.BadZipFile,
            zlib.error) as error:  # RuntimeError: encrypted
        raise fail("E336", "this is not a bundle, or it is damaged", where=str(given), value=str(error),
                   allowed=_VERIFIABLE, remedy="make the bundle again, or copy it again") from None


def _refuse_other_version(given: Path, folder: Path) -> None:
    maker = read_json(folder / MANIFEST).get("generator")
    if maker != f"kerncast {__version__}":
        raise fail("E337", "these files were generated by another version", where=str(given),
                   value=str(maker),
                   allowed=f"kerncast {__version__}",
                   remedy=f"verify with {maker}, or generate the files again")


def _write(bundle: Path, folder: Path, manifest: Manifest, found: Verification) -> None:
    """Write a bundle. Its bytes depend only on the folder and the verification."""
    part = bundle.with_name(f".{bundle.name}.kerncast-part")
    texts = _held(folder, [MANIFEST, *manifest.files])
    try:
        with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as file:
            for name, text in (*texts.items(), (VERIFIED, json.dumps(found.as_dict(), indent=1) + "\n")):
                entry = zipfile.ZipInfo(name)  # without a date: 1980
                entry.compress_type = zipfile.ZIP_DEFLATED
                file.writestr(entry, text)
        part.replace(bundle)
    finally:
        part.unlink(missing_ok=True)
