"""codegen: write a CMSIS-Pack, an archive for Keil MDK and other tools."""

from __future__ import annotations

import os
import re
import zipfile
from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree

from ...sim._output_files import refuse_unwritable, whole_file
from ...sim.errors import fail
from ..manifest import MANIFEST

#: Of the folder, besides the files that the description names.
_ALSO = ("LICENSE", "sbom.spdx.json", "plan.json")
#: A ZIP archive has a time for each file; this one is fixed, so that the same folder gives the same bytes.
_TIME = (1980, 1, 1, 0, 0, 0)


def pack_files(folder: Path, description: str) -> list[str]:
    """List the files of a pack, sorted, as paths in the generated folder."""
    root = ElementTree.fromstring((folder / description).read_text(encoding="utf-8"))
    named = {file.get("name", "") for file in root.iter("file")}
    headers = {f"rt/{path.name}" for path in (folder / "rt").glob("*.h")}
    return sorted({name for name in named if not name.endswith("/")} | headers
                  | {name for name in _ALSO if (folder / name).is_file()} | {description})


def refuse_unwritable_pack(out: Path | None) -> None:
    """Raise E191 unless `out` is a writable folder, or can be created as one."""
    if out is None:
        return
    at = out.absolute()
    while not (at.exists() or at.is_symlink()):
        at = at.parent
    if not (at.is_dir() and os.access(at, os.W_OK)):
        raise fail("E191", "the pack cannot be written", where="--pack", value=str(out),
                   allowed="a writable folder, or a new one in a writable folder",
                   remedy="name a writable folder")


def write_pack(folder: Path, name: str, out: Path) -> Path:
    """Write the pack of a generated folder and return its path.

    The same folder gives an identical archive. Raises E310 if the folder was generated without the package
    cmsis, and E191 if the pack cannot be written.

    Parameters
    ----------
    folder : Path
        A folder that was generated with the package ``cmsis``.
    name : str
        The name of the model.
    out : Path
        The folder in which to store the pack. It is created if necessary.
    """
    description = f"kerncast.{name}.pdsc"
    if not (folder / description).is_file() or not (folder / MANIFEST).is_file():
        raise fail("E310", "--pack needs --package cmsis", where="--pack", value=str(out),
                   allowed="--package cmsis", remedy="add --package cmsis")
    release = re.search(r'<release version="([^"]+)"', (folder / description).read_text(encoding="utf-8"))
    assert release
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for file in pack_files(folder, description):
            entry = zipfile.ZipInfo(file, _TIME)
            entry.external_attr = 0o644 << 16
            entry.create_system = 3
            archive.writestr(entry, (folder / file).read_bytes())
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"kerncast.{name}.{release.group(1)}.pack"
    refuse_unwritable(path, "--pack", "the pack")
    with whole_file(path) as part:
        part.write_bytes(buffer.getvalue())
    return path
