"""codegen: read the call graph of an image and bound the stack of each call.

The compiler reports the stack frame size of each function (``-fstack-usage`` writes NAME.su next to NAME.o).
The calls are derived from the relocations of the objects, in which each function has a separate section. A
function is assumed to call every function that it refers to, directly or through a table, so that calls
through the function tables of kerncast are included. A call through a pointer argument, such as a storage
function of the application, is found only if the caller names the function tables that the object receives.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ...sim.errors import fail

_UNDEFINED, _SPECIAL = "SHN_UNDEF", ("SHN_ABS", "SHN_COMMON")
#: Words of the compiler for a frame whose size is an upper bound.
_BOUNDED = ("static", "dynamic,bounded")

#: A section of an object: the object's path and the section's number.
Section = tuple[str, int]


@dataclass
class CallGraph:
    """Sections of object files with their references and stack frame sizes.

    Parameters
    ----------
    homes : dict of str to Section
        The section that defines each global symbol.
    frames : dict of Section to int
        Stack frame size of each function in bytes; 0 for a table.
    names : dict of Section to str
        Names of the sections, for messages.
    references : dict of Section to set
        What each section refers to: sections of the same object, and symbols of other objects by name.
    runtime_bytes : int
        Maximum stack of a function in the compiler's runtime library, including the functions it calls.
    """

    runtime_bytes: int
    homes: dict[str, Section] = field(default_factory=dict)
    frames: dict[Section, int] = field(default_factory=dict)
    names: dict[Section, str] = field(default_factory=dict)
    references: dict[Section, set[Section | str]] = field(default_factory=dict)

    def max_stack(self, function: str) -> int:
        """Return the maximum stack usage of a function call, including its own frame.

        Parameters
        ----------
        function : str
            A global symbol of the objects.

        Raises
        ------
        KerncastError
            E331 if the call graph has a cycle, i.e. a function may call itself directly or indirectly.
        """
        known: dict[Section, int] = {}
        self._visit(self.homes[function], known, [])
        return known[self.homes[function]]

    def _visit(self, section: Section, known: dict[Section, int], path: list[Section]) -> int:
        if section in path:
            names = [self.names[s] for s in [*path[path.index(section):], section]]
            raise fail("E331", "a function may call itself, so its stack has no bound",
                       where=self.names[section], value=" -> ".join(names), allowed="calls without a cycle",
                       remedy="generate the folder again if you changed its C files; otherwise report this "
                              "error")
        if section not in known:
            path.append(section)
            known[section] = self.frames[section] + max(
                (self._deeper(r, known, path) for r in self.references[section]), default=0)
            path.pop()
        return known[section]

    def _deeper(self, reference: Section | str, known: dict[Section, int], path: list[Section]) -> int:
        home = self.homes.get(reference) if isinstance(reference, str) else reference
        if home is not None:
            return self._visit(home, known, path)
        return self.runtime_bytes


def call_graph(objects: Sequence[Path], runtime_bytes: int,
               handed: Mapping[str, Sequence[str]] = MappingProxyType({})) -> CallGraph:
    """Build the call graph of an image from its object files.

    Parameters
    ----------
    objects : sequence of Path
        Object files. The file NAME.su with the stack frame sizes must be next to each NAME.o.
    runtime_bytes : int
        As in :class:`CallGraph`.
    handed : mapping of str to sequence of str
        The function tables that an object receives as pointer arguments, by the file name of the object.

    Raises
    ------
    KerncastError
        E332 if the compiler reports no stack frame size for a function, or if the size is not bounded.
    """
    from elftools.elf.elffile import ELFFile  # not at import: most commands read no object file

    graph = CallGraph(runtime_bytes)
    for path in objects:
        with path.open("rb") as stream:
            _read(graph, str(path), ELFFile(stream), _frames(path.with_suffix(".su")))
    for (name, _), references in graph.references.items():
        references.update(handed.get(Path(name).name, ()))
    return graph


def _frames(path: Path) -> dict[str, tuple[int, str]]:
    """Return the size and the kind of each stack frame by function name.

    Each line of the file contains ``file:line:column:function``, the size and the kind.
    """
    if not path.is_file():  # of an object without functions
        return {}
    rows = (line.split("\t") for line in path.read_text(encoding="utf-8").splitlines())
    return {place.rpartition(":")[2]: (int(size), kind) for place, size, kind in rows}


def _read(graph: CallGraph, name: str, elf: Any, frames: dict[str, tuple[int, str]]) -> None:
    """Add the sections of an object file to the call graph."""
    from elftools.elf.relocation import RelocationSection

    for index, section in enumerate(elf.iter_sections()):
        graph.names[name, index], graph.frames[name, index] = section.name, 0
        graph.references[name, index] = set()
    for section in elf.iter_sections():
        if section["sh_type"] == "SHT_SYMTAB":
            _symbols(graph, name, section.iter_symbols(), frames)
    for section in elf.iter_sections():
        if isinstance(section, RelocationSection):
            symbols = elf.get_section(section["sh_link"])
            graph.references[name, section["sh_info"]] |= set(_targets(name, symbols, section))


def _symbols(graph: CallGraph, name: str, symbols: Iterable[Any], frames: dict[str, tuple[int, str]]) -> None:
    functions: dict[Section, list[str]] = {}
    for symbol in symbols:
        index = symbol["st_shndx"]
        if index == _UNDEFINED or index in _SPECIAL:
            continue
        section = (name, int(index))
        if symbol["st_info"]["bind"] != "STB_LOCAL":
            graph.homes[symbol.name] = section
        if symbol["st_info"]["type"] == "STT_FUNC":
            functions.setdefault(section, []).append(symbol.name)
    for section, names in functions.items():
        graph.names[section] = names[0]
        graph.frames[section] = _frame(names, frames, name)


def _frame(names: list[str], frames: dict[str, tuple[int, str]], name: str) -> int:
    """Return the stack frame size of a function.

    The compiler may list it under an alias, or under the name before a suffix such as ``.constprop.0``.
    """
    found = [frames[known] for function in names for known in _base_names(function) if known in frames]
    size, kind = found[0] if found else (0, "unknown")
    if kind not in _BOUNDED:
        raise fail("E332", "the compiler reports no bound on the stack frame of a function",
                   where=Path(name).name, value=f"{names[0]}: {kind}", allowed=" or ".join(_BOUNDED),
                   remedy="generate the folder again if you changed its C files; otherwise report this "
                          "error")
    return size


def _base_names(name: str) -> Iterable[str]:
    """Yield a name, then the name with its suffixes removed one after the other."""
    while name:
        yield name
        name = name.rpartition(".")[0]


def _targets(name: str, symbols: Any, relocations: Any) -> Iterable[Section | str]:
    """List the symbols and sections that a section may call, from its relocations.

    References to labels within the section itself are ignored: they are jumps, not calls.
    """
    for relocation in relocations.iter_relocations():
        symbol = symbols.get_symbol(relocation["r_info_sym"])
        index = symbol["st_shndx"]
        if index == _UNDEFINED:
            if symbol.name:
                yield symbol.name
        elif index not in _SPECIAL and (index != relocations["sh_info"]
                                        or symbol["st_info"]["type"] == "STT_FUNC"):
            yield name, int(index)
