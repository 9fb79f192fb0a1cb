"""Measure the installation size of each extra of the package.

``python -m kerncast.benchmarks.extras`` writes docs/measured/extras.md. The size of an extra is the sum of
the files in those packages that it requires and that the core does not require.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "measured" / "extras.md"
_NAME = re.compile(r"[\w.-]+")

TEXT = """# Size of the installation

kerncast without extras takes {core} MB on disk (Python {python}, Linux, x86-64, without Python itself). Each
extra adds:

| extra | packages | MB |
|---|--:|--:|
{rows}

Extras share packages, so the sum of the sizes is an upper bound. `{command}` writes this page
from the installed versions.
"""


def closure(requirements: Iterable[str]) -> set[str]:
    """Return the installed distributions for requirements, including dependencies."""
    found: set[str] = set()
    waiting = list(requirements)
    while waiting:
        text = waiting.pop()
        wanted, _, marker = text.partition(";")
        match = _NAME.match(wanted.strip())
        assert match is not None, text
        name = match[0].lower().replace("_", "-")
        if "extra ==" in marker or name in found or not _applies(marker):
            continue
        try:
            needs = metadata.requires(name) or []
        except metadata.PackageNotFoundError:
            continue
        found.add(name)
        waiting += needs
    return found


def _applies(marker: str) -> bool:
    """Report whether an environment marker is true on this machine."""
    from packaging.markers import Marker

    return not marker.strip() or Marker(marker.strip()).evaluate({"extra": ""})


def megabytes(names: Iterable[str]) -> float:
    """Return the size of distributions in MB, without compiled Python files."""
    return sum(Path(str(file.locate())).stat().st_size for name in names
               for file in metadata.files(name) or () if file.suffix != ".pyc"
               and Path(str(file.locate())).is_file()) / 1e6


def page() -> str:
    """Run all measurements, and return the page."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras: dict[str, list[str]] = project["optional-dependencies"]
    core = closure(project["dependencies"])
    own = sum(path.stat().st_size for room in ("sim", "codegen", "templates", "firmware", "hw", "lab", "cli",
                                               "examples") for path in (ROOT / room).rglob("*")
              if path.is_file() and path.suffix != ".pyc") / 1e6
    rows = []
    for name in ("fast", "learn", "emu", "zig", "wasm", "report", "sweep", "rtl", "synth"):
        added = closure(extras[name]) - core
        rows.append(f"| `{name}` | {len(added)} | {megabytes(added):.0f} |")
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    return TEXT.format(core=f"{megabytes(core) + own:.0f}", python=python, rows="\n".join(rows),
                       command="python -m kerncast.benchmarks.extras")


def main() -> int:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
