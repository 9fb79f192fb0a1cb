"""codegen: read the call graph of an image and bound the stack of each call.

The compiler reports the stack frame of each function (``-fstack-usage``: a file NAME.su next to each
NAME.o). The calls follow from the relocations of the objects, in which each function has its own section. A
function is assumed to call everything that it refers to, directly or through a table, so that calls through
kerncast's tables are counted. A call to an address that is passed as an argument, such as a storage
function of the application, is found only if the tables that an object receives are named.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection

from ...sim.errors import fail

_UNDEFINED, _SPECIAL = "SHN_UNDEF", ("SHN_ABS", "SHN_COMMON")
#: Words of the compiler for a frame whose size is an upper bound.
_BOUNDED = ("static", "dynamic,bounded")

#: A section of an object: the object's path and the section's number.
Section = tuple[str, int]


@dataclass
class CallGraph:
    """Sections of object files with their references and stack frames.

    Parameters
    ----------
    homes : dict of str to Section
        The section that defines each global symbol.
    frames : dict of Section to int
        Bytes of stack; a table has none.
    names : dict of Section to str
        Names of the sections for messages.
    references : dict of Section to set
        Sections, and names of symbols of other objects.
    runtime_bytes : int
        Maximum stack of a function of the compiler's own runtime, including its callees.
    """

    runtime_bytes: int
    homes: dict[str, Section] = field(default_factory=dict)
    frames: dict[Section, int] = field(default_factory=dict)
    names: dict[Section, str] = field(default_factory=dict)
    references: dict[Section, set[Section | str]] = field(default_factory=dict)

    def max_stack(self, function: str) -> int:
        """Return the maximum stack of a function call, including its own frame.

        Parameters
        ----------
        function : str
            A global symbol of the objects.

        Raises
        ------
        KerncastError
            E331 if a function may call itself, directly or indirectly.
        """
        known: dict[Section, int] = {}
        self._visit(self.homes[function], known, [])
        return known[self.homes[function]]

    def _visit(self, section: Section, known: dict[Section, int], path: list[Section]) -> int:
        if section in path:
            names = [self.names[s] for s in [*path[path.index(section):], section]]
            raise fail("E331", "a function may call itself, so its stack has no bound",
                       where=self.names[section], value=" -> ".join(names), allowed="calls without a cycle",
                       remedy="generate the folder again if its C files were changed; otherwise report this")
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
    """Read the objects of an image, each with its NAME.su file.

    Parameters
    ----------
    objects : sequence of Path
    runtime_bytes : int
        As in :class:`CallGraph`.
    handed : mapping of str to sequence of str
        Maps the file name of an object to the tables of functions whose addresses are passed to it.

    Raises
    ------
    KerncastError
        E332 if the compiler reports no stack frame size for a function, or an unbounded one.
    """
    graph = CallGraph(runtime_bytes)
    for path in objects:
        with path.open("rb") as stream:
            _read(graph, str(path), ELFFile(stream), _frames(path.with_suffix(".su")))
    for (name, _), references in graph.references.items():
        references.update(handed.get(Path(name).name, ()))
    return graph


def _frames(path: Path) -> dict[str, tuple[int, str]]:
    """Read bytes and kind of each frame from ``file:line:column:function`` lines."""
    if not path.is_file():  # of an object without functions
        return {}
    rows = (line.split("\t") for line in path.read_text(encoding="utf-8").splitlines())
    return {place.rpartition(":")[2]: (int(size), kind) for place, size, kind in rows}


def _read(graph: CallGraph, name: str, elf: Any, frames: dict[str, tuple[int, str]]) -> None:
    """Add the sections of an object."""
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
    """Return the frame of a function.

    The frame may be listed under an alias, or under the base name of a clone.
    """
    found = [frames[known] for function in names for known in _base_names(function) if known in frames]
    size, kind = found[0] if found else (0, "unknown")
    if kind not in _BOUNDED:
        raise fail("E332", "the compiler reports no bound on the stack frame of a function",
                   where=Path(name).name, value=f"{names[0]}: {kind}", allowed=" or ".join(_BOUNDED),
                   remedy="generate the folder again if its C files were changed; otherwise report this")
    return size


def _base_names(name: str) -> Iterable[str]:
    """Yield a name, then the name without its suffixes, removed one by one."""
    while name:
        yield name
        name = name.rpartition(".")[0]


def _targets(name: str, symbols: Any, relocations: Any) -> Iterable[Section | str]:
    """List the relocation targets of a section.

    A local label counts for its own function only.
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
