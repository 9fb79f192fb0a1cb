"""sim.planner: evidence of every signal's range: who decided it, and the range in a run.

Evidence is stored with a plan's decisions but not hashed.  For each signal, accumulators included:

``decided_by``
    ``analytic``: a bound that no data can exceed; ``design``: a range from the spec, or a
    default range; ``simulated``: a run of the integer model on data, with a margin; ``spec``: the format in
    the spec; ``format``: full scale of the format, where it saturates (or wraps, if the spec says so).
``bound`` or ``range``
    The largest magnitude by that decision, in the unit of the signal.
``seen``
    The largest magnitude in a run of the integer model, or None.
``headroom_bits``
    log2 of the format's range over the range in the run, or None.
``exponent``
    For a signal with a block exponent: the exponent at the end of the run, at which `seen` was measured (an
    exponent with a planned range only rises).  The format's range is that at the largest exponent.

Origin of the bounds: x and y from the ADC counts and their offsets; a distance from the range of x;
``|k| <= 1`` for the kernels of a distance; ``r = k / (1 + lambda)``; ``|xi| < 1`` and ``0 < eps <= 1`` for a
positive definite T; ``|a|_2 <= sqrt((1 + lambda) / lambda)`` and ``|alpha|_2 <= |y|_2 / lambda`` since no
eigenvalue of T + lambda I lies below lambda; ``|mu| <= |x|_2``, for mu = eps times the last coefficient of
step m; FKLMS: :mod:`.online.bound`; accumulators: as many terms as vectors, each the largest product.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from math import log2, sqrt
from typing import Any

from ..backend import Outputs
from ..errors import fail
from ..plan import Plan, Signal
from .toeplitz.lookahead import LOOKAHEADS

_DECISIONS = {
    "analytic": "by an analytic bound, which no data can exceed",
    "design": "by a design range", "simulated": "by a run of the integer model on the data",
    "spec": "by the spec", "format": "by full scale of its format"}


def is_block(plan: Plan, name: str) -> bool:
    """Return whether the values of a signal share a block exponent."""
    return "block exponent" in plan.signals[name].unit


def exponents(plan: Plan, name: str) -> tuple[int, int] | None:
    """Return the range of a signal's block exponent, or None if it has no planned range."""
    if not is_block(plan, name) or not {f"{name}_exp_min", f"{name}_exp_max"} <= set(plan.constants):
        return None
    if plan.options.get("scaling") == "static":  # alpha has that of the recursion's x
        only = plan.integer("x_exp_min" if name == "alpha" else f"{name}_exp_min")
        return only, only
    return plan.integer(f"{name}_exp_min"), plan.integer(f"{name}_exp_max")


def reach(plan: Plan, name: str) -> float:
    """Return the largest magnitude that a signal's format holds, in its unit."""
    signal = plan.signals[name]
    return _most(signal) * 2.0 ** (exponents(plan, name) or (0, 0))[1]


def complete(plan: Plan) -> dict[str, Any]:
    """Return evidence for every signal: the planner's decisions, and bounds for the others.

    Parameters
    ----------
    plan : Plan
        Its own evidence has an entry for each signal whose range was chosen.

    Returns
    -------
    dict of str to dict
    """
    bounds = _bounds(plan)
    found: dict[str, Any] = {}
    for name, signal in plan.signals.items():
        entry: dict[str, Any] = {"seen": None, "headroom_bits": None, **plan.evidence.get(name, {})}
        if name in bounds:
            entry = {"decided_by": "analytic", **entry, "bound": bounds[name]}
        elif "decided_by" not in entry:
            entry |= {"decided_by": "format", "bound": _most(signal)}
        found[name] = entry
    return found


def observed(plan: Plan, ranges: Iterable[Any], state: Outputs) -> Plan:
    """Return the plan with evidence from a run of the integer model.

    Parameters
    ----------
    plan : Plan
    ranges : iterable of Range
        The model's range log.
    state : dict
        The model structure after the run, with the block exponents.

    Returns
    -------
    Plan
        The same decisions and the same hash.
    """
    evidence = {**plan.evidence, **complete(plan)}
    for r in ranges:
        if not is_block(plan, r.name):
            evidence[r.name] = {**evidence[r.name], **_seen(plan, r.name, max(-r.lo, r.hi), 0)}
    for name in plan.signals:
        if is_block(plan, name) and name in state and f"{name}_exp" in state:
            word, exponent = int(abs(state[name]).max(initial=0)), int(state[f"{name}_exp"][0])
            known = {} if exponents(plan, name) is None else _seen(plan, name, word, exponent)
            evidence[name] = {**evidence[name], **known, "exponent": exponent}
    return replace(plan, evidence=evidence)


def _seen(plan: Plan, name: str, word: int, exponent: int) -> dict[str, float | None]:
    value = float(plan.signals[name].format.value(word)) * 2.0**exponent
    return {"seen": value, "headroom_bits": log2(reach(plan, name) / value) if value > 0 else None}


def _bounds(plan: Plan) -> dict[str, float]:
    """Return analytic bounds by signal, in its unit, for signals that have one."""
    s, c = plan.signals, plan.integer
    y_raw, y = s["y_raw"].format, s["y"].format
    y_most = max(abs(end - c("y_offset")) for end in (y_raw.lo, y_raw.hi)) * c("y_gain")
    bounds = {name: _most(s[name]) for name in ("x", "x_raw", "y_raw", "kernel") if name in s}
    bounds["y"] = float(y.value(y_most) / 2 ** c("y_shift"))
    differences = {"gaussian": (s["x"].hi - s["x"].lo) ** 2, "laplacian": s["x"].hi - s["x"].lo}
    if plan.options["kernel"] in differences:
        bounds["distance"] = float(plan.sizes["D"] * differences[plan.options["kernel"]])
    if "accumulator" not in s:  # summed in float32
        return bounds
    vectors = plan.sizes.get("n", plan.sizes.get("N", 0))
    product = max(-s["alpha"].lo, s["alpha"].hi) * max(-s["kernel"].lo, s["kernel"].hi)
    bounds["accumulator"] = float(vectors * (product + 1 >> c("mac_shift")))
    return bounds | _solver_bounds(plan)


def _solver_bounds(plan: Plan) -> dict[str, float]:
    """Return bounds of the batch trainers; mu and x belong to the system over 1 + lambda."""
    if "lambda" not in plan.options:
        return {}
    lam, n = Fraction(plan.options["lambda"]), plan.sizes["n"]
    if plan.algorithm != "toeplitz_rls":
        return {"alpha": sqrt(n) / float(lam)}
    if plan.options["solver"] in LOOKAHEADS:
        return {"r": float(1 / (1 + lam))}
    power = (1 + lam) / lam
    return {"r": float(1 / (1 + lam)), "xi": 1.0, "eps": 1.0, "a": sqrt(power),
            "innov": sqrt(n) * float(power),
            "alpha": sqrt(n) / float(lam)}


def _most(signal: Signal) -> float:
    return float(signal.format.value(max(-signal.lo, signal.hi)))


def why(plan: Plan, name: str) -> str:
    """Describe a signal, who decided its range, and its range in a run.

    Raises
    ------
    KerncastError
        E119 if the plan has no such signal.
    """
    if name not in plan.signals:
        raise fail("E119", "the plan has no such signal", where="--why", value=name,
                   allowed=", ".join(plan.signals), remedy="use one of these")
    signal, entry = plan.signals[name], complete(plan)[name]
    fmt = signal.format
    lines = [f"{name} has the format {fmt}: {'signed' if fmt.signed else 'unsigned'}, {fmt.bits} bits, "
             f"{fmt.frac} of them fraction bits. Its unit: {signal.unit}. {_text_reach(plan, name)}"]
    if not is_block(plan, name) or exponents(plan, name) is not None:
        lines.append(f"Its range was chosen {_DECISIONS[entry['decided_by']]}: "
                     f"{entry.get('range', entry.get('bound', reach(plan, name))):.6g}.")
    lines.append(f"Its cast rounds with {signal.rounding.name.lower()} and {_overflows(signal, entry)}.")
    if "range" in entry and "bound" in entry:
        lines.append(f"The analytic bound is {entry['bound']:.6g}.")
    lines.append(_text_seen(plan, name, entry))
    return "\n".join(lines)


def _text_reach(plan: Plan, name: str) -> str:
    most, limits = _most(plan.signals[name]), exponents(plan, name)
    if not is_block(plan, name):
        return f"Its full scale is {most:.6g}."
    if limits is None:
        return "Its values share a block exponent that adapts up and down to them."
    least, largest = limits
    if least == largest:
        return f"Its values share the fixed exponent {least}: full scale is {most * 2.0**least:.6g}."
    return (f"Its values share a block exponent from {least} (full scale {most * 2.0**least:.6g}) to "
            f"{largest} (full scale {most * 2.0**largest:.6g}).")


def _overflows(signal: Signal, entry: Mapping[str, Any]) -> str:
    if entry["decided_by"] == "analytic":
        return "never saturates"
    return "saturates" if signal.overflow.name == "SATURATE" else "wraps"


def _text_seen(plan: Plan, name: str, entry: Mapping[str, Any]) -> str:
    exponent, limits = entry.get("exponent"), exponents(plan, name)
    if entry["seen"] is None:
        return ("Its use is not measured: name data in [data]." if exponent is None
                else f"In the run of the integer model on the data its exponent ended at {exponent}.")
    bits = entry["headroom_bits"]
    left = "all of its range is unused" if bits is None else f"that leaves {bits:.2f} bits of headroom"
    at = ""
    if exponent is not None and limits is not None and limits[0] < limits[1]:
        at = f", at exponent {exponent}"
        left += f", {limits[1] - exponent} of them as steps of the exponent" if bits is not None else ""
    return f"In the run of the integer model on the data it reached {entry['seen']:.6g}{at}: {left}."
