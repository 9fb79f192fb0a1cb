"""codegen.rtl: describe the ports of a core and its AXI4-Lite wrapper.

The wrapper is the module ``<prefix>_<core>_axi``.
"""

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
    """AXI4-Stream port of a core.

    Parameters
    ----------
    name : str
        Name of the stream without the prefix ``s_axis_`` or ``m_axis_``.
    takes : bool
        Whether the stream is an input of the core.
    bits, user_bits : int
        Widths of ``tdata`` and ``tuser``; 0 if the signal is absent.
    """

    name: str
    takes: bool
    bits: int
    user_bits: int = 0

    @property
    def beat_bits(self) -> int:
        """Return the width of a beat at the wrapper: a power of two, at least 8 bits."""
        return max(8, 1 << (self.bits - 1).bit_length())

    @property
    def port(self) -> str:
        """Return the prefix of the stream's signal names, such as ``s_axis_x``."""
        return f"{'s' if self.takes else 'm'}_axis_{self.name}"


@dataclass(frozen=True)
class Ports:
    """Ports of a core, without ``clk``, ``rst``, ``error_clear`` and ``busy``.

    Parameters
    ----------
    core : str
        Name of the core.
    streams : tuple of Stream
    counted : (str, str)
        Names of the input stream and the output stream whose frames are counted. ``tuser`` of the output
        stream is the status.
    errors, commands : tuple of (str, str)
        Error outputs and command inputs, one bit each: the name and its meaning.
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
        """Build the template context of the wrapper and its packages."""
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
        """Return the values of the constant register fields, as ``register.field``."""
        return {"magic.value": 0x4B435354, "core.kind": CORE_TYPES.get(self.core, 0),
                "core.map": register_map().map,
                "core.abi": ABI, "size.value": plan.sizes["n"] if plan.trains else plan.sizes["N"],
                "shape.inputs": plan.sizes["D"], "shape.outputs": plan.outputs, "build.word": plan.word}


def hash_words(plan: Plan) -> list[str]:
    """Return the plan's hash as hexadecimal 32-bit values, most significant first."""
    return [plan.hash[i:i + 8] for i in range(0, 64, 8)]


#: Ports of AXI4-Lite in the wrapper for block designs: direction, bits, name.
AXIL_PORTS = tuple(
    (f"{'input ' if bits > 0 else 'output'} wire", abs(bits), name) for name, bits in (
        ("awaddr", 8), ("awprot", 3), ("awvalid", 1), ("awready", -1), ("wdata", 32), ("wstrb", 4),
        ("wvalid", 1), ("wready", -1), ("bresp", -2), ("bvalid", -1), ("bready", 1), ("araddr", 8),
        ("arprot", 3),
        ("arvalid", 1), ("arready", -1), ("rdata", -32), ("rresp", -2), ("rvalid", -1), ("rready", 1)))


def package_files(p: str, core: str, values: dict[str, Any], files: dict[str, str]) -> dict[str, str]:
    """Render a core's Verilog wrapper and the files for FPGA tools.

    `files` are the core's files that were rendered before; they include its file list.
    """
    listed = [line for line in files[f"{p}_{core}.f"].splitlines() if line and not line.startswith("//")]
    return render_files({f"{p}_{core}_wrap.v": "core_wrap.v", f"{p}_{core}.core": "core.core",
                         f"{p}_{core}_package_ip.tcl": "package_ip.tcl", f"{p}_{core}_hw.tcl": "hw.tcl",
                         f"{p}_{core}.sdc": "core.sdc", f"{p}_{core}.xdc": "core.sdc",
                         f"{p}_{core}.lpf": "core.lpf"},
                        values | {"core_files": listed, "axil_ports": AXIL_PORTS})


def software_files(p: str, core: str) -> dict[str, str]:
    """Map the register files for software and for tools to their templates."""
    return {"kc_core_regs.h": "kc_core_regs.h", "kc_core.h": "kc_core.h", "kc_core.c": "kc_core.c",
            f"{p}_{core}_regs.h": "core_regs.h",
            f"{p}_{core}.rdl": "core.rdl", f"{p}_{core}.xml": "core.xml"}
