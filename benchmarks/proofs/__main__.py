"""proofs: prove all claims, and write the page.

Run ``python -m kerncast.benchmarks.proofs``.
"""

from __future__ import annotations

import sys

from .c_source import Program, parse
from .definitions_words import CLAIMS
from .equivalents import EQUIVALENT
from .mutants import mutants, prove_mutant
from .page import PAGE, Score, page
from .prover import REFUTED, ProofResult, prove

MUTANT_TIMEOUT = 20.0


def proofs(program: Program) -> dict[str, ProofResult]:
    """Prove all claims and return the results; exit if a claim is refuted."""
    verdicts = {}
    for claim in CLAIMS:
        verdict = verdicts[claim.key] = prove(program, claim)
        print(f"{claim.key:45} {verdict.outcome} {verdict.seconds:.1f} s {verdict.why}", flush=True)
        if verdict.outcome == REFUTED:
            raise SystemExit("the C differs from its definition")
    return verdicts


def score(program: Program, function: str) -> tuple[Score, list[str]]:
    """Try to prove the mutants of a function; return the score and undetected mutants.

    A mutant is not detected if it is neither refuted nor listed as equivalent.
    """
    claim = next(claim for claim in reversed(CLAIMS) if claim.function == function)
    count = refuted = equivalent = 0
    missed = []
    for mutant in mutants(program, function):
        count += 1
        if mutant.change in EQUIVALENT:
            equivalent += 1
        elif prove_mutant(mutant, claim, MUTANT_TIMEOUT).outcome == REFUTED:
            refuted += 1
        else:
            missed.append(str(mutant))
    return Score(count, refuted, equivalent), missed


def main() -> int:
    """Prove all claims. Return exit status 1 if a mutant is not detected."""
    program = parse()
    verdicts, scores, missed = proofs(program), {}, []
    for function in program.functions:
        scores[function], more = score(program, function)
        missed += more
        print(f"{function}: {scores[function]}", *more, sep="\n  ", flush=True)
    equivalent = [(*change, reason) for change, reason in EQUIVALENT.items()]
    PAGE.write_text(page(verdicts, scores, equivalent), encoding="utf-8", newline="\n")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
