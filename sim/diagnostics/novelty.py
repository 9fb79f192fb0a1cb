"""sim.diagnostics: leverage and novelty of the samples of a stream."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np

from .._arrays import Words
from ..backend import Raw
from ..choices import LEVERAGE_FRAC
from ..model.online.rls import RlsModel
from ..plan import Plan


@dataclass(frozen=True)
class Novelty:
    """Novel samples of a stream, and quantiles of the leverage.

    Parameters
    ----------
    samples, novel, drift : int
        Number of samples, of those that were novel, and of those with the drift flag.
    median, high, highest, largest : float
        Leverage of the second half of the samples: median, 95th and 99th percentile, and largest.
    threshold : float
        The leverage from which a sample is novel.
    """

    samples: int
    novel: int
    drift: int
    median: float
    high: float
    highest: float
    largest: float
    threshold: float

    def as_dict(self) -> dict[str, float]:
        """Return the values by name."""
        return asdict(self)

    def __str__(self) -> str:
        return (f"novelty: {self.novel:,} of {self.samples:,} samples are novel (leverage of at least "
                f"{self.threshold:g}); the drift flag is set for {self.drift:,}. Leverage in the second "
                f"half: median {self.median:.3g}, 95th percentile {self.high:.3g}, 99th {self.highest:.3g}, "
                f"largest {self.largest:.3g}")


def learn_novelty(plan: Plan, x_raw: Raw | None, y_raw: Raw | None) -> Words | None:
    """Learn a stream with the integer model; return the novelty of each sample.

    Parameters
    ----------
    plan : Plan
    x_raw, y_raw : Raw or None
        The samples in order.

    Returns
    -------
    ndarray of int64, shape (n, 3), or None
        The leverage in LSB of 2^-20, before the sample is learned; the flags novel and drift. None if the
        plan has no novelty, or without samples.
    """
    if not plan.novelty or x_raw is None or y_raw is None or not len(y_raw):
        return None
    model = RlsModel(plan)
    model.update(x_raw, y_raw)
    return model.novelty


def summarise_novelty(plan: Plan, novelty: Words) -> Novelty:
    """Summarise what :func:`learn_novelty` returned."""
    leverage, novel, drift = novelty.T
    later = leverage[len(leverage) // 2:] / 2**LEVERAGE_FRAC
    median, high, highest, largest = (float(v) for v in np.quantile(later, (0.5, 0.95, 0.99, 1.0)))
    return Novelty(len(novel), int(novel.sum()), int(drift.sum()), median, high, highest, largest,
                   threshold=plan.integer("novelty") / 2**LEVERAGE_FRAC)
