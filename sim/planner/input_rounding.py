"""sim.planner: measure the error of rounding the user's data to x and y.

The certified bound does not cover this error, because the device processes only the rounded values. The error
is 0 if the LSB of the format is not larger than one ADC count, even if the data use only a small part of the
range.
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
from ..kernels import DistanceKernel, make_kernel
from ..plan import Plan
from .overlap import measure_overlap


def measure_rounding(plan: Plan, x_raw: Raw | None, y_raw: Raw | None) -> Plan:
    """Record the measured rounding errors of x and y in a plan.

    Parameters
    ----------
    plan : Plan
    x_raw, y_raw : ndarray of int64, shapes (m, D) and (m,), or None
        ADC counts; for a uniform grid, x is exact and `x_raw` is ignored.

    Returns
    -------
    Plan
        A plan with the same decisions and more evidence. For y, ``rms`` is its RMS in units of y, and
        ``rounding`` is the RMS of its rounding errors divided by ``rms``. For x, ``rounding`` is the RMS of
        its rounding errors divided by the width of the kernel (:func:`_width`), and ``overlap`` is the result
        of :func:`.overlap.measure_overlap` if the learner uses projection.
    """
    evidence: dict[str, Any] = dict(plan.evidence)
    if y_raw is not None and len(y_raw) and not plan.decision:  # labels are exact
        y, error = _words(plan, "y", y_raw.reshape(-1, 1))
        size = _rms(y)
        evidence["y"] = {**evidence["y"], "rms": size, "rounding": _rms(error) / size if size else 0.0}
    if x_raw is not None and len(x_raw) and not plan.uniform:
        x, error = _words(plan, "x", np.asarray(x_raw).reshape(len(x_raw), -1))
        if not plan.polynomial:
            error -= error.mean(axis=0)  # a move of all samples alike changes no distance
        width = _width(plan, x)
        evidence["x"] = {**evidence["x"], "rounding": _rms(error) / width if width else 0.0}
        if plan.options.get("projection") == "fklms":
            kernel = make_kernel(plan.options)
            assert isinstance(kernel, DistanceKernel)
            evidence["x"]["overlap"] = measure_overlap(kernel, x, plan.sizes["N"])
    return replace(plan, evidence=evidence)


def _words(plan: Plan, name: str, raw: Raw) -> tuple[Array, Array]:
    """Convert ADC counts (m, D) to units of x or y, and compute their rounding errors."""
    shift, lsb = plan.integer(f"{name}_shift"), float(Fraction(plan.units[name]))
    exact = (raw - np.array(plan.constants[f"{name}_offset"], dtype=np.int64)) * np.array(
        plan.constants[f"{name}_gain"], dtype=np.int64)
    below = (exact & ((1 << shift) - 1)) * 2.0**-shift
    error = below if plan.signals[name].rounding is Rounding.FLOOR else np.minimum(below, 1 - below)
    return (np.asarray(exact * (2.0**-shift * lsb), dtype=np.float64),
            np.asarray(error * lsb, dtype=np.float64))


def _rms(values: Array) -> float:
    """Return the root mean square of the Euclidean norms of the rows (m, D)."""
    return float(np.sqrt(np.mean(np.sum(values * values, axis=1))))


def _width(plan: Plan, x: Array) -> float:
    """Return the scale of distances at which the kernel value changes, in units of x.

    It is sigma for kernels of a distance. For the periodic kernel, ``exp(-2 sin^2(pi d / period) /
    sigma^2)``, it is the width of the equivalent Gaussian kernel at small d. For kernels of products of
    inputs, it is the RMS of the inputs `x`, shape (m, D).
    """
    if plan.polynomial:
        return _rms(x)
    sigma = float(plan.options["sigma"])
    if plan.kernel != "periodic":
        return sigma
    return min(sigma, 1.0) * float(plan.options["period"]) / (2 * pi)
