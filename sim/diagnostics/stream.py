"""sim.diagnostics: comparison of a stream with the fitted values in float64."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ..backend import Raw
from ..model.toeplitz.trainer import ToeplitzModel
from ..plan import Plan
from ..reference.backend import FloatReference
from ..statuses import DeviceStatus


@dataclass(frozen=True)
class Streamed:
    """Comparison of a stream with the fitted values of the whole record.

    Parameters
    ----------
    values, saturated : int
        Values of the stream, and how many of them saturated.
    difference : float
        Largest difference over all values, in LSBs of y.
    middle : float
        Largest difference over values at least 2 L samples from both ends, in LSBs of y; NaN without any.
    bound : float
        Upper bound of the difference far from the edges, in LSBs of y.
    lsb : float
        LSB of y, in units of y.
    """

    values: int
    saturated: int
    difference: float
    middle: float
    bound: float
    lsb: float

    def as_dict(self) -> dict[str, Any]:
        """Return the comparison as a dictionary for ``--json``."""
        return vars(self) | {"middle": None if np.isnan(self.middle) else self.middle}


def compare_stream(plan: Plan, y_raw: Raw | None) -> Streamed | None:
    """Stream a record and compare it with its fitted values in float64.

    Return None if the plan has no stream, or the record is shorter than the filter.

    Parameters
    ----------
    plan : Plan
    y_raw : ndarray of int64, shape (m,), or None
        ADC counts of a record.
    """
    count = plan.stream_taps
    if count == 0 or y_raw is None or len(y_raw) < count:
        return None
    lag, lsb = count // 2, float(Fraction(plan.units["y"]))
    found = ToeplitzModel(plan).stream(y_raw)
    ready = found["status"] != DeviceStatus.PENDING
    gap = np.abs(found["f"][2 * lag:] - FloatReference(plan).smooth(y_raw)[lag: len(y_raw) - lag] / lsb)
    inner = gap[lag: len(gap) - lag]
    saturated = int((found["status"] == DeviceStatus.SATURATED).sum())
    return Streamed(int(ready.sum()), saturated, float(gap.max()),
                    float(inner.max()) if len(inner) else float("nan"),
                    sum(plan.evidence["stream"]["bound"].values()), lsb)
