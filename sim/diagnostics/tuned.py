"""sim.diagnostics: report the pair of sigma and lambda that training chose."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..backend import Outputs, Raw
from ..candidates import EVIDENCE_FRAC, NO_EVIDENCE, candidate_pairs, candidate_plan
from ..plan import Plan
from ..reference.backend import FloatReference


@dataclass(frozen=True)
class Tuned:
    """Log evidence of the candidate pairs, relative to the best pair.

    Parameters
    ----------
    pairs : tuple of (str, str)
        sigma and lambda of each pair.
    chosen : int or None
        Index of the chosen pair; None if training failed.
    evidence : tuple of float
        Natural logarithm of the evidence in fixed point; minus infinity for a rejected pair.
    float_evidence : tuple of float
        Natural logarithm of the evidence in float64.
    """

    pairs: tuple[tuple[str, str], ...]
    chosen: int | None
    evidence: tuple[float, ...]
    float_evidence: tuple[float, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the pairs as a dictionary for ``--json``.

        The evidence of a rejected pair is None.
        """
        rows = zip(self.pairs, self.evidence, self.float_evidence, strict=True)
        return {"chosen": self.chosen, "candidates": [
            {"sigma": float(sigma), "lambda": float(lam), "evidence": v if math.isfinite(v) else None,
             "float_evidence": f if math.isfinite(f) else None} for (sigma, lam), v, f in rows]}


def _logarithms(values: np.ndarray[Any, np.dtype[np.float64]]) -> tuple[float, ...]:
    """Convert ``n log2 q + log2 det`` to log evidence relative to the best pair."""
    least = values.min()
    if not math.isfinite(least):
        return (-math.inf,) * len(values)
    return tuple(float(v) for v in 0.5 * math.log(2) * (least - values))


def tuned_by(plan: Plan, members: Outputs, y_raw: Raw) -> Tuned | None:
    """Return the pair chosen by the training; None if the plan has no candidate pairs.

    Parameters
    ----------
    plan : Plan
    members : dict
        Members of the model and trainer structures after training.
    y_raw : ndarray of int64, shape (n,)
        ADC counts of the training targets.
    """
    pairs = tuple(candidate_pairs(plan))
    if not pairs:
        return None
    words = members.get("evidence", np.full(len(pairs), NO_EVIDENCE))
    values = np.where(words == NO_EVIDENCE, np.inf, words * 2.0**-EVIDENCE_FRAC)
    exact = np.array([FloatReference(candidate_plan(plan, k)).evidence(y_raw) for k in range(len(pairs))])
    chosen = int(members["candidate"][0]) if members["trained"][0] else None
    return Tuned(pairs, chosen, _logarithms(values), _logarithms(exact))
