"""codegen: read and write the manifest of a generated folder.

The manifest lists the generated files, so that kerncast does not change any other file.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from .. import __version__
from ..sim._json import read_json
from ..sim.errors import fail
from ..sim.plan import ABI, REMAKE_FOLDER, VERSION, other_version

MANIFEST = "manifest.json"
#: Stands between the digest that a file had and the one it gets, while a run is writing.
_TO = ">"


@dataclass(frozen=True)
class Manifest:
    """Manifest of a generated folder.

    Parameters
    ----------
    name, plan, spec, target : str
        Prefix of all C names, plan hash, spec hash, and target id (empty if the code is for any target).
    runtime : str
        SHA-256 of the runtime headers in the folder ``rt``.
    files : dict of str to str
        SHA-256 by file name, sorted. While files are being written, each entry contains the old and the new
        digest, because an interrupted run may leave either version.
    version : int
        Version of the plan format.
    """

    name: str
    plan: str
    spec: str
    target: str
    runtime: str
    files: dict[str, str]
    version: int = VERSION

    def to_json(self) -> str:
        """Serialise to deterministic JSON."""
        return json.dumps({"generator": f"kerncast {__version__}", "abi": ABI, "name": self.name,
                           "plan_version": self.version, "plan": self.plan, "spec": self.spec,
                           "target": self.target, "runtime": self.runtime,
                           "files": self.files}, indent=1) + "\n"

    @classmethod
    def read(cls, folder: Path) -> Manifest | None:
        """Read the manifest of a folder; return None if there is none.

        Raises E304 if the manifest is damaged.
        """
        path = folder / MANIFEST
        if not path.is_file():
            return None
        try:
            whole = read_json(path)
            manifest = cls(whole["name"], whole["plan"], whole["spec"], whole["target"],
                           whole.get("runtime", ""), dict(whole["files"]), whole.get("plan_version", 1))
            texts = (manifest.name, manifest.plan, manifest.spec, manifest.target, manifest.runtime,
                     *manifest.files.values())
            wrong = [text for text in texts if not isinstance(text, str)]
            wrong += [name for name in manifest.files if not _inside(name)]
            wrong += [repr(manifest.version)] if type(manifest.version) is not int else []
        except (ValueError, KeyError, TypeError) as error:
            wrong = [repr(error)]
        if wrong:
            raise fail("E304", "cannot read the manifest of the folder", where=str(path),
                       value=wrong[0], allowed="a generated manifest",
                       remedy="generate into a new folder")
        return manifest

    def transition_to(self, new: Manifest) -> Manifest:
        """Return the manifest to store while the files of `new` replace older files."""
        pairs = {name: (self.files.get(name, ""), new.files.get(name, ""))
                 for name in sorted({*self.files, *new.files})}
        return replace(new, files={name: now if before == now else f"{before}{_TO}{now}"
                                   for name, (before, now) in pairs.items()})

    def check_version(self, where: str) -> None:
        """Raise E213 if another version of kerncast wrote the folder."""
        if self.version != VERSION:
            raise other_version("folder", where, self.version, VERSION, REMAKE_FOLDER)

    @property
    def is_complete(self) -> bool:
        """Report whether the run that wrote the folder was completed."""
        return not any(_TO in digests for digests in self.files.values())

    def wrote(self, name: str, text: str) -> bool:
        """Report whether kerncast wrote `text` as the file `name`."""
        return digest(text) in self.files.get(name, "").split(_TO)

    @property
    def sources(self) -> list[str]:
        """List the C sources of the library."""
        return [*filter(is_source, self.files)]


def is_source(name: str) -> bool:
    """Report whether a file is a C source of the library, not of a package."""
    return name.endswith(".c") and "/" not in name


def _inside(name: str) -> bool:
    """Report whether `name` is a relative path that stays inside the folder."""
    path = PurePosixPath(name)
    return (bool(path.parts) and str(path) == name and not path.is_absolute()
            and ".." not in path.parts and not {"\\", ":", "\0"} & set(name))


def digest(text: str) -> str:
    """Return the SHA-256 of a file's text in UTF-8, as hexadecimal digits."""
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def runtime_digest(files: dict[str, str]) -> str:
    """Return the SHA-256 of the runtime headers among the generated files."""
    return digest("".join(f"{name}\0{text}\0" for name, text in sorted(files.items())
                          if name.startswith("rt/")))


def content(path: Path) -> str | None:
    """Return the exact text of a file, or None if `path` is not a regular file.

    Line ends are not converted. Bytes that are not valid UTF-8 become lone surrogates, so that files with
    different bytes have different texts.
    """
    if path.is_symlink() or not path.is_file():
        return None
    return path.read_bytes().decode("utf-8", "surrogateescape")
