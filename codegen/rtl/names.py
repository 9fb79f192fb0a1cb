"""codegen.rtl: give shared modules names that depend on their code.

All modules of a Verilog design share one name space, in which the modules of two versions of kerncast would
collide. A shared module ``kc_mac`` is therefore generated as ``kc_mac_<digest>``. The digest covers its code
and the modules that it instantiates, so that equal names mean equal code.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from functools import cache
from types import MappingProxyType

from ..resources import read_text, resource

_FOLDER = "hw/rtl"
_DIGITS = 6


def module_text(module: str) -> str:
    """Read the source of a shared module in hw/rtl."""
    return read_text(f"{_FOLDER}/{module}.sv")


def without_comments(text: str) -> str:
    """Return SystemVerilog without comments, so that they do not affect the digest."""
    lines = (line.partition("//")[0].rstrip() for line in text.splitlines())
    return "".join(f"{line}\n" for line in lines if line)


def _any_of(names: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern that matches any of the names as a whole word."""
    return re.compile(rf"\b(?:{'|'.join(names)})\b")


@cache
def unique_names() -> Mapping[str, str]:
    """Map each shared module to its name in generated files.

    The name does not depend on comments and white space.
    """
    modules = sorted(entry.name[:-3] for entry in resource(_FOLDER).iterdir() if entry.name.endswith(".sv"))
    code = {name: " ".join(without_comments(module_text(name)).split()) for name in modules}
    known = _any_of(modules)
    below = {name: sorted({*known.findall(text)} - {name}) for name, text in code.items()}

    @cache
    def digest(name: str) -> str:
        parts = [code[name], *map(digest, below[name])]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    return MappingProxyType({name: f"{name}_{digest(name)[:_DIGITS]}" for name in modules})


def unique_file(name: str) -> str:
    """Return the generated name of a file; only shared modules are renamed."""
    module = name.removesuffix(".sv")
    return f"{unique_names().get(module, module)}.sv" if name.endswith(".sv") else name


def with_unique_names(files: Mapping[str, str]) -> dict[str, str]:
    """Rename the shared modules in the names and the texts of files.

    Each file of a shared module gets an include guard, so that a design may list it more than once.

    Parameters
    ----------
    files : mapping of str to str
        Texts by file name.
    """
    names = unique_names()
    known = _any_of(names)

    def renamed(text: str) -> str:
        return known.sub(lambda found: names[found[0]], text)

    return {renamed(name): _guarded(names[name[:-3]], renamed(text)) if name[:-3] in names else renamed(text)
            for name, text in files.items()}


def _guarded(name: str, text: str) -> str:
    """Add an include guard around the code of a file, below its head comment."""
    head, directive, module = text.partition("`default_nettype none\n")
    macro = name.upper()
    return f"{head}`ifndef {macro}\n`define {macro}\n{directive}{module}`endif\n"
