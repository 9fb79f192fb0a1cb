"""lab: verification: every byte and word of a generated folder derived anew, here, from its spec and samples.

A bundle is such a folder in one ZIP file, with what verified it and with which versions, for another machine
to verify again.
"""

from __future__ import annotations

import json
import platform
import shutil
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from ... import __version__
from ...codegen.c.packages import packages_in
from ...codegen.firmware.targets import load_target
from ...codegen.generate import PLAN, SPEC, VECTORS, load_manifest, load_plan, load_vectors, render_all
from ...codegen.manifest import MANIFEST, Manifest, content, digest
from ...hw.backends import open_backend
from ...sim.backend import Comparison
from ...sim.diagnostics.simulate import grid
from ...sim.errors import KerncastError, fail
from ...sim.plan import Plan
from ...sim.planner import make_plan
from ...sim.replay.vectors import Vectors, make_vectors
from ...sim.spec import Spec
from .bit_flips import Damage, damage_frames, damage_states
from .ledger import Row, run_backend

Tell = Callable[[str], None]
#: Of a bundle: who verified it, beside the files of the folder.
VERIFIED = "verified.json"
#: More than any folder of ours takes, so that a small file does not fill a disk.
LARGEST_BYTES = 1 << 28
_PACKAGES = ("numpy", "numba", "jinja2", "cffi", "unicorn", "ziglang")
_VERIFIABLE = "a folder of kerncast gen, or a file of kerncast verify FOLDER -o FILE.zip"
_REDO = "generate the folder again: kerncast gen SPEC -o FOLDER"


@dataclass(frozen=True)
class Check:
    """What was derived anew, in `unit`, and how much of it is not what the bundle holds."""

    name: str
    unit: str
    compared: int
    mismatches: int
    first: str = ""

    def as_dict(self) -> dict[str, Any]:
        """For ``--json``."""
        return {"name": self.name, "unit": self.unit, "compared": self.compared,
                "mismatches": self.mismatches, "first": self.first}


@dataclass(frozen=True)
class Verification:
    """What came of a verification.

    Parameters
    ----------
    plan : str
        Its hash.
    checks : tuple of Check
    rows : tuple of Row
        By back end.
    damage : tuple of Damage
    here, there : dict of str to str
        Versions on this machine; on the one that made the bundle, empty for a folder.
    """

    plan: str
    checks: tuple[Check, ...]
    rows: tuple[Row, ...]
    damage: tuple[Damage, ...]
    here: dict[str, str]
    there: dict[str, str]

    @property
    def words(self) -> int:
        """Words compared, the model's own included."""
        return sum(c.compared for c in self.checks if c.unit == "words") + sum(r.words for r in self.rows)

    @property
    def mismatches(self) -> int:
        """Bytes and words that differ, and damage taken for right."""
        return (sum(check.mismatches for check in self.checks) + sum(row.mismatches for row in self.rows)
                + sum(damage.missed for damage in self.damage))

    def as_dict(self) -> dict[str, Any]:
        """For ``--json`` and the bundle."""
        return {"plan": self.plan, "words": self.words, "mismatches": self.mismatches,
                "checks": [check.as_dict() for check in self.checks],
                "backends": [row.as_dict() for row in self.rows],
                "damage": [damage.as_dict() for damage in self.damage],
                "versions": self.here, "made_with": self.there}


def versions() -> dict[str, str]:
    """What could make a difference here."""
    found = {"kerncast": __version__, "python": platform.python_version(),
             "machine": f"{sys.platform} {platform.machine()}"}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def verify(given: Path, backends: Sequence[str], flips: int, tell: Tell,
           bundle: Path | None = None) -> Verification:
    """Derive plan, code and words of a folder or bundle anew, and compare them with what it holds.

    Parameters
    ----------
    given : Path
        A folder made by ``kerncast gen``, or a bundle of one.
    backends : sequence of str
        Back ends that the vectors are replayed on, built from the files given.
    flips : int
        Damaged states and frames of each kind.
    tell : callable
        Told what is being done.
    bundle : Path, optional
        Where a bundle goes, if nothing differs.

    Raises
    ------
    KerncastError
        E304, E305, E210, E211 for a folder that is none; E336 for a file that is no bundle, E337 where
        another version made it, E338 without spec or samples, E339 where `bundle` exists already.
    """
    if bundle is not None and bundle.exists():
        raise fail("E339", "a bundle does not overwrite a file", where="-o", value=str(bundle),
                   allowed="a new file", remedy="choose another name, or remove the file yourself")
    with _opened(given, tell) as (folder, manifest, there):
        found = _verified(folder, manifest, there, backends, flips, tell)
        if bundle is not None and not found.mismatches:
            tell(f"writing {bundle}")
            _write(bundle, folder, manifest, found)
    return found


def _verified(folder: Path, manifest: Manifest, there: dict[str, str], backends: Sequence[str], flips: int,
              tell: Tell) -> Verification:
    tell("comparing the files with the manifest")
    checks = [_files_of(folder, manifest)]
    if checks[0].mismatches:  # what is derived from them would say nothing
        return Verification(manifest.plan, tuple(checks), (), (), versions(), there)
    plan, vectors, spec = _loaded(folder)
    tell("planning again from spec and samples")
    again = make_plan(spec, *_training(plan, vectors))
    checks.append(_bytes("plan", {PLAN: (folder / PLAN).read_text("utf-8")}, {PLAN: again.to_json()}))
    tell("running the integer model")
    checks.append(_words(again, vectors))
    tell("generating the code again")
    target = load_target(manifest.target) if manifest.target else None
    files, _ = render_all(again, target, vectors, packages_in(manifest.name, manifest.files), spec)
    held = {name: content(folder / name) or "" for name in manifest.files}
    checks.append(_bytes("generated files", held, files))
    if held.keys() != files.keys():  # nothing can be built of them
        return Verification(plan.hash, tuple(checks), (), (), versions(), there)
    rows, damage = [], []
    for name in backends:
        tell(name)
        rows.append(run_backend(plan, vectors, name, folder))
    if flips:
        tell("restoring damaged states and sending damaged frames")
        for name in ("model", *(name for name in backends if name.startswith("host"))):
            damage += _damaged_states(plan, vectors, name, folder, flips)
        damage += damage_frames(vectors, flips)
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


def _loaded(folder: Path) -> tuple[Plan, Vectors, Spec]:
    """Plan, vectors and spec of a folder whose files are intact."""
    plan, _ = load_plan(folder)
    vectors = load_vectors(folder)
    if vectors is None or not (folder / SPEC).is_file():
        raise fail("E338", "the folder lacks its spec or samples", where=str(folder),
                   value=f"no {VECTORS if vectors is None else SPEC}",
                   allowed="a folder made by kerncast gen from a spec with [data]", remedy=_REDO)
    return plan, vectors, Spec.load(folder / SPEC)


def _training(plan: Plan, vectors: Vectors) -> tuple[Any, Any]:
    """The samples that the plan was made with: those of the first training or update, or else prediction."""
    if plan.fixed:
        return vectors.calls[0].x_raw, None
    for call in vectors.calls:
        if call.y_raw is not None:
            return grid(plan) if call.x_raw is None else call.x_raw, call.y_raw
    return None, None


def _files_of(folder: Path, manifest: Manifest) -> Check:
    """Each file against its digest."""
    wrong = [name for name, sha in manifest.files.items()
             if (text := content(folder / name)) is None or digest(text) != sha]
    return Check("files", "files", len(manifest.files), len(wrong), ", ".join(wrong[:3]))


def _bytes(name: str, held: dict[str, str], made: dict[str, str]) -> Check:
    """Texts by name, byte by byte; those that only one side has count whole."""
    compared, unequal, first = 0, 0, ""
    for file in sorted({*held, *made}):
        here, there = (np.frombuffer(side.get(file, "").encode(), np.uint8) for side in (held, made))
        size = max(len(here), len(there))
        common = min(len(here), len(there))
        differ = size - common + int(np.count_nonzero(here[:common] != there[:common]))
        compared, unequal = compared + size, unequal + differ
        first = first or (file if differ else "")
    return Check(name, "bytes", compared, unequal, first)


def _words(plan: Plan, vectors: Vectors) -> Check:
    """What the model answers to the same calls, against what the vectors say."""
    again = make_vectors(plan, [(call.name, call.x_raw, call.y_raw) for call in vectors.calls])
    result = Comparison()
    for i, (held, made) in enumerate(zip(vectors.calls, again.calls, strict=True)):
        result.add(f"call {i} {held.name}", made.expected, held.expected)
    result.add("state", again.state, vectors.state)
    return Check("model", "words", result.words, result.mismatches, result.first)


@contextmanager
def _opened(given: Path, tell: Tell) -> Iterator[tuple[Path, Manifest, dict[str, str]]]:
    """The files of a folder or a bundle in a folder of their own, so that nothing is built beside them."""
    with tempfile.TemporaryDirectory(prefix="kerncast-") as made:
        own, there = Path(made) / "bundle", {}
        if given.is_dir():
            for name in (MANIFEST, *load_manifest(given).files):
                if (given / name).is_file():
                    (own / name).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(given / name, own / name)
        else:
            tell(f"unpacking {given}")
            there = _unpack(given, own)
        try:
            manifest = load_manifest(own)
            _refuse_other_version(given, own)
            yield own, manifest, there
        except KerncastError as error:  # a place in the folder of our own is one in what was given
            raise KerncastError([replace(p, where=p.where.replace(str(own), str(given)))
                                 for p in error.problems]) from None


def _unpack(given: Path, into: Path) -> dict[str, str]:
    """The files that the manifest of a bundle names, and nothing else; versions of who made it."""
    if not given.exists():
        raise fail("E336", "nothing to verify", where=str(given), value="nothing there",
                   allowed=_VERIFIABLE, remedy="check the path")
    try:
        with zipfile.ZipFile(given) as file:
            if sum(entry.file_size for entry in file.infolist()) > LARGEST_BYTES:
                raise ValueError(f"more than {LARGEST_BYTES} bytes")
            into.mkdir()
            (into / MANIFEST).write_bytes(file.read(MANIFEST))
            for name in load_manifest(into).files:
                if name in file.namelist():
                    (into / name).parent.mkdir(parents=True, exist_ok=True)
                    (into / name).write_bytes(file.read(name))
            there = dict(json.loads(file.read(VERIFIED))["versions"])
            if not all(isinstance(text, str) for text in (*there, *there.values())):
                raise ValueError(f"versions that are not text in {VERIFIED}")
            return there
    except KerncastError:
        raise
    except (OSError, EOFError, ValueError, KeyError, TypeError, zipfile.BadZipFile, zlib.error,
            NotImplementedError) as error:
        raise fail("E336", "not a bundle, or a damaged one", where=str(given), value=str(error),
                   allowed=_VERIFIABLE, remedy="copy it again, or make it again") from None


def _refuse_other_version(given: Path, folder: Path) -> None:
    maker = json.loads((folder / MANIFEST).read_text("utf-8")).get("generator")
    if maker != f"kerncast {__version__}":
        raise fail("E337", "generated by another version", where=str(given), value=str(maker),
                   allowed=f"kerncast {__version__}", remedy=f"verify it with {maker}, or generate it again")


def _write(bundle: Path, folder: Path, manifest: Manifest, found: Verification) -> None:
    """One file; its bytes depend on the folder and on what verified it alone."""
    part = bundle.with_name(f".{bundle.name}.kerncast-part")
    texts = {name: (folder / name).read_text("utf-8") for name in (MANIFEST, *manifest.files)}
    try:
        with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as file:
            for name, text in (*texts.items(), (VERIFIED, json.dumps(found.as_dict(), indent=1) + "\n")):
                entry = zipfile.ZipInfo(name)  # without a date of its own: 1980
                entry.compress_type = zipfile.ZIP_DEFLATED
                file.writestr(entry, text)
        part.replace(bundle)
    finally:
        part.unlink(missing_ok=True)
