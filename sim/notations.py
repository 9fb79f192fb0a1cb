"""sim: conversion of casts from and to the notations of other tools.

:mod:`.formats` converts formats; this module converts the modes of fxpmath, APyTypes and the
``ap_fixed`` types of HLS compilers.  C and SystemVerilog have no such modes: there the cast is
the primitive `requantise`, or `wrap`, of the runtime.
"""

from __future__ import annotations

import re
from types import MappingProxyType

from .errors import fail
from .formats import Format, Overflow, Rounding

_F, _U, _E = Rounding.FLOOR, Rounding.HALF_UP, Rounding.HALF_EVEN
_S, _W = Overflow.SATURATE, Overflow.WRAP

#: Tool -> our rounding -> its name there.
ROUNDING_NAMES = MappingProxyType({
    "fxpmath": {_F: "floor", _U: "nearest_posinf", _E: "around"},
    "apytypes": {_F: "TO_NEG", _U: "TIES_POS", _E: "TIES_EVEN"},
    "ap_fixed": {_F: "AP_TRN", _U: "AP_RND", _E: "AP_RND_CONV"},
})
#: Tool -> our overflow -> its name there.
OVERFLOW_NAMES = MappingProxyType({
    "fxpmath": {_S: "saturate", _W: "wrap"},
    "apytypes": {_S: "SAT", _W: "WRAP"},
    "ap_fixed": {_S: "AP_SAT", _W: "AP_WRAP"},
})


def cast_names(tool: str, rounding: Rounding, overflow: Overflow) -> tuple[str, str]:
    """Return rounding and overflow modes as a tool names them.

    Parameters
    ----------
    tool : str
        ``fxpmath`` (arguments of ``Fxp``), ``apytypes`` (members of ``QuantizationMode`` and
        ``OverflowMode``) or ``ap_fixed`` (``ap_q_mode`` and ``ap_o_mode``).
    rounding, overflow : Rounding, Overflow

    Raises
    ------
    KerncastError
        E207 for another tool.
    """
    _known(tool)
    return ROUNDING_NAMES[tool][rounding], OVERFLOW_NAMES[tool][overflow]


def read_cast(tool: str, rounding: str, overflow: str) -> tuple[Rounding, Overflow]:
    """Return the modes for a tool's names: the inverse of :func:`cast_names`."""
    _known(tool)
    roundings = {name: mode for mode, name in ROUNDING_NAMES[tool].items()}
    overflows = {name: mode for mode, name in OVERFLOW_NAMES[tool].items()}
    if rounding not in roundings or overflow not in overflows:
        raise fail("E207", f"{tool} has a cast that kerncast does not support", where="cast",
                   value=f"{rounding}, {overflow}",
                   allowed=f"{', '.join(roundings)} with {', '.join(overflows)}",
                   remedy="choose the closest of the allowed casts")
    return roundings[rounding], overflows[overflow]


def ap_fixed(fmt: Format, rounding: Rounding, overflow: Overflow) -> str:
    """Return a format with its cast: ``ap_fixed<16, 1, AP_RND, AP_SAT>``."""
    return f"{fmt.ap_fixed[:-1]}, {', '.join(cast_names('ap_fixed', rounding, overflow))}>"


def read_ap_fixed(text: str) -> tuple[Format, Rounding, Overflow]:
    """Parse the text of :func:`ap_fixed`; omitted modes default to AP_TRN and AP_WRAP.

    Raises
    ------
    KerncastError
        E201 if it is not such a type, E207 if a mode is not supported.
    """
    fmt = Format.from_ap_fixed(text)
    modes = (*re.findall(r"AP_\w+", text), "AP_TRN", "AP_WRAP")
    given = len(modes) - 2
    return fmt, *read_cast("ap_fixed", modes[0], modes[1] if given > 1 else "AP_WRAP")


def _known(tool: str) -> None:
    if tool not in ROUNDING_NAMES:
        raise fail("E207", "kerncast does not support the notation of this tool", where="tool", value=tool,
                   allowed=", ".join(ROUNDING_NAMES),
                   remedy="use one of the allowed values")
