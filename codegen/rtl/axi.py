"""codegen.rtl: the ports of the AXI4-Lite wrapper ``<prefix>_<core>_axi``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...sim.plan import ABI, Plan
from .common import render_files
from .registers import register_map

#: Modules that the wrapper needs in addition to its core.
MODULES = ("kc_registers", "kc_soft_reset")
#: Numbers by which software identifies the kind of a core.
CORE_TYPES = {"predictor": 1, "learner": 2, "solver": 3, "trainer": 4}


@dataclass(frozen=True)
class Stream:
    """Stream of a core.

    Parameters
    ----------
    name : str
        Name of the stream without the prefix ``s_axis_`` or ``m_axis_``.
    takes : bool
        Whether it is an input of the core.
    bits, user_bits : int
        Widths of ``tdata`` and ``tuser``, 0 if absent.
    """

    name: str
    takes: bool
    bits: int
    user_bits: int = 0

    @property
    def beat_bits(self) -> int:
        """Return the width of a beat outside the core: a power of two, at least 8."""
        return max(8, 1 << (self.bits - 1).bit_length())

    @property
    def port(self) -> str:
        """Return the prefix of the stream's signal names."""
        return f"{'s' if self.takes else 'm'}_axis_{self.name}"


@dataclass(frozen=True)
class Ports:
    """Ports of a core, without ``clk``, ``rst``, ``error_clear`` and ``busy``.

    Parameters
    ----------
    core : str
    streams : tuple of Stream
    counted : (str, str)
        The input and output stream whose frames are counted; ``tuser`` of the second is the status.
    errors, commands : tuple of (str, str)
        Outputs and inputs of one bit, with their meaning.
    lanes : bool
        Whether the module has the parameter LANES.
    """

    core: str
    streams: tuple[Stream, ...]
    counted: tuple[str, str]
    errors: tuple[tuple[str, str], ...]
    commands: tuple[tuple[str, str], ...] = ()
    lanes: bool = False

    def context(self, plan: Plan) -> dict[str, Any]:
        """Build the template context."""
        constants = self._constants(plan)
        return {"core": self.core, "streams": self.streams, "counted": self.counted, "errors": self.errors,
                "takes": [stream for stream in self.streams if stream.takes],
                "gives": [stream for stream in self.streams if not stream.takes],
                "commands": self.commands, "lanes": self.lanes, "abi": ABI,
                "core_type": constants["core.kind"], "size": constants["size.value"],
                "inputs": constants["shape.inputs"],
                "word": plan.word, "register_map": register_map(), "hash_words": hash_words(plan),
                "constants": constants}

    def _constants(self, plan: Plan) -> dict[str, int]:
        """Return the values of fields that a core never changes, by register and field."""
        return {"magic.value": 0x4B435354, "core.kind": CORE_TYPES[self.core], "core.map": register_map().map,
                "core.abi": ABI, "size.value": plan.sizes["n"] if plan.trains else plan.sizes["N"],
                "shape.inputs": plan.sizes["D"], "shape.outputs": 1, "build.word": plan.word}


def hash_words(plan: Plan) -> list[str]:
    """Return the plan's hash as hexadecimal 32-bit words, most significant first."""
    return [plan.hash[i:i + 8] for i in range(0, 64, 8)]


#: Ports of AXI4-Lite in the wrapper for block designs: direction, bits, name.
AXIL_PORTS = tuple(
    (f"{'input ' if bits > 0 else 'output'} wire", abs(bits), name) for name, bits in (
        ("awaddr", 8), ("awprot", 3), ("awvalid", 1), ("awready", -1), ("wdata", 32), ("wstrb", 4),
        ("wvalid", 1), ("wready", -1), ("bresp", -2), ("bvalid", -1), ("bready", 1), ("araddr", 8),
        ("arprot", 3),
        ("arvalid", 1), ("arready", -1), ("rdata", -32), ("rresp", -2), ("rvalid", -1), ("rready", 1)))


def package_files(p: str, core: str, values: dict[str, Any], files: dict[str, str]) -> dict[str, str]:
    """Render the Verilog wrapper and the packages of a core from its rendered `files`."""
    listed = [line for line in files[f"{p}_{core}.f"].splitlines() if line and not line.startswith("//")]
    return render_files({f"{p}_{core}_wrap.v": "core_wrap.v", f"{p}_{core}.core": "core.core",
                         f"{p}_{core}_package_ip.tcl": "package_ip.tcl", f"{p}_{core}_hw.tcl": "hw.tcl",
                         f"{p}_{core}.sdc": "core.sdc", f"{p}_{core}.xdc": "core.sdc",
                         f"{p}_{core}.lpf": "core.lpf"},
                        values | {"core_files": listed, "axil_ports": AXIL_PORTS})


def software_files(p: str, core: str) -> dict[str, str]:
    """Map each additional file for software and tools to its template."""
    return {"kc_core_regs.h": "kc_core_regs.h", "kc_core.h": "kc_core.h", "kc_core.c": "kc_core.c",
            f"{p}_{core}_regs.h": "core_regs.h",
            f"{p}_{core}.rdl": "core.rdl", f"{p}_{core}.xml": "core.xml"}
