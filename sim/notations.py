"""sim: convert casts to and from the notations of other tools.

:mod:`.formats` converts the formats. This module converts the rounding and overflow modes of fxpmath, of
APyTypes and of the ``ap_fixed`` types of HLS compilers. C and SystemVerilog do not have such modes; there, a
cast is a call of the primitive `requantise` or `wrap`.
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
    """Return the names that another tool uses for rounding and overflow modes.

    Parameters
    ----------
    tool : str
        ``fxpmath`` (arguments of ``Fxp``), ``apytypes`` (members of ``QuantizationMode`` and
        ``OverflowMode``) or ``ap_fixed`` (``ap_q_mode`` and ``ap_o_mode``).
    rounding, overflow : Rounding, Overflow

    Raises
    ------
    KerncastError
        E207 for any other tool.
    """
    _known(tool)
    return ROUNDING_NAMES[tool][rounding], OVERFLOW_NAMES[tool][overflow]


def read_cast(tool: str, rounding: str, overflow: str) -> tuple[Rounding, Overflow]:
    """Convert a tool's names of modes to modes; this is the inverse of `cast_names`."""
    _known(tool)
    roundings = {name: mode for mode, name in ROUNDING_NAMES[tool].items()}
    overflows = {name: mode for mode, name in OVERFLOW_NAMES[tool].items()}
    if rounding not in roundings or overflow not in overflows:
        raise fail("E207", f"kerncast does not support this cast of {tool}", where="cast",
                   value=f"{rounding}, {overflow}",
                   allowed=f"{', '.join(roundings)} with {', '.join(overflows)}",
                   remedy="choose the closest of the allowed casts")
    return roundings[rounding], overflows[overflow]


def ap_fixed(fmt: Format, rounding: Rounding, overflow: Overflow) -> str:
    """Return the HLS type of a format with a cast.

    An example is ``ap_fixed<16, 1, AP_RND, AP_SAT>``.
    """
    return f"{fmt.ap_fixed[:-1]}, {', '.join(cast_names('ap_fixed', rounding, overflow))}>"


def read_ap_fixed(text: str) -> tuple[Format, Rounding, Overflow]:
    """Parse an HLS type as returned by :func:`ap_fixed`.

    Modes that the text omits default to AP_TRN and AP_WRAP.

    Raises
    ------
    KerncastError
        E201 if the text is not an ``ap_fixed`` type, E207 if a mode is not supported.
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
