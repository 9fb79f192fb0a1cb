"""proofs: write the page from the results of all proofs."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .c_source import parse
from .definitions_words import CLAIMS
from .prover import PROVED, ProofResult

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "measured" / "primitives.md"
COMMAND = "python -m kerncast.benchmarks.proofs"
# Coarse, so that another machine writes the same page.
STEPS = ((1, "< 1"), (10, "1 to 10"), (60, "10 to 60"), (600, "60 to 600"))
DEFINITIONS = ("definitions.py", "definitions_root.py", "definitions_sine.py", "definitions_words.py",
               "exact.py")

HEAD = """# The primitives and their proofs

Every value that kerncast computes comes from a fixed list of integer primitives. `sim/primitives.py` defines
them, and `firmware/rt/*.h` contains the C code for the device. This page compares each C function with a
third definition, which states mathematically what a correct result must satisfy. For **all** arguments that
meet the precondition, the solver z3 shows that

* the result satisfies the definition, and
* no step is undefined in C99 or depends on the compiler. There is no signed overflow, no division by zero,
  no shift of a negative number, and no shift count out of range. No value is converted to a signed type
  that cannot represent it, no index is out of bounds, and no variable is read before it is written.

The terms for z3 are generated from the syntax tree of the headers. Each claim is proved twice: for a 32-bit
`int` and for a 16-bit `int` (AVR, MSP430). In the table, `/` is exact division, `2^x` is a power of two and s
is a shift count. All claims in the table are proved.
"""

TRUST = """
## What the proofs assume

* pycparser and z3 are correct, and so are the definitions of the C operators in
  `benchmarks/proofs/arithmetic.py` and `c_types.py`, which have their own tests.
* The generated code meets the preconditions. The planner ensures this, because it computes bounds for every
  signal and rejects a model without such bounds.
* If a function is already proved, other proofs may use its definition in place of a call:
  `normalisation_shift` in `divide`, `arithmetic_shift` and `shift_round` in `requantise`.
* `block_scale` is proved for one iteration of its loop, from any state. The induction over
  i = first, ..., last - 1 was done by hand.
* `exp2_16` and `exp2_32` are proved equal to the interpolation of their definition, for any table that meets
  the precondition. Their error, the difference from 2^-t, is tested over the range, not proved.
"""

MUTATION = """
## Do the proofs detect errors?

Every operator, constant, condition, type, cast and statement of the C code is changed, one at a time. For
each such mutant z3 must find arguments for which the result is wrong or the behaviour of the C is undefined.
The second table lists the mutants that z3 cannot refute, and states why each of them computes the same
results. All other mutants are refuted.
"""


@dataclass(frozen=True)
class Score:
    """Numbers of mutants of a function: all, refuted, and equivalent to the original."""

    mutants: int
    refuted: int
    equivalent: int


def coarse(seconds: float) -> str:
    """Format a duration with coarse rounding, so that the page is reproducible."""
    return next((text for limit, text in STEPS if seconds < limit), "> 600")


def without_docstrings(text: str) -> str:
    """Remove the docstrings from Python code, so that they do not affect its digest."""
    nodes = (node.body[0] for node in ast.walk(ast.parse(text))
             if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef))
    words = {number for node in nodes
             if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
             for number in range(node.lineno, (node.end_lineno or node.lineno) + 1)}
    return "".join(line for number, line in enumerate(text.splitlines(keepends=True), 1)
                   if number not in words)


def digests() -> dict[str, str]:
    """Return digests of the C functions and of the definitions."""
    folder = Path(__file__).resolve().parent
    texts = "".join(without_docstrings((folder / name).read_text(encoding="utf-8")) for name in DEFINITIONS)
    return {"C": parse().digest(), "definitions": hashlib.sha256(texts.encode()).hexdigest()}


def proof_rows(verdicts: Mapping[str, ProofResult]) -> list[str]:
    """Return the rows of the claims."""
    heads = ("primitive", "C", "operands", "precondition", "definition", "proof", "seconds")
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for claim in CLAIMS:
        verdict = verdicts[claim.key]
        outcome = "proved" if verdict.outcome == PROVED else "tested, not proved"
        cells = (claim.primitive, f"`{claim.function}`", claim.operands, claim.given or "none", claim.says,
                 outcome, coarse(verdict.seconds))
        lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    return lines


def mutant_rows(scores: Mapping[str, Score], equivalent: Sequence[tuple[str, str, str, str]]) -> list[str]:
    """Return the rows of the mutants, and a list of those that do not change results."""
    lines = [MUTATION, "| C | mutants | refuted | equivalent | missed |", "|---|--:|--:|--:|--:|"]
    total = Score(*(sum(getattr(score, name) for score in scores.values())
                    for name in ("mutants", "refuted", "equivalent")))
    for name, score in [*((f"`{name}`", score) for name, score in scores.items()), ("all", total)]:
        missed = score.mutants - score.refuted - score.equivalent
        lines.append(f"| {name} | {score.mutants} | {score.refuted} | {score.equivalent} | {missed} |")
    lines += ["", "| C | before | after | reason |", "|---|---|---|---|"]
    for function, before, after, reason in equivalent:
        cells = (f"`{function}`", f"`{before}`", f"`{after}`", reason)
        lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    return lines


def foot() -> list[str]:
    """Return the lines that describe how the page is made, and from which sources."""
    lines = ["", "## Version of this page", "",
             f"`{COMMAND}` writes this page. A test fails if the page is out of date. It covers the "
             "following sources:", ""]
    return [*lines, *(f"* {name}, SHA-256 `{digest}`" for name, digest in digests().items()), ""]


def page(verdicts: Mapping[str, ProofResult], scores: Mapping[str, Score],
         equivalent: Sequence[tuple[str, str, str, str]]) -> str:
    """Return the whole page."""
    return "\n".join([HEAD, *proof_rows(verdicts), TRUST.rstrip(), *mutant_rows(scores, equivalent), *foot()])
