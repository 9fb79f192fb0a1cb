"""sim.planner: prove that intermediate results fit narrower integers.

With narrower integers, the generated code needs fewer instructions and computes the same values. Each
property is proved by a bound, which is computed from the hashed integers of the plan, so this module does not
add decisions to the plan. The generated code uses the 32-bit form of a primitive, or 16-bit SIMD lanes, if
and only if the corresponding property holds.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass

from ..candidates import candidate_plan
from ..plan import Plan, Signal

_TERMS = {"squares": 2, "absolutes": 1}  # powers of |u - v| that a column adds


@dataclass(frozen=True)
class Widths:
    """Proved properties of a plan.

    Parameters
    ----------
    distance : bool
        Differences of two values of x fit int32.  Squared distances, including every partial sum, fit uint32.
    lanes : bool
        In addition to `distance`, values of x and their differences fit int16.
    difference : bool
        Differences of two values of x fit int32; distances may be wider.
    kernel : bool
        In addition to `distance`, the kernel is computed in integers, and its exponent fits 24 bits.
    exponent : bool
        Squared distances fit uint32, and so does the product ``d2 * kernel_c`` for distances below
        `kernel_d2_end`.
    high : bool
        Squared distances fit uint32, `kernel_c` fits 16 bits, and a distance below `kernel_d2_end` can be
        shifted left by ``16 - kernel_shift``: the exponent of the kernel is then the high half of one
        product.
    products : bool
        Products of two values, one of which may be the kernel value 1.0, fit int32, and so does the sum of a
        product and a value.
    input : bool
        ``(raw - offset) * gain`` plus half a rounding step fits int32.
    target : bool
        For the banded trainer: the same property of its targets.
    clamp : int
        b if, in addition to `input`, x is limited to the range 0 to ``2**b - 1`` and an ADC count can be
        outside of it; otherwise 0.
    byte : int
        b if x is the ADC count itself, limited to the range 0 to ``2**b - 1``, and is stored in 8 or 16
        unsigned bits; otherwise 0.
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
    """Return the range of the scaled input or target, over all values of its C type."""
    raw = plan.signals[f"{signal}_raw"].format
    ends = (-(1 << (raw.c_bits - 1)), 1 << raw.c_bits) if raw.signed else (0, 1 << raw.c_bits)
    pairs = (zip(plan.integers("x_offset"), plan.integers("x_gain"), strict=True) if signal == "x" else
             [(plan.integer("y_offset"), plan.integer("y_gain"))])
    scaled = [(end - offset) * gain for offset, gain in pairs for end in ends]
    return min(scaled), max(scaled)


def _fits(plan: Plan, signal: str) -> bool:
    """Return whether the scaled input or target, plus half a step, fits int32."""
    shift = plan.integer(f"{signal}_shift")
    half = 1 << (shift - 1) if shift else 0
    return shift <= 30 and max(map(abs, _scaled(plan, signal))) + half <= 1 << 30


def _target(plan: Plan) -> bool:
    return plan.banded and "y_gain" in plan.constants and _fits(plan, "y")


def _whole_bits(signal: Signal) -> int:
    """Return b > 0 if the range of a signal is 0 to ``2**b - 1``; otherwise 0."""
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
    """Return the properties that the integers of a plan prove.

    For a trainer that compares candidates, the properties hold for each candidate.
    """
    each = [_widths(candidate_plan(plan, k)) for k in range(plan.sizes.get("K", 1))]
    return Widths(*map(min, zip(*map(astuple, each), strict=True)))


def _widths(plan: Plan) -> Widths:
    """Return the properties of a plan that has only one pair of sigma and lambda."""
    lo, hi = _ends(plan)
    power = _TERMS.get(plan.distance)
    distance = (power is not None and plan.word == 16 and hi < 1 << 31
                and plan.sizes["D"] * (hi - lo) ** power < 1 << 32)
    distance = distance and not plan.second_order
    kernel = distance and not plan.in_float32 and not plan.matern
    end, c, shift = (plan.integer(name) if kernel else 0 for name in
                     ("kernel_d2_end", "kernel_c", "kernel_shift"))
    return Widths(
        distance=distance,
        lanes=distance and power == 2 and lo >= -(1 << 15) and hi < 1 << 15 and hi - lo < 1 << 15,
        difference=plan.distance == "squares" and not plan.second_order and hi - lo < 1 << 31,
        kernel=kernel,
        exponent=kernel and (end - 1) * c < 1 << 32 and shift <= 31,
        high=kernel and 0 < c < 1 << 16 and (end - 1) << max(0, 16 - shift) < 1 << 32,
        products=plan.word == 16 and not plan.in_float32,
        input=_fits(plan, "x"), target=_target(plan), clamp=_clamp(plan),
        byte=_byte(plan))
