"""sim.planner: evidence of every signal's range.

The evidence states the source of each range, and the range in a run.

Evidence is stored with a plan's decisions but not hashed.  For each signal, accumulators included:

``decided_by``
    ``analytic``: a bound that no data can exceed; ``design``: a range from the spec, or a
    default range; ``simulated``: a run of the integer model on data, with a margin; ``spec``: the format in
    the spec; ``format``: full scale of the format, at which it saturates (or wraps, if the spec requests it).
``bound`` or ``range``
    The largest magnitude according to that decision, in the unit of the signal.
``seen``
    The largest magnitude in a run of the integer model, or None.
``headroom_bits``
    log2 of the format's range over the range in the run, or None.
``exponent``
    For a signal with a block exponent: the exponent at the end of the run, at which `seen` was measured (an
    exponent with a planned range only rises).  The format's range is the one at the largest exponent.

Origin of the bounds: x and y from the ADC counts and their offsets; a distance from the range of x;
``|k| <= 1`` for the kernels of a distance; ``r = k / (1 + lambda)``; ``|xi| < 1`` and ``0 < eps <= 1`` for a
positive definite T; ``|a|_2 <= sqrt((1 + lambda) / lambda)`` and ``|alpha|_2 <= |y|_2 / lambda`` since no
eigenvalue of T + lambda I lies below lambda; ``|mu| <= |x|_2``, for mu = eps times the last coefficient of
step m; FKLMS: :mod:`.online.bound`; accumulators: as many terms as vectors, each the largest product.
"""

from __future__ import annotations

from fractions import Fraction
from math import sqrt
from typing import Any

from ..candidates import candidate_pairs
from ..plan import Plan, Signal
from ..spec import Spec


def is_block(plan: Plan, name: str) -> bool:
    """Return whether the values of a signal share a block exponent."""
    return "block exponent" in plan.signals[name].unit


def exponents(plan: Plan, name: str) -> tuple[int, int] | None:
    """Return the range of a signal's block exponent, or None if it is not planned."""
    if not is_block(plan, name) or not {f"{name}_exp_min", f"{name}_exp_max"} <= set(plan.constants):
        return None
    if plan.static:  # alpha has that of the recursion's x
        only = plan.integer("x_exp_min" if name == "alpha" else f"{name}_exp_min")
        return only, only
    return plan.integer(f"{name}_exp_min"), plan.integer(f"{name}_exp_max")


def reach(plan: Plan, name: str) -> float:
    """Return the largest magnitude of a signal's format, in its unit."""
    signal = plan.signals[name]
    return largest(signal) * 2.0 ** (exponents(plan, name) or (0, 0))[1]


def complete(plan: Plan) -> dict[str, Any]:
    """Return evidence for every signal.

    The evidence consists of the planner's decisions, and of bounds for all other signals.

    Parameters
    ----------
    plan : Plan
        A plan whose evidence has an entry for each signal with a chosen range.

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
            entry |= {"decided_by": "format", "bound": largest(signal)}
        found[name] = entry
    return found


def _bounds(plan: Plan) -> dict[str, float]:
    """Return analytic bounds by signal, in its unit, for signals that have one."""
    s, c = plan.signals, plan.integer
    y_raw, y = s["y_raw"].format, s["y"].format
    ends = (-1, 1) if plan.decision else (y_raw.lo, y_raw.hi)  # a class is trained to -1 and 1
    y_most = max(abs(end - c("y_offset")) for end in ends) * c("y_gain")
    bounds = {name: largest(s[name]) for name in ("x", "x_raw", "y_raw", "kernel") if name in s}
    bounds["y"] = float(y.value(y_most) / 2 ** c("y_shift"))
    differences = {"gaussian": (s["x"].hi - s["x"].lo) ** 2, "laplacian": s["x"].hi - s["x"].lo}
    if plan.kernel in differences:
        bounds["distance"] = float(plan.sizes["D"] * differences[plan.kernel])
    if "accumulator" not in s:  # summed in float32
        return bounds
    if plan.second_order:
        return bounds | {"accumulator": largest(s["accumulator"])}
    vectors = plan.sizes.get("n", plan.sizes.get("N", 0))
    product = max(-s["alpha"].lo, s["alpha"].hi) * max(-s["kernel"].lo, s["kernel"].hi)
    bounds["accumulator"] = float(vectors * (product + 1 >> c("mac_shift")))
    return bounds | _solver_bounds(plan)


def _solver_bounds(plan: Plan) -> dict[str, float]:
    """Return bounds of the batch trainers.

    The bounds of mu and x hold for the system divided by 1 + lambda.
    """
    if "lambda" not in plan.options:
        return {}
    lam = min(Fraction(lam) for _, lam in candidate_pairs(plan) or [("", plan.options["lambda"])])
    n = plan.sizes["n"]
    if plan.algorithm != "toeplitz_rls":
        return {"alpha": sqrt(n) / float(lam)}
    if plan.looks_ahead:
        return {"r": float(1 / (1 + lam))}
    power = (1 + lam) / lam
    if plan.banded:
        return {"r": float(1 / (1 + lam)), "z": sqrt(n * power), "alpha": sqrt(n) / float(lam)}
    return {"r": float(1 / (1 + lam)), "xi": 1.0, "eps": 1.0, "a": sqrt(power),
            "innov": sqrt(n) * float(power),
            "alpha": sqrt(n) / float(lam)}


def largest(signal: Signal) -> float:
    """Return a signal's largest magnitude in its unit; for a block, at exponent 0."""
    return float(signal.format.value(max(-signal.lo, signal.hi)))


def file_units(spec: Spec) -> dict[str, float]:
    """Return how to convert y to the units of the data file: ``zero + scale * y``.

    The result is empty without the range of the target in [data], for classes and for several outputs.
    """
    data, y = spec.data, spec.output
    target = None if data is None or y.classes is not None or (y.outputs or 1) > 1 else data.ranged_target
    if data is None or data.ranges is None or target is None:
        return {}
    low, high = map(Fraction, data.ranges[target])
    count = (high - low) / (y.format.hi - y.format.lo)  # value of one ADC count
    return {"zero": float(low + (y.offset - y.format.lo) * count),
            "scale": float(count / (Fraction(y.gain) * y.format.lsb))}
