"""formal: prove the handshake of every stream port of complete cores.

The proofs include registers and soft reset. A core is generated, and the rules of AXI4-Stream are asserted at
its output ports. The module that sends at an output has its own claim in :mod:`.claims`. Here, this claim is
assumed, so that induction over a few clock cycles is sufficient.
"""

from __future__ import annotations

import hashlib
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

from ...codegen.rtl import RtlCore, core_named, generate_rtl, rtl_sources, unique_file
from ...codegen.rtl.axi import Stream
from ...codegen.rtl.names import without_comments
from ...sim.plan import Plan
from ...sim.planner import make_plan
from ...sim.spec import Spec
from .prover import RESET_FIRST, ClaimResult, check

_TRAINER = """
model = {name = "small", algorithm = "toeplitz_rls"}
input = {word = "u8f0"}
output = {word = "u8f0"}
kernel = {sigma = 2.0}
toeplitz = {n = 2, lambda = 0.1, scheme = "uniform", step = 3, solver = "levinson"}
numbers = {word = 16, exp_table = "small"}
"""
_BANDED = _TRAINER.replace('n = 2, lambda = 0.1, scheme = "uniform", step = 3, solver = "levinson"',
                           'n = 4, lambda = 0.1, scheme = "uniform", step = 4, solver = "banded"')
_GRID = _TRAINER.replace("sigma = 2.0", "sigma = 0.6").replace("n = 2", "n = 6")
_INTERCEPT = _GRID.replace("step = 3", "step = 3, bias = true")
_BOTH = _TRAINER.replace("step = 3", "step = 3, bias = true")
_LEARNER = """
model = {name = "small", algorithm = "kernel_lms"}
input = {word = "u8f0"}
output = {word = "u8f0"}
kernel = {sigma = 60.0}
online = {budget = 2, eta = 0.5}
numbers = {word = 16, exp_table = "small"}
"""
#: Modules at the end of a core whose claim of a stable beat is assumed, with the prefix of that stream.
_SENDERS = {"kc_solution_sender": "m_axis", "kc_state_reader": "m_axis_state"}
_DEPTH = 3


@dataclass(frozen=True)
class CoreClaim:
    """Claim about all stream ports of a core with AXI4-Lite registers.

    Parameters
    ----------
    core, spec : str
        Name of the core, and the spec from which it is generated.
    assumed : tuple of str
        Modules of `_SENDERS` at the outputs of the core. Their own claims are assumed.
    lanes : int
    variant : str
        Name that distinguishes several claims about one core; empty if there is only one.
    """

    core: str
    spec: str
    assumed: tuple[str, ...] = ()
    lanes: int = 1
    variant: str = ""

    @property
    def title(self) -> str:
        """Return the name of the core with its variant."""
        return f"{self.core}{self.variant and ', ' + self.variant}"

    @property
    def key(self) -> str:
        """Return a name for tests and logs."""
        return f"{self.core}{self.variant and '-' + self.variant.replace(' ', '-')}-{self.lanes}"


CORE_CLAIMS = (
    *(CoreClaim("predictor", _LEARNER, lanes=lanes) for lanes in (1, 2)),
    CoreClaim("predictor", _GRID, variant="on a grid"),
    CoreClaim("predictor", _INTERCEPT, variant="with an intercept"),
    *(CoreClaim("learner", _LEARNER, ("kc_state_reader",), lanes) for lanes in (1, 2)),
    *(CoreClaim("solver", _TRAINER, ("kc_solution_sender",), lanes) for lanes in (1, 2)),
    *(CoreClaim("trainer", _TRAINER, ("kc_solution_sender",), lanes) for lanes in (1, 2)),
    *(CoreClaim(core, _BANDED, ("kc_solution_sender",), variant="banded") for core in ("solver", "trainer")),
    *(CoreClaim(core, _BOTH, ("kc_solution_sender",), variant="with an intercept")
      for core in ("solver", "trainer")),
)
#: Faults, one at a time: core, file behind the name of the model or whole, original text, replacement.
CORE_MUTANTS = (
    ("predictor", "small_predictor.sv", "(f_valid_reg && !answered)", "1'b0"),
    ("predictor", "small_predictor.sv", "(!f_valid_reg || m_axis_f_tready)", "1'b1"),
    ("predictor", "kc_soft_reset.sv", "&& unfinished == 0", ""),
    ("learner", "kc_learner_reply.sv", "if (m_axis_f_tready) f_valid_reg", "f_valid_reg"),
    ("solver", "small_solver.sv", ".m_axis_tready(m_axis_alpha_tready)", ".m_axis_tready(1'b1)"),
    ("trainer", "kc_model_sender.sv", "passes && m_axis_tready", "passes"),
)


def _rule(kind: str, port: str, user: bool = True) -> str:
    """Return the assertion that a beat does not change until it is accepted."""
    signals = ("tdata", *(("tuser",) if user else ()), "tlast")
    held = " && ".join((f"{port}_tvalid", *(f"$stable({port}_{signal})" for signal in signals)))
    return (f"    always @(posedge clk) if (formal_since && $past({port}_tvalid && !{port}_tready)) "
            f"{kind} ({held});\n")


def _inserted(text: str, rules: str, begin: str = "") -> str:
    since = "    logic formal_since = 0;\n    always @(posedge clk) formal_since <= !rst;\n"
    head, end, tail = text.rpartition("endmodule")
    return head + begin + since + rules + end + tail


def _ports(streams: tuple[Stream, ...]) -> str:
    return "".join(_rule("assume" if one.takes else "assert", one.port, bool(one.user_bits))
                   for one in streams)


def _generated(claim: CoreClaim) -> tuple[Plan, RtlCore, dict[str, str]]:
    """Return the plan, the core and the sources of a claim, in compile order."""
    plan, core = make_plan(Spec.from_text(claim.spec, "small.toml")), core_named(claim.core)
    with tempfile.TemporaryDirectory(prefix="kerncast-") as folder:
        generate_rtl(plan, folder)
        return plan, core, {path.name: path.read_text(encoding="utf-8")
                            for path in rtl_sources(Path(folder), plan, core)}


def prove_core(claim: CoreClaim, fault: tuple[str, str, str] | None = None) -> ClaimResult:
    """Prove the handshake of a core, optionally with an injected fault.

    `fault` consists of a file name, the original text and its replacement.
    """
    plan, core, files = _generated(claim)
    top = f"{plan.name}_{core.name}_axi"
    if fault is not None:
        name, before, after = unique_file(fault[0]), *fault[1:]
        if before not in files[name]:
            raise ValueError(f"{name} does not contain {before!r}")
        files[name] = files[name].replace(before, after, 1)
    files[f"{top}.sv"] = _inserted(files[f"{top}.sv"], _ports(core.ports(plan).streams), RESET_FIRST)
    for sender in claim.assumed:
        name = unique_file(f"{sender}.sv")
        files[name] = _inserted(files[name], _rule("assume", _SENDERS[sender]))
    return check(files, top, core.parameters(plan, claim.lanes), _DEPTH)


def core_sources() -> dict[str, str]:
    """Return the sources of all claims without comments, by claim and file."""
    return {f"{claim.key}/{name}": without_comments(text) for claim in CORE_CLAIMS
            for name, text in _generated(claim)[2].items()}


def core_digest() -> str:
    """Return a digest of the sources of all claims.

    Comments and plan hashes do not affect it.
    """
    text = re.sub(r"\b(256'h)?[0-9a-f]{64}\b", "", "".join(core_sources().values()))
    return hashlib.sha256(text.encode()).hexdigest()


def core_rows() -> list[tuple[str, str, str]]:
    """Return rows for the page: core, lanes and assumed modules of each claim."""
    return [(claim.title, str(claim.lanes),
             ", ".join(f"property of `{name}`" for name in claim.assumed) or "none") for claim in CORE_CLAIMS]
