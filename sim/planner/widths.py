"""sim.planner: prove that intermediate results fit narrower integers.

The values do not change, but the code needs fewer instructions.

This module makes no decisions: each property is proved by a bound computed from the plan's hashed integers.
Generated code uses the 32-bit form of a primitive, or 16-bit lanes, if and only if the property holds.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass

from ..candidates import candidate_plan
from ..plan import Plan, Signal

_TERMS = {"gaussian": 2, "laplacian": 1}  # powers of |u - v| that a column adds


@dataclass(frozen=True)
class Widths:
    """Proved properties of a plan.

    Parameters
    ----------
    distance : bool
        Differences of x words fit int32, and distances, every partial sum included, uint32.
    lanes : bool
        In addition to `distance`, x words and their differences fit int16.
    difference : bool
        Differences of x words fit int32, regardless of the distance.
    kernel : bool
        In addition to `distance`, the kernel is an integer one, and its exponent fits 24 bits.
    exponent : bool
        Distances fit uint32, and so does ``d2 * kernel_c`` below `kernel_d2_end`.
    high : bool
        Distances fit uint32, `kernel_c` 16 bits, and a distance below `kernel_d2_end` may be shifted left by
        ``16 - kernel_shift``: the exponent is the high word of one product.
    products : bool
        Products of two words, of which kernel values may be 1.0, and their sums with a word, fit int32.
    input : bool
        ``(raw - offset) * gain``, with half a step of its rounding, fits int32.
    target : bool
        For a trainer on a band: the same of its target, ``(raw - offset) * gain``.
    clamp : int
        In addition to `input`, x is limited to 0 to ``2**clamp - 1``, and a raw value may be outside; else 0.
    byte : int
        x is the raw byte, limited to 0 to ``2**byte - 1``, in 8 or 16 unsigned bits; else 0.
    """

    distance: bool
    lanes: bool
    difference: bool
    kernel: bool
    exponent: bool
    high: bool
    products: bool
    input: bool
    target: bool
    clamp: int
    byte: int


def _ends(plan: Plan) -> tuple[int, int]:
    """Return the smallest and largest x of a sample, or of the uniform grid."""
    x, step = plan.signals["x"], plan.constants.get("x_step", 0)
    assert isinstance(step, int)
    return min(x.lo, 0) if step else x.lo, max(x.hi, step * plan.sizes.get("n", 0))


def _scaled(plan: Plan, signal: str = "x") -> tuple[int, int]:
    """Return bounds of the scaled input, or target, for every value of its C type."""
    raw = plan.signals[f"{signal}_raw"].format
    ends = (-(1 << (raw.c_bits - 1)), 1 << raw.c_bits) if raw.signed else (0, 1 << raw.c_bits)
    pairs = (zip(plan.integers("x_offset"), plan.integers("x_gain"), strict=True) if signal == "x" else
             [(plan.integer("y_offset"), plan.integer("y_gain"))])
    scaled = [(end - offset) * gain for offset, gain in pairs for end in ends]
    return min(scaled), max(scaled)


def _fits(plan: Plan, signal: str) -> bool:
    """Check that the scaled input or target fits int32, with half a step added."""
    shift = plan.integer(f"{signal}_shift")
    half = 1 << (shift - 1) if shift else 0
    return shift <= 30 and max(map(abs, _scaled(plan, signal))) + half <= 1 << 30


def _target(plan: Plan) -> bool:
    return plan.banded and "y_gain" in plan.constants and _fits(plan, "y")


def _whole_bits(signal: Signal) -> int:
    """Return b if the range of a signal is 0 to ``2**b - 1``, b > 0; else 0."""
    return signal.hi.bit_length() if signal.lo == 0 < signal.hi and (signal.hi + 1) & signal.hi == 0 else 0


def _clamp(plan: Plan) -> int:
    x, (lo, hi) = plan.signals["x"], _scaled(plan)
    inside = lo >= 0 and hi >> plan.integer("x_shift") <= x.hi + 1
    return _whole_bits(x) if not inside and _fits(plan, "x") else 0


def _byte(plan: Plan) -> int:
    raw, x = (plan.signals[name] for name in ("x_raw", "x"))
    same = set(plan.integers("x_offset")) == {0} and set(plan.integers("x_gain")) == {1}
    types = raw.format.c_type == "uint8_t" and x.format.c_type in ("uint8_t", "uint16_t")
    return _whole_bits(x) if same and types and x.hi < 1 << 8 and plan.integer("x_shift") == 0 else 0


def widths(plan: Plan) -> Widths:
    """Return the properties that are proved by the integers of a plan.

    For a trainer that compares candidates, the properties hold for each candidate.

    Parameters
    ----------
    plan : Plan

    Returns
    -------
    Widths
    """
    each = [_widths(candidate_plan(plan, k)) for k in range(plan.sizes.get("K", 1))]
    return Widths(*map(min, zip(*map(astuple, each), strict=True)))


def _widths(plan: Plan) -> Widths:
    """Return the properties of a plan with one pair of sigma and lambda."""
    lo, hi = _ends(plan)
    power = _TERMS.get(plan.kernel)
    distance = (power is not None and plan.word == 16 and hi < 1 << 31
                and plan.sizes["D"] * (hi - lo) ** power < 1 << 32)
    distance = distance and not plan.second_order
    kernel = distance and not plan.in_float32
    end, c, shift = (plan.integer(name) if kernel else 0 for name in
                     ("kernel_d2_end", "kernel_c", "kernel_shift"))
    return Widths(
        distance=distance,
        lanes=distance and power == 2 and lo >= -(1 << 15) and hi < 1 << 15 and hi - lo < 1 << 15,
        difference=plan.kernel == "gaussian" and not plan.second_order and hi - lo < 1 << 31,
        kernel=kernel,
        exponent=kernel and (end - 1) * c < 1 << 32 and shift <= 31,
        high=kernel and 0 < c < 1 << 16 and (end - 1) << max(0, 16 - shift) < 1 << 32,
        products=plan.word == 16 and not plan.in_float32,
        input=_fits(plan, "x"), target=_target(plan), clamp=_clamp(plan),
        byte=_byte(plan))
