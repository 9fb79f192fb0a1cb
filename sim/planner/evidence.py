"""sim.planner: the evidence of a plan, which states how each range was chosen.

For each signal, the evidence contains the source of its range, and the range observed in a run of the integer
model. It is stored in the plan, but it is not part of the plan's hash. The entry of each signal, accumulators
included, has these keys:

``decided_by``
    Source of the range. ``analytic``: a bound that no data can exceed. ``design``: a range from the spec, or
    a default range. ``simulated``: a run of the integer model on data, with a margin. ``spec``: the format in
    the spec. ``format``: the full scale of the format, at which the signal saturates (or wraps, if the spec
    requests it).
``bound`` or ``range``
    The largest magnitude according to this source, in the unit of the signal.
``seen``
    The largest magnitude in a run of the integer model, or None.
``headroom_bits``
    log2 of the largest magnitude of the format divided by `seen`, or None.
``exponent``
    For a signal with a block exponent: the exponent at the end of the run, at which `seen` was measured (an
    exponent with a planned range only rises). The largest magnitude of the format is the one at the largest
    exponent.

The analytic bounds are derived as follows:

* x and y: from the range and the offset of the ADC counts
* distances: from the range of x
* kernel values: ``|k| <= 1`` for kernels of a distance, and ``r = k / (1 + lambda)``
* Levinson's recursion: ``|xi| < 1`` and ``0 < eps <= 1`` for a positive definite T
* predictor and coefficients: ``|a|_2 <= sqrt((1 + lambda) / lambda)`` and ``|alpha|_2 <= |y|_2 / lambda``,
  because no eigenvalue of T + lambda I is below lambda
* innovation: ``|mu| <= |x|_2``, because mu is eps times the last coefficient of step m
* FKLMS: see :mod:`.online.bound`
* accumulators: the number of vectors times the largest product
"""

from __future__ import annotations

from fractions import Fraction
from math import sqrt
from typing import Any

from ..candidates import candidate_pairs
from ..plan import Plan, Signal
from ..spec import Spec


def is_block(plan: Plan, name: str) -> bool:
    """Return whether all values of a signal share one block exponent."""
    return "block exponent" in plan.signals[name].unit


def exponents(plan: Plan, name: str) -> tuple[int, int] | None:
    """Return the planned range of a signal's block exponent, or None if there is none."""
    if not is_block(plan, name) or not {f"{name}_exp_min", f"{name}_exp_max"} <= set(plan.constants):
        return None
    if plan.static:  # alpha has that of the recursion's x
        only = plan.integer("x_exp_min" if name == "alpha" else f"{name}_exp_min")
        return only, only
    return plan.integer(f"{name}_exp_min"), plan.integer(f"{name}_exp_max")


def reach(plan: Plan, name: str) -> float:
    """Return the largest magnitude of a signal's format, in the unit of the signal."""
    signal = plan.signals[name]
    return largest(signal) * 2.0 ** (exponents(plan, name) or (0, 0))[1]


def complete(plan: Plan) -> dict[str, Any]:
    """Complete the evidence of a plan, so that every signal has an entry.

    The entries of signals whose range the planner chose are kept. For all other signals, bounds are added.

    Parameters
    ----------
    plan : Plan
        A plan whose evidence has an entry for each signal with a chosen range.

    Returns
    -------
    dict of str to dict
        The entry of each signal by its name.
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
    """Return the analytic bounds by signal, each in the unit of the signal."""
    s, c = plan.signals, plan.integer
    y_raw, y = s["y_raw"].format, s["y"].format
    ends = (-1, 1) if plan.decision else (y_raw.lo, y_raw.hi)  # a class is trained to -1 and 1
    y_most = max(abs(end - c("y_offset")) for end in ends) * c("y_gain")
    bounds = {name: largest(s[name]) for name in ("x", "x_raw", "y_raw", "kernel") if name in s}
    bounds["y"] = float(y.value(y_most) / 2 ** c("y_shift"))
    differences = {"squares": (s["x"].hi - s["x"].lo) ** 2, "absolutes": s["x"].hi - s["x"].lo}
    if plan.distance in differences:
        bounds["distance"] = float(plan.sizes["D"] * differences[plan.distance])
    if "accumulator" not in s:  # summed in float32
        return bounds
    if plan.second_order:
        return bounds | {"accumulator": largest(s["accumulator"])}
    vectors = plan.sizes.get("n", plan.sizes.get("N", 0))
    product = max(-s["alpha"].lo, s["alpha"].hi) * max(-s["kernel"].lo, s["kernel"].hi)
    bounds["accumulator"] = float(vectors * (product + 1 >> c("mac_shift")))
    return bounds | _solver_bounds(plan)


def _solver_bounds(plan: Plan) -> dict[str, float]:
    """Return the analytic bounds for the signals of a batch trainer.

    The bounds of mu and x apply to the system divided by 1 + lambda.
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
    """Return the largest magnitude of a signal's format, at block exponent 0."""
    return float(signal.format.value(max(-signal.lo, signal.hi)))


def file_units(spec: Spec) -> dict[str, float]:
    """Return `zero` and `scale`, which convert y to the units of the data file.

    The value in the units of the file is ``zero + scale * y``. The result is empty if [data] does not contain
    the range of the target, and for classes or several outputs.
    """
    data, y = spec.data, spec.output
    target = None if data is None or y.classes is not None or y.targets > 1 else data.ranged_target
    if data is None or data.ranges is None or target is None:
        return {}
    low, high = map(Fraction, data.ranges[target])
    count = (high - low) / (y.format.hi - y.format.lo)  # value of one ADC count
    return {"zero": float(low + (y.offset - y.format.lo) * count),
            "scale": float(count / (Fraction(y.gain) * y.format.lsb))}
