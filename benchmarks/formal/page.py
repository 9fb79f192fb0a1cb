"""formal: write the page from the results of the proofs."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from ...codegen.rtl.names import without_comments
from .claims import CLAIMS, MUTANTS
from .cores import CORE_CLAIMS, CORE_MUTANTS, core_digest, core_rows
from .prover import BOUNDED, HW, PROPERTIES, PROVED, ClaimResult

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "measured" / "formal.md"
COMMAND = "python -m kerncast.benchmarks.formal"

HEAD = """# Formal proofs of the SystemVerilog

Each module is checked against properties. They state what a correct value must satisfy, but do not compute
it. The properties are in `benchmarks/formal/properties`, one file per module. The properties of a module are
inserted into a copy of it, before `endmodule`. `yowasp-sby` passes the copy to yosys, and yosys-smtbmc
decides each property with the solver z3. There are two outcomes:

* **proved**: no run of any length violates a property. A search over the given number of clock cycles after
  reset finds no counterexample. Induction over the same number of clock cycles finds none from any other
  state. `rst` may be high in any clock cycle.
* **no counterexample**: the search covered only the given number of clock cycles, without induction.

A proof covers only the widths in the table. If a module supports larger widths, the tests in `tests/rtl`
compare them with the integer model. Nearly all properties are proved for runs of any length.
"""

CORES = """
## Streams of whole cores

Each core is generated for a small plan and checked together with its registers and its soft reset, as the
module `<p>_<core>_axi`. All plans have 16 bits. The predictor and the learner have one column and two
vectors. The value of n is 2 for the solver and the trainer, 4 for banded cores, and 6 for predictors on a
grid or with an intercept. The property to prove is: on each output stream, `tvalid` stays high until
`tready`, and `tdata`, `tuser` and `tlast` are stable until then. It must hold for every sequence of writes to
the registers, including writes that reset the core. The input streams are assumed to follow the same rule.
The proof is an induction over three clock cycles. It assumes the property that the table above lists for the
module that sends the values. For `kc_state_reader`, it also assumes that nothing writes to the memories while
that module reads them.

| core | lanes | property assumed | outcome |
|---|--:|---|---|"""

REST = """
## Not proved here

* `kc_divide`, `kc_exp2_16`, `kc_exp2_32` and `kc_abs_sinpi` are not proved, because their products and
  quotients are too wide for the solver. Their definitions are [proved for the C](primitives.md), and tests
  compare the modules with the C.
* The proofs do not cover the values that whole cores compute. Tests compare these values with the integer
  model, with random stalls and resets.
* It is assumed that z3, yosys and SymbiYosys are correct, and that your synthesis tool reads SystemVerilog
  as yosys does.

## Do the proofs detect errors?

Each fault is inserted on its own. For a module, the search must find a run from reset that violates a
property. For a whole core, the proof must fail. All faults are found.

| module | original | fault | found |
|---|---|---|---|"""


def digests() -> dict[str, str]:
    """Return digests of the modules and of the properties, without comments."""
    modules = dict.fromkeys(name for claim in CLAIMS for name in (claim.module, *claim.below))
    files = {"modules": [HW / f"{name}.sv" for name in sorted(modules)],
             "properties": sorted(PROPERTIES.glob("*.sv"))}
    texts = {what: "".join(without_comments(path.read_text(encoding="utf-8")) for path in paths)
             for what, paths in files.items()}
    cores = {"generated cores without hashes of plans, and": core_digest()}
    return cores | {what: hashlib.sha256(text.encode()).hexdigest() for what, text in texts.items()}


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _shown(verdict: ClaimResult) -> str:
    return verdict.outcome if verdict.outcome in (PROVED, BOUNDED) else "not decided"


def page(verdicts: Mapping[str, ClaimResult], found: Sequence[bool]) -> str:
    """Return the page from the results of all claims and of all injected faults."""
    lines = [HEAD, _row(("module", "property", "widths", "clocks", "outcome")), "|---|---|---|--:|---|"]
    for claim in CLAIMS:
        lines.append(_row((f"`{claim.module}`", claim.says, claim.widths, str(claim.depth),
                           _shown(verdicts[claim.key]))))
    lines.append(CORES)
    for of_core, row in zip(CORE_CLAIMS, core_rows(), strict=True):
        lines.append(_row((*row, _shown(verdicts[of_core.key]))))
    lines.append(REST)
    mutants = (*MUTANTS, *((f"{core}: {name}", before, after) for core, name, before, after in CORE_MUTANTS))
    for (module, before, after), seen in zip(mutants, found, strict=True):
        lines.append(_row((f"`{module}`", f"`{before}`", f"`{after}`", "yes" if seen else "no")))
    lines += ["", "## Version of this page", "",
              f"`{COMMAND}` writes this page. A test fails if the page is out of date. It covers the "
              "following sources:", "",
              *(f"* {name} without comments: SHA-256 `{digest}`" for name, digest in digests().items()), ""]
    return "\n".join(lines)
