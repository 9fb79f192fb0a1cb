"""cli: what a shell completes: specs, generated folders, back ends, targets, boards, keys, codes.

``kerncast --install-completion`` asks for it. Each function answers the beginning of a word with all words
that go on from it, and never with an error.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

Words = list[str]


def _files(start: str, wanted: Callable[[Path], bool]) -> Words:
    """Paths that begin so: what is wanted, and folders to go on in."""
    folder, _, begun = start.rpartition("/")
    base = Path(f"{folder}/") if "/" in start else Path()
    prefix = f"{folder}/" if "/" in start else ""
    try:
        found = sorted(path for path in base.iterdir() if path.name.startswith(begun))
    except OSError:
        return []
    found = [path for path in found if begun.startswith(".") or not path.name.startswith(".")]
    return [f"{prefix}{path.name}{'/' * (path.is_dir() and not wanted(path))}" for path in found
            if path.is_dir() or wanted(path)]


def specs(incomplete: str) -> Words:
    """Specs: TOML files."""
    return _files(incomplete, lambda path: path.suffix == ".toml")


def data_files(incomplete: str) -> Words:
    """Tables of samples."""
    return _files(incomplete, lambda path: path.suffix in (".csv", ".tsv", ".txt"))


def generated(incomplete: str) -> Words:
    """Folders that kerncast generated."""
    return _files(incomplete, lambda path: (path / "manifest.json").is_file())


def target_names(incomplete: str) -> Words:
    """Targets."""
    from ..codegen.firmware.targets import target_ids

    return [name for name in target_ids() if name.startswith(incomplete)]


def board_names(incomplete: str) -> Words:
    """Boards."""
    from ..codegen.firmware.targets import board_ids

    return [name for name in board_ids() if name.startswith(incomplete)]


def target_or_board(incomplete: str) -> Words:
    """Targets, and boards."""
    return [*target_names(incomplete), *board_names(incomplete)]


def backends(incomplete: str) -> Words:
    """Names of back ends, those of the boards with each of their emulators."""
    from ..codegen.firmware.targets import all_boards

    emulated = [f"emu:{board.id}{tail}" for board in all_boards()[0] if board.emulators
                for tail in ("", *(f":{emulator}" for emulator in board.emulators))]
    ports = [f"board:{port}" for port in sorted(map(str, Path("/dev").glob("tty[AU]*")))]
    every = ["model", "model:fxpmath", "host", "host:gcc", "host:clang", "host:zig", "wasm", *emulated,
             "rtl:icarus", "rtl:verilator", "hls:vitis", "hls:catapult", "board:", *ports]
    return [name for name in every if name.startswith(incomplete)]


def codes(incomplete: str) -> Words:
    """Codes of errors, and statuses."""
    from ..sim.catalogue import CATALOGUE
    from ..sim.statuses import MEANINGS

    return [code for code in (*CATALOGUE, *MEANINGS) if code.startswith(incomplete)]


def sweep_keys(incomplete: str) -> Words:
    """Keys of a spec that a sweep can vary, each with what comes before its values."""
    from ..sim.spec.tables import TABLES, keys  # what sweeps import takes a second

    return [word for name in TABLES if name != "sweep" for key in keys(TABLES[name])
            if (word := f"{name}.{key}=").startswith(incomplete)]


def measures(incomplete: str) -> Words:
    """What a sweep measures and computes."""
    from ..lab.sweep.measures import MEASURES

    return [name for name in MEASURES if name.startswith(incomplete)]


def tool_groups(incomplete: str) -> Words:
    """Groups of tools that doctor looks for."""
    from .doctor import GROUPS

    return [name for name in GROUPS if name.startswith(incomplete)]
