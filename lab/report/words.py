"""lab.report: describe the format, headroom and saturation of each signal."""

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
    """Return the format of every signal, the reason for it, and its range in a run.

    Parameters
    ----------
    plan : Plan
    simulation : Simulation, or None
        The run. Without it, the ranges are unknown.

    Returns
    -------
    list of dict
        ``name``, ``format``, ``bits``, ``exponent``, ``cast``, ``decided``, ``most``, ``seen``,
        ``headroom`` (bits), ``saturated`` (number of casts), ``unit``. Unknown values are None.
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
    """Return, for each signal, the number of values by bit length (without sign).

    Included are all values of the samples, of predictions and their terms, of the final state, and of
    Levinson's recursion. For other signals, only the largest magnitude is known.

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
        One row per signal: ``name``, ``format``, ``room`` (available bits), ``used`` (maximum bits used; None
        if there are no values), ``counts`` (number of values with 0, 1, ... bits; None if too few values are
        known), ``rails`` (number of values at a limit of the format), ``saturated`` (number of casts).
    """
    held = _held(plan, simulation, x_raw, y_raw) | intermediate_values(plan, simulation, y_raw, x_test)
    ranges = {r.name: r for r in simulation.ranges}
    return [_histogram(name, signal.format, held.get(name, np.zeros(0, dtype=np.int64)).ravel(),
                       ranges.get(name)) for name, signal in plan.signals.items()]


def _histogram(name: str, fmt: Format, words: Words, seen: Range | None) -> dict[str, Any]:
    """Return the histogram of one signal from its values and its range log."""
    room = fmt.bits - fmt.signed
    counts = _lengths(words, room)
    used = [int(at) for at in np.flatnonzero(counts)[-1:]] + ([room - seen.headroom_bits] if seen else [])
    return {"name": name, "format": str(fmt), "room": room, "used": max(used, default=None),
            "counts": counts.tolist() if words.size >= _FEWEST else None, "rails": _at_rails(words, fmt),
            "saturated": seen.saturated if seen else 0}


def _held(plan: Plan, simulation: Simulation, x_raw: Words, y_raw: Words | None) -> dict[str, Words]:
    """Return the values of the samples, predictions and final state, by signal."""
    x = np.zeros_like(x_raw)
    convert_inputs(x_raw, input_constants(plan), x, Ranges(plan).log)
    found = {"x_raw": x_raw, "x": x,
             "f": np.rint(simulation.f / float(Fraction(plan.units["y"]))).astype(np.int64)}
    if y_raw is not None:
        found["y_raw"] = y_raw
    return found if plan.in_float32 else found | simulation.state


def _lengths(words: Words, room: int) -> Words:
    """Return the number of values that need 0, 1, ..., `room` bits besides the sign."""
    magnitudes = np.where(words < 0, ~words, words)
    edges = np.left_shift(np.int64(1), np.arange(room, dtype=np.int64))  # b bits: 2^(b-1) and above
    counts: Words = np.bincount(np.searchsorted(edges, magnitudes, side="right"), minlength=room + 1)
    return counts[:room + 1].astype(np.int64)


def _at_rails(words: Words, fmt: Format) -> int:
    """Return the number of values at a limit of the format.

    The minimum of an unsigned format is not counted.
    """
    return int(np.count_nonzero((words == fmt.hi) | (fmt.signed & (words == fmt.lo))))
