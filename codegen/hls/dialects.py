"""codegen.hls: the dialects of HLS C++: their pragmas and where each is placed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Dialect:
    """HLS C++ dialect of a vendor.

    Parameters
    ----------
    name : str
        The folder below ``hls/``, and the header of ``hw/hls`` that defines its integer types.
    title : str
    header : str
        The vendor's header of integer types, for C simulation.
    variable : str
        Environment variable with the folder that contains `header`.
    packaged : str
        That folder inside the Python package hls4ml.
    scripts, core_scripts : tuple of str
        Project files and their templates: for the folder, and for each core.
    """

    name: str
    title: str
    header: str
    variable: str
    packaged: str
    scripts: tuple[str, ...] = ()
    core_scripts: tuple[str, ...] = ()

    def before(self, ii: int = 0, unroll: int = 1) -> str:
        """Return the lines before a loop.

        `ii` is the initiation interval in clock cycles, 0 for none; `unroll` the unroll factor, 1 for none.
        """
        return ""

    def inside(self, ii: int = 0, unroll: int = 1, turns: int = 0, least: int = 0) -> str:
        """Return the first lines in the body of a loop with `least` to `turns` iterations."""
        return ""

    def top(self) -> str:
        """Return the lines before the top function."""
        return ""

    def process(self) -> str:
        """Return the lines before a function that runs in parallel with the others."""
        return ""

    def dataflow(self) -> str:
        """Return the first lines of a function whose calls run in parallel."""
        return ""

    def reset(self, variable: str) -> str:
        """Return the lines after a static variable, so that reset initialises it again."""
        return ""

    def independent(self, variable: str) -> str:
        """Return the lines that mark the accesses of a loop to `variable` as independent."""
        return ""

    def channel(self, word: str, name: str, depth: int = 2) -> str:
        """Return the lines that declare a channel of `depth` words between two processes."""
        return f"    static kc::stream<{word}> {name};\n"


class _Vitis(Dialect):
    def inside(self, ii: int = 0, unroll: int = 1, turns: int = 0, least: int = 0) -> str:
        lines = [f"#pragma HLS PIPELINE II={ii}"] if ii else []
        lines += [f"#pragma HLS UNROLL factor={unroll}"] if unroll > 1 else []
        lines += [f"#pragma HLS LOOP_TRIPCOUNT min={least} max={turns}"] if turns else []
        return "".join(f"{line}\n" for line in lines)

    def dataflow(self) -> str:
        return "#pragma HLS DATAFLOW\n"

    def reset(self, variable: str) -> str:
        return f"#pragma HLS RESET variable={variable}\n"

    def independent(self, variable: str) -> str:
        return "".join(f"#pragma HLS DEPENDENCE variable={variable} type={kind} false\n"
                       for kind in ("inter", "intra"))

    def channel(self, word: str, name: str, depth: int = 2) -> str:
        return f"    kc::stream<{word}> {name};\n#pragma HLS STREAM variable={name} depth={depth}\n"


class _Catapult(Dialect):
    def before(self, ii: int = 0, unroll: int = 1) -> str:
        lines = [f"#pragma hls_pipeline_init_interval {ii}"] if ii else []
        lines += [f"#pragma hls_unroll {unroll}"] if unroll > 1 else []
        return "".join(f"{line}\n" for line in lines)

    def top(self) -> str:
        return "#pragma hls_design top\n"

    def process(self) -> str:
        return "#pragma hls_design\n"


#: By name, as `[hls] dialects` and the back ends ``hls:NAME`` have it.
DIALECTS: dict[str, Dialect] = {dialect.name: dialect for dialect in (
    _Vitis("vitis", "Vitis HLS", "ap_int.h", "KERNCAST_AP_TYPES", "templates/vivado/ap_types",
           ("run_hls.tcl",), ("hls_config.cfg",)),
    _Catapult("catapult", "Catapult", "ac_int.h", "KERNCAST_AC_TYPES", "templates/catapult/ac_types/include",
              ("directives.tcl",)))}
