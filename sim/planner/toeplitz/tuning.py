"""sim.planner.toeplitz: self-tuning, the choice of sigma and lambda by evidence.

The log evidence of a candidate, maximised over the noise level, is, up to a constant,
``-(n log q + log det) / 2``, q = ``y' (T + lambda I)^-1 y = sum z_i^2 / d_i`` and log det ``sum log d_i``.
z is the result of the forward recursion of the banded solver, and log det is a constant of the plan.  The
device compares ``n log2 q + log2 det`` with 24 fraction bits, and selects the smallest value.

The plan of each candidate is made as if it were the only one, but with formats that all candidates share.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

from ...candidates import EVIDENCE_FRAC, OWN, TABLES, pairs_text
from ...errors import KerncastError
from ...plan import Operations, Plan
from ...spec import Spec
from ...tables import CONTEXT, LN2, decimal, rounded
from ..counts import operations
from ..log2 import ceil_log2

#: Constants of which the model structure holds for every candidate: the largest.
_LARGEST = ("alpha_exp_max", "z_exp_max")


def log2_det(pivots: list[Decimal], n: int, lam: float) -> Decimal:
    """Return log2 det(T + lambda I) from d_i of the scaled matrix.

    The last d_i applies to all further rows.
    """
    logs = [CONTEXT.ln(d) for d in pivots]
    scale = CONTEXT.ln(decimal(1 + Fraction(lam)))
    rest = CONTEXT.multiply(Decimal(n - len(logs)), logs[-1])
    total = CONTEXT.add(sum(logs, rest), CONTEXT.multiply(Decimal(n), scale))
    return CONTEXT.divide(total, LN2)


def evidence_constants(pivots: list[Decimal], n: int, lam: float, word: int,
                       pivot_frac: int) -> dict[str, int]:
    """Return the constants of a candidate's evidence.

    A sum has n products of ``z^2 / 2**square_shift``, at most ``2**30``, and of 1 / d, below ``2**31``; each
    is shifted, so that the sum stays below ``2**61``.  The offset contains
    log2 det, and the fraction bits of 1 / d.
    """
    exact = CONTEXT.subtract(log2_det(pivots, n, lam), Decimal(n * pivot_frac))
    return {"evidence_offset": rounded(CONTEXT.multiply(exact, Decimal(1 << EVIDENCE_FRAC))),
            "square_shift": max(0, 2 * word - 2 - 30), "evidence_shift": ceil_log2(n)}


def _alone(spec: Spec, pairs: list[tuple[float, float]], k: int) -> Spec:
    """Return the spec with pair k as sigma and lambda, and the others as candidates."""
    assert spec.toeplitz is not None
    sigma, lam = pairs[k]
    rest = tuple(pairs[:k] + pairs[k + 1:])
    return spec.model_copy(update={
        "kernel": spec.kernel.model_copy(update={"sigma": sigma}),
        "toeplitz": spec.toeplitz.model_copy(update={"lam": lam, "candidates": rest})})


def _plans(spec: Spec, pairs: list[tuple[float, float]], plan: Callable[[Spec], Plan]) -> list[Plan]:
    """Return the plan of each candidate; an error names the candidate."""
    found = []
    for k in range(len(pairs)):
        try:
            found.append(plan(_alone(spec, pairs, k)))
        except KerncastError as error:
            if k == 0:
                raise
            sigma, lam = pairs[k]
            raise KerncastError(replace(
                p, where="[toeplitz] candidates",
                remedy="remove this candidate, or change its sigma or lambda",
                message=f"candidate [{sigma:g}, {lam:g}]: {p.message}") for p in error.problems) from None
    return found


def _train_operations(plans: list[Plan], sizes: dict[str, int]) -> dict[str, Operations]:
    """Return the worst-case counts: the evidence of all candidates, and training each.

    The best candidate is trained first; the next one only if the solution is not certified.
    """
    b = [plan.integer("band") for plan in plans]
    lags, ends, count = sum(b), sum(v * (v + 1) for v in b), len(b)
    evidence = f"{lags}*n - {ends // 2} + {count}*(2*n + 25)"
    trainings = f"{4 * lags}*n - {2 * ends} + {count}*(4*n + 3)"
    return operations({"train": {"kernel_values": "0", "distance_terms": "0", "divisions": "0",
                                 "multiplications": f"{evidence} + {trainings}"}}, sizes)["train"]


def plan_tuned(spec: Spec, plan: Callable[[Spec], Plan]) -> Plan:
    """Return the plan of a trainer that compares candidates.

    Parameters
    ----------
    spec : Spec
    plan : callable
        Returns the plan of a spec with one pair.

    Raises
    ------
    KerncastError
        The errors of the plan of a candidate.
    """
    assert spec.toeplitz is not None and spec.toeplitz.candidates is not None
    pairs = [(float(spec.kernel.parameters["sigma"]), spec.toeplitz.lam), *spec.toeplitz.candidates]
    plans = _plans(spec, pairs, plan)
    fits = all(made.fits for made in plans)
    own = [name for name in OWN if name in plans[0].constants and (fits or not name.startswith("fitted_"))]
    first, sizes = plans[0], {**plans[0].sizes}
    constants = {name: value for name, value in first.constants.items()
                 if fits or not name.startswith("fitted_")}
    constants |= {name: max(made.integer(name) for made in plans) for name in _LARGEST}
    constants |= {f"candidate_{name}": tuple(made.integer(name) for made in plans) for name in own}
    tables = {name: table for name, table in first.tables.items() if name not in TABLES}
    tables |= {f"{name}_{k}": made.tables[name] for name in TABLES for k, made in enumerate(plans)}
    reasons = [{"sigma": sigma, "lambda": lam, "band": made.integer("band")}
               for (sigma, lam), made in zip(pairs, plans, strict=True)]
    return replace(first, constants=constants, tables=tables,
                   options={**first.options, "candidates": pairs_text(tuple(pairs))},
                   operations={"train": _train_operations(plans, sizes),
                               "predict": max((made.operations["predict"] for made in plans),
                                              key=lambda counts: counts["kernel_values"].count)},
                   evidence={**first.evidence, "candidates": reasons})
