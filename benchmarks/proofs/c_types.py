"""proofs: integer types and conversions of C (C99 6.3.1) for any width of int."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pycparser import c_ast

from .c_source import STDINT, Refused


@dataclass(frozen=True)
class CType:
    """Integer type of C. Types with equal width and signedness are treated as equal."""

    bits: int
    signed: bool

    @property
    def least(self) -> int:
        """Return the minimum value of the type."""
        return -(1 << (self.bits - 1)) if self.signed else 0

    @property
    def greatest(self) -> int:
        """Return the maximum value of the type."""
        return (1 << (self.bits - self.signed)) - 1

    def __str__(self) -> str:
        return f"{'' if self.signed else 'u'}int{self.bits}_t"


@dataclass(frozen=True)
class CPointer:
    """Pointer to the first element of an array of integers."""

    element: CType


INT64 = CType(64, True)
BY_NAME = {name: CType(int(re.sub(r"\D", "", name)), not name.startswith("u")) for name in STDINT}


def declared(node: c_ast.Node) -> CType | CPointer:
    """Return the type of a declaration."""
    if isinstance(node, c_ast.PtrDecl):
        element = declared(node.type)
        if isinstance(element, CType):
            return CPointer(element)
    elif isinstance(node, c_ast.TypeDecl) and isinstance(node.type, c_ast.IdentifierType):
        name = " ".join(node.type.names)
        if name in BY_NAME:
            return BY_NAME[name]
    raise Refused(f"{node.coord}: a type that is not of <stdint.h>")


def integer(node: c_ast.Node) -> CType:
    """Return the integer type of a declaration."""
    found = declared(node)
    if isinstance(found, CType):
        return found
    raise Refused(f"{node.coord}: a pointer where an integer is expected")


def promoted(kind: CType, int_bits: int) -> CType:
    """Return the type after integer promotion: `int` for narrower types (C99 6.3.1.1)."""
    return CType(int_bits, True) if kind.bits < int_bits else kind


def common(a: CType, b: CType, int_bits: int) -> CType:
    """Return the common type of two operands (C99 6.3.1.8).

    It is the wider type. If both have the same width, it is the unsigned one.
    """
    a, b = promoted(a, int_bits), promoted(b, int_bits)
    if a.bits != b.bits:
        return a if a.bits > b.bits else b
    return a if not a.signed else b


def constant(node: c_ast.Constant, int_bits: int) -> tuple[int, CType]:
    """Return the value and type of an integer constant (C99 6.4.4.1).

    `c_source` replaces UINT32_C with the suffix LU.
    """
    text = node.value.upper().replace("0X", "0x")
    found = re.fullmatch(r"(0x[0-9A-F]+|0|[1-9]\d*)(U?)((?:LL)?|(?<!U)LU)", text)
    if found is None:
        raise Refused(f"{node.coord}: constant {node.value}")
    digits, unsigned, suffix = found.groups()
    unsigned = unsigned or suffix == "LU"
    value = int(digits, 0)
    for bits in {"LL": (64,), "LU": (32,), "": (int_bits, 32, 64)}[suffix]:
        for signed in (True, False):
            if (signed and unsigned) or (not signed and not unsigned and not digits.startswith("0x")):
                continue
            if value <= CType(bits, signed).greatest:
                return value, CType(bits, signed)
    raise Refused(f"{node.coord}: constant {node.value} fits no type")
