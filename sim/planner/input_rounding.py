"""sim.planner: what it costs to round the data at hand to words, before anything is computed with them.

No certificate holds this error: the device sees words only.  It is nothing where a word is as fine as the
raw word, however little of that the data fill.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import pi
from typing import Any

import numpy as np

from .._arrays import Array
from ..backend import Raw
from ..formats import Rounding
from ..plan import Plan


def rounding_seen(plan: Plan, x_raw: Raw | None, y_raw: Raw | None) -> Plan:
    """The plan with what rounding these data to words costs, beside the evidence of x and y.

    Parameters
    ----------
    plan : Plan
    x_raw, y_raw : ndarray of int64, shapes (m, D) and (m,), or None
        Raw words; on the uniform grid x words are exact, and x_raw is not looked at.

    Returns
    -------
    Plan
        The same decisions; ``rounding`` of y is the root mean square of its rounding errors over that of y
        (with ``rms``, in units of y); of x it is the root mean square of the samples' moves over the width
        of the kernel (:func:`_width`).
    """
    evidence: dict[str, Any] = dict(plan.evidence)
    if y_raw is not None and len(y_raw):
        y, error = _words(plan, "y", y_raw[:, np.newaxis])
        size = _rms(y)
        evidence["y"] = {**evidence["y"], "rms": size, "rounding": _rms(error) / size if size else 0.0}
    if x_raw is not None and len(x_raw) and not plan.uniform:
        x, error = _words(plan, "x", np.asarray(x_raw).reshape(len(x_raw), -1))
        if not plan.polynomial:
            error -= error.mean(axis=0)  # a move of all samples alike changes no distance
        width = _width(plan, x)
        evidence["x"] = {**evidence["x"], "rounding": _rms(error) / width if width else 0.0}
    return replace(plan, evidence=evidence)


def _words(plan: Plan, name: str, raw: Raw) -> tuple[Array, Array]:
    """Raw words (m, D) in units of x or y, and how far their words are from them."""
    shift, lsb = plan.integer(f"{name}_shift"), float(Fraction(plan.units[name]))
    exact = (raw - np.array(plan.constants[f"{name}_offset"], dtype=np.int64)) * np.array(
        plan.constants[f"{name}_gain"], dtype=np.int64)
    below = (exact & ((1 << shift) - 1)) * 2.0**-shift
    error = below if plan.signals[name].rounding is Rounding.FLOOR else np.minimum(below, 1 - below)
    return (np.asarray(exact * (2.0**-shift * lsb), dtype=np.float64),
            np.asarray(error * lsb, dtype=np.float64))


def _rms(values: Array) -> float:
    """Root mean square of the lengths of rows (m, D)."""
    return float(np.sqrt(np.mean(np.sum(values * values, axis=1))))


def _width(plan: Plan, x: Array) -> float:
    """How far a sample (of x (m, D)) must move for a kernel value to change much, in units of x.

    Sigma; of the periodic kernel, ``exp(-2 sin^2(pi d / period) / sigma^2)``, what corresponds to it at
    small d; of products of inputs, the size of the inputs.
    """
    if plan.polynomial:
        return _rms(x)
    sigma = float(plan.options["sigma"])
    if plan.kernel != "periodic":
        return sigma
    return min(sigma, 1.0) * float(plan.options["period"]) / (2 * pi)
