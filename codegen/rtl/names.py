"""codegen.rtl: name shared modules by their code.

Verilog has one name space for modules, in which two versions of kerncast would collide. A shared module
``kc_mac`` is therefore generated as ``kc_mac_<digest>``, with the digest of its code and of the modules
below it: equal names mean equal code.
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
    """Read a shared module as shipped."""
    return read_text(f"{_FOLDER}/{module}.sv")


def without_comments(text: str) -> str:
    """Return SystemVerilog without comments, so that their wording may change."""
    lines = (line.partition("//")[0].rstrip() for line in text.splitlines())
    return "".join(f"{line}\n" for line in lines if line)


def _any_of(names: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern that matches any of the names as a whole word."""
    return re.compile(rf"\b(?:{'|'.join(names)})\b")


@cache
def unique_names() -> Mapping[str, str]:
    """Map each shared module to its name in generated files.

    Comments and white space do not change a name.
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
    """Return the generated name of a file of hw/rtl; keep any other name."""
    module = name.removesuffix(".sv")
    return f"{unique_names().get(module, module)}.sv" if name.endswith(".sv") else name


def with_unique_names(files: Mapping[str, str]) -> dict[str, str]:
    """Rename the shared modules in names and texts of files.

    A guard lets a design list the file of a shared module more than once.

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
    """Add an include guard around the code after a file's head comment."""
    head, directive, module = text.partition("`default_nettype none\n")
    macro = name.upper()
    return f"{head}`ifndef {macro}\n`define {macro}\n{directive}{module}`endif\n"
