"""lab.report: describe the bit lengths, saturations and headroom of each signal."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from ...sim._arrays import Words
from ...sim.diagnostics.observed import observed
from ...sim.diagnostics.simulate import Simulation
from ...sim.formats import Format
from ...sim.model.base import convert_inputs
from ...sim.model.kernel import input_constants
from ...sim.model.ranges import Range, Ranges
from ...sim.plan import Plan
from ...sim.planner.evidence import exponents
from .intermediates import intermediate_values

#: Fewer words make no histogram.
_FEWEST = 8


def signal_rows(plan: Plan, simulation: Simulation | None) -> list[dict[str, Any]]:
    """Return every signal's format, its origin, and its range in a run.

    Parameters
    ----------
    plan : Plan
    simulation : Simulation, or None
        None without data: then the ranges are unknown.

    Returns
    -------
    list of dict
        ``name``, ``format``, ``bits``, ``exponent``, ``cast``, ``decided``, ``most``, ``seen``,
        ``headroom`` (bits), ``saturated`` (casts), ``unit``; None if unknown.
    """
    if simulation is not None:
        plan = observed(plan, simulation.ranges, simulation.state)
    ranges = {} if simulation is None else {r.name: r for r in simulation.ranges}
    rows = []
    for name, signal in plan.signals.items():
        entry, limits = plan.evidence.get(name, {}), exponents(plan, name)
        rows.append({
            "name": name, "format": str(signal.format), "bits": signal.format.bits,
            "exponent": None if limits is None else f"{limits[0]} to {limits[1]}",
            "cast": signal.rounding.name.lower() + (" wrap" if signal.overflow.name == "WRAP" else ""),
            "decided": entry.get("decided_by"), "most": entry.get("range", entry.get("bound")),
            "seen": entry.get("seen"), "headroom": entry.get("headroom_bits"),
            "saturated": ranges[name].saturated if name in ranges else None, "unit": plan.unit_of(name)})
    return rows


def histograms(plan: Plan, simulation: Simulation, x_raw: Words, y_raw: Words | None,
               x_test: Words) -> list[dict[str, Any]]:
    """Count the values of each signal by their bit length without sign.

    All values of the samples, the predictions and their terms, the final structure, and
    Levinson's recursion are counted. For other intermediate values, only the largest magnitude is available.

    Parameters
    ----------
    plan : Plan
    simulation : Simulation
    x_raw : ndarray of int64, shape (m, D)
    y_raw : ndarray of int64, shape (m,), or None
    x_test : ndarray of int64, shape (k, D)

    Returns
    -------
    list of dict
        One row per signal: ``name``, ``format``, ``room`` (available bits), ``used`` (maximum number of
        used bits; None if the signal has no values), ``counts`` (values with 0, 1, ... bits; None if only
        the largest is known), ``rails`` (values at a limit of the format) and ``saturated`` (casts).
    """
    held = _held(plan, simulation, x_raw, y_raw) | intermediate_values(plan, simulation, y_raw, x_test)
    ranges = {r.name: r for r in simulation.ranges}
    return [_histogram(name, signal.format, held.get(name, np.zeros(0, dtype=np.int64)).ravel(),
                       ranges.get(name)) for name, signal in plan.signals.items()]


def _histogram(name: str, fmt: Format, words: Words, seen: Range | None) -> dict[str, Any]:
    """Return one histogram of the stored values and those in the range log."""
    room = fmt.bits - fmt.signed
    counts = _lengths(words, room)
    used = [int(at) for at in np.flatnonzero(counts)[-1:]] + ([room - seen.headroom_bits] if seen else [])
    return {"name": name, "format": str(fmt), "room": room, "used": max(used, default=None),
            "counts": counts.tolist() if words.size >= _FEWEST else None, "rails": _at_rails(words, fmt),
            "saturated": seen.saturated if seen else 0}


def _held(plan: Plan, simulation: Simulation, x_raw: Words, y_raw: Words | None) -> dict[str, Words]:
    """Return the values of signals in the samples, predictions and final state."""
    x = np.zeros_like(x_raw)
    convert_inputs(x_raw, input_constants(plan), x, Ranges(plan).log)
    found = {"x_raw": x_raw, "x": x,
             "f": np.rint(simulation.f / float(Fraction(plan.units["y"]))).astype(np.int64)}
    if y_raw is not None:
        found["y_raw"] = y_raw
    return found if plan.in_float32 else found | simulation.state


def _lengths(words: Words, room: int) -> Words:
    """Count the values with 0, 1, ..., `room` bits below the sign."""
    magnitudes = np.where(words < 0, ~words, words)
    edges = np.left_shift(np.int64(1), np.arange(room, dtype=np.int64))  # b bits: 2^(b-1) and above
    counts: Words = np.bincount(np.searchsorted(edges, magnitudes, side="right"), minlength=room + 1)
    return counts[:room + 1].astype(np.int64)


def _at_rails(words: Words, fmt: Format) -> int:
    """Count the values at a limit of the format, except at a limit of 0."""
    return int(np.count_nonzero((words == fmt.hi) | (fmt.signed & (words == fmt.lo))))
