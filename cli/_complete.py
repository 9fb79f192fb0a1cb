"""cli: shell completion of specs, folders, back ends, boards, keys and codes.

``kerncast --install-completion`` enables it. Each function receives the beginning of a word and returns all
words that start with it. No function raises an exception.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ._tools import GROUPS

Words = list[str]


def _files(start: str, wanted: Callable[[Path], bool]) -> Words:
    """Return paths that start with `start`: folders, and files of the given kind."""
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
    """Complete the paths of specs (TOML files)."""
    return _files(incomplete, lambda path: path.suffix == ".toml")


def data_files(incomplete: str) -> Words:
    """Complete paths of data files."""
    return _files(incomplete, lambda path: path.suffix in (".csv", ".tsv", ".txt"))


def generated(incomplete: str) -> Words:
    """Complete paths of folders that kerncast generated."""
    return _files(incomplete, lambda path: (path / "manifest.json").is_file())


def target_names(incomplete: str) -> Words:
    """Complete target ids."""
    from ..codegen.firmware.targets import target_ids

    return [name for name in target_ids() if name.startswith(incomplete)]


def board_names(incomplete: str) -> Words:
    """Complete board ids."""
    from ..codegen.firmware.targets import board_ids

    return [name for name in board_ids() if name.startswith(incomplete)]


def target_or_board(incomplete: str) -> Words:
    """Complete target ids and board ids."""
    return [*target_names(incomplete), *board_names(incomplete)]


def backends(incomplete: str) -> Words:
    """Complete names of back ends, with each emulator of each emulated board."""
    from ..codegen.firmware.targets import all_boards

    emulated = [f"emu:{board.id}{tail}" for board in all_boards()[0] if board.emulators
                for tail in ("", *(f":{emulator}" for emulator in board.emulators))]
    ports = [f"board:{port}" for port in sorted(map(str, Path("/dev").glob("tty[AU]*")))]
    every = ["model", "model:fxpmath", "host", "host:gcc", "host:clang", "host:zig", "wasm", *emulated,
             "rtl:icarus", "rtl:verilator", "hls:vitis", "hls:catapult", "board:", *ports]
    return [name for name in every if name.startswith(incomplete)]


def codes(incomplete: str) -> Words:
    """Complete error codes and statuses."""
    from ..sim.catalogue import CATALOGUE
    from ..sim.statuses import MEANINGS

    return [code for code in (*CATALOGUE, *MEANINGS) if code.startswith(incomplete)]


def sweep_keys(incomplete: str) -> Words:
    """Complete the keys of a spec that a sweep can vary."""
    from ..sim.spec.keys import TABLES, keys  # the modules of a sweep take a second to import

    return [word for name in TABLES if name != "sweep" for key in keys(TABLES[name])
            if (word := f"{name}.{key}=").startswith(incomplete)]


def measures(incomplete: str) -> Words:
    """Complete the names of measures for a sweep."""
    from ..lab.sweep.measures import MEASURES

    return [name for name in MEASURES if name.startswith(incomplete)]


def tool_groups(incomplete: str) -> Words:
    """Complete the names of the tool groups that kerncast doctor checks."""
    return [name for name in GROUPS if name.startswith(incomplete)]
