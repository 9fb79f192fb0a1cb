"""formal: the page docs/formal.md, from what was proved."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from .claims import CLAIMS, MUTANTS
from .prover import BOUNDED, HW, PROPERTIES, PROVED, Verdict

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "formal.md"
COMMAND = "python -m kerncast.benchmarks.formal"

HEAD = """# What is proved of the SystemVerilog

Every module below is held to properties that say which words are right, and not how to find them. They
stand in `benchmarks/formal/properties`, one file a module, and are put before the `endmodule` of a copy of
the file that ships. `yowasp-sby` gives both to yosys, and z3 decides with yosys-smtbmc:

* **proved**: no run of any length breaks a property. A search of so many clocks from the reset finds none,
  and induction over as many clocks none from any other state. `rst` may come again at any clock.
* **no counterexample**: the search alone, of so many clocks.

Where a width says less than the module can be given, the proof is of that width, and larger ones are held to
the integer model by the tests of `tests/rtl`.
"""

REST = """
## What is not proved here

* `kc_divide`, `kc_exp2_16`, `kc_exp2_32` and `kc_abs_sinpi`: products and quotients of their width are beyond
  the solver. Their definitions are proved of the C ([primitives.md](primitives.md)), and tests hold the
  modules to the same words.
* The whole cores. Their streams are run with random stalls and resets against the integer model.
* That z3, yosys and SymbiYosys are right, and that a synthesis tool reads SystemVerilog as yosys does.

## Does a proof notice?

Each fault is planted by itself; the search must find a run from the reset that breaks a property.

| module | instead of | the fault | found |
|---|---|---|---|"""


def digests() -> dict[str, str]:
    """What the page speaks about: the modules, and their properties."""
    modules = dict.fromkeys(name for claim in CLAIMS for name in (claim.module, *claim.below))
    files = {"modules": [HW / f"{name}.sv" for name in sorted(modules)],
             "properties": sorted(PROPERTIES.glob("*.sv"))}
    return {what: hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()
            for what, paths in files.items()}


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def page(verdicts: Mapping[str, Verdict], found: Sequence[bool]) -> str:
    """The whole page, of the verdict of each claim and of whether each mutant was found."""
    lines = [HEAD, _row(("module", "property", "widths", "clocks", "outcome")), "|---|---|---|--:|---|"]
    for claim in CLAIMS:
        outcome = verdicts[claim.key].outcome
        told = outcome if outcome in (PROVED, BOUNDED) else "not decided"
        lines.append(_row((f"`{claim.module}`", claim.says, claim.widths, str(claim.depth), told)))
    lines.append(REST)
    for (module, before, after), seen in zip(MUTANTS, found, strict=True):
        lines.append(_row((f"`{module}`", f"`{before}`", f"`{after}`", "yes" if seen else "no")))
    lines += ["", "## This page", "",
              f"Written by `{COMMAND}`; a test notices when it is stale. It speaks about", "",
              *(f"* {name}, SHA-256 `{digest}`" for name, digest in digests().items()), ""]
    return "\n".join(lines)
