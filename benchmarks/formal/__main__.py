"""formal: prove the claims, and check that the proofs detect injected faults.

Run ``python -m kerncast.benchmarks.formal [JOBS]``.
"""

from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor

from ...codegen.rtl.names import module_text
from .claims import CLAIMS, MUTANTS
from .cores import CORE_CLAIMS, CORE_MUTANTS, CoreClaim, prove_core
from .page import PAGE, page
from .prover import BOUNDED, PROVED, REFUTED, Claim, ClaimResult, prove


def planted(module: str, before: str, after: str) -> str:
    """Return the text of a module in which one fault is injected."""
    text = module_text(module)
    if text.count(before) < 1:
        raise ValueError(f"{module} does not contain {before!r}")
    return text.replace(before, after, 1)


def is_found(mutant: tuple[str, str, str]) -> bool:
    """Report whether a claim about the module is refuted if the fault is injected."""
    text = planted(*mutant)
    found = any(prove(claim, text).outcome == REFUTED for claim in CLAIMS if claim.module == mutant[0])
    print(*mutant, "found" if found else "MISSED", sep="  ", flush=True)
    return found


def is_found_in_core(mutant: tuple[str, str, str, str]) -> bool:
    """Report whether the proof of a core fails if a fault is injected in its files."""
    core, *fault = mutant
    claim = next(claim for claim in CORE_CLAIMS if claim.core == core)
    found = prove_core(claim, (fault[0], fault[1], fault[2])).outcome != PROVED
    print(*mutant, "found" if found else "MISSED", sep="  ", flush=True)
    return found


def _proved(claim: Claim | CoreClaim) -> ClaimResult:
    verdict = prove(claim) if isinstance(claim, Claim) else prove_core(claim)
    print(f"{claim.key}  {verdict.outcome}  {verdict.seconds:.0f} s", flush=True)
    return verdict


def main() -> int:
    """Prove all claims.

    Returns exit code 1 if a proof fails, or if an injected fault is not detected.
    """
    jobs = int(sys.argv[1]) if len(sys.argv) > 1 else os.cpu_count()
    with ThreadPoolExecutor(jobs) as pool:
        claims = (*CLAIMS, *CORE_CLAIMS)
        verdicts = dict(zip((claim.key for claim in claims), pool.map(_proved, claims), strict=True))
        found = [*pool.map(is_found, MUTANTS), *pool.map(is_found_in_core, CORE_MUTANTS)]
    PAGE.write_text(page(verdicts, found), encoding="utf-8", newline="\n")
    return int(not all(found) or any(v.outcome not in (PROVED, BOUNDED) for v in verdicts.values()))


if __name__ == "__main__":
    sys.exit(main())
