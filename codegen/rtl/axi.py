"""codegen.rtl: the ports of the AXI4-Lite wrapper ``<prefix>_<core>_axi``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...sim.plan import ABI

#: Modules that the wrapper needs in addition to its core.
MODULES = ("kc_registers",)


@dataclass(frozen=True)
class Stream:
    """Stream of a core.

    Parameters
    ----------
    name : str
        What follows ``s_axis_`` or ``m_axis_``.
    takes : bool
        Whether the core takes it.
    bits, user_bits : int
        Of ``tdata`` and ``tuser``, 0 where there is none.
    """

    name: str
    takes: bool
    bits: int
    user_bits: int = 0

    @property
    def port(self) -> str:
        """Return the prefix of its signal names."""
        return f"{'s' if self.takes else 'm'}_axis_{self.name}"


@dataclass(frozen=True)
class Ports:
    """Ports of a core, without ``clk``, ``rst``, ``error_clear`` and ``busy``.

    Parameters
    ----------
    core : str
    streams : tuple of Stream
    counted : (str, str)
        The streams whose frames are counted, in and out; the second has the status as its ``tuser``.
    errors, commands : tuple of (str, str)
        Outputs and inputs of one bit, with their meaning.
    lanes : bool
        Whether it has the parameter LANES.
    """

    core: str
    streams: tuple[Stream, ...]
    counted: tuple[str, str]
    errors: tuple[tuple[str, str], ...]
    commands: tuple[tuple[str, str], ...] = ()
    lanes: bool = False

    def context(self) -> dict[str, Any]:
        """Build the template context."""
        return {"core": self.core, "streams": self.streams, "counted": self.counted, "errors": self.errors,
                "commands": self.commands, "lanes": self.lanes, "abi": ABI}
