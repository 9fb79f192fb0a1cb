"""codegen.hls: compute the width of each value of the HLS cores.

The widths are derived from ranges and shifts.
"""

from __future__ import annotations

from ...sim.plan import Plan
from ...sim.planner.words import WORD_CLASSES
from ..rtl.common import expansion_magnitudes, shifted, signed_bits, vectors
from ..rtl.predictor import intercepts

#: The model's own integers: what the plan proves to fit them needs no more here.
_LONGEST = 64


def word(lo: int, hi: int) -> str:
    """Return the smallest type for the range from lo to hi."""
    if lo >= 0:
        return f"kc::uint<{min(_LONGEST, max(1, hi.bit_length()))}>"
    return f"kc::sint<{min(_LONGEST, signed_bits((lo, hi)))}>"


def both(most: int) -> str:
    """Return the smallest type for the range from -most to most."""
    return word(-most, most)


def literal(value: int) -> str:
    """Format `value` as a C++ constant."""
    if -(1 << 31) < value < 1 << 31:
        return str(value)
    return f"{value}LL" if value > -(1 << 63) else f"({value + 1}LL - 1)"


def x_range(plan: Plan) -> tuple[int, int]:
    """Return the minimum and the maximum of x, including the uniform grid."""
    x = plan.signals["x"]
    last = (plan.sizes["n"] - 1) * plan.integer("x_step") if "x_step" in plan.constants else 0
    return min(x.lo, 0), max(x.hi, last)


def _scaled(lo: int, hi: int, pairs: list[tuple[int, int]], shift: int) -> str:
    """Return the type of ``(raw - offset) * gain`` after the cast's left shift."""
    most = max(max(abs(lo - offset), abs(hi - offset)) * abs(gain) for offset, gain in pairs)
    return both(most << max(0, -shift))


def _inputs(plan: Plan) -> dict[str, str]:
    """Return the types of raw values, their conversion, and x."""
    raw, raw_y = plan.signals["x_raw"], plan.signals["y_raw"]
    pairs = list(zip(plan.integers("x_offset"), plan.integers("x_gain"), strict=True))
    y_pair = [(plan.integer("y_offset"), plan.integer("y_gain"))]
    return {
        "raw_t": word(raw.format.lo, raw.format.hi), "target_t": word(raw_y.format.lo, raw_y.format.hi),
        "offset_t": both(max(abs(offset) for offset, _ in pairs) or 1),
        "gain_t": word(0, max(gain for _, gain in pairs)),
        "x_scaled_t": _scaled(raw.format.lo, raw.format.hi, pairs, plan.integer("x_shift")),
        "y_scaled_t": _scaled(raw_y.format.lo, raw_y.format.hi, y_pair, plan.integer("y_shift")),
        "x_t": word(*x_range(plan)), "word_t": f"kc::sint<{plan.word}>",
    }


def max_distance(plan: Plan) -> int:
    """Return the maximum distance of two samples, or magnitude of u.v."""
    lo, hi = x_range(plan)
    term = {"squares": (hi - lo) ** 2, "absolutes": hi - lo}.get(plan.distance, max(-lo, hi) ** 2)
    if "kernel_sine_shift" in plan.constants:
        term = shifted(1 << 62, plan.integer("kernel_sine_shift"))
    return plan.sizes["D"] * term


def _kernel(plan: Plan) -> dict[str, str]:
    """Return the types of distances and kernel values."""
    kernel, most = plan.signals["kernel"], max_distance(plan)
    types = {"kernel_t": word(kernel.lo, kernel.hi), "distance_t": word(0, most)}
    if "kernel_degree" in plan.constants:
        dot = shifted(most, plan.integer("kernel_dot_shift"))
        return types | {"distance_t": both(most), "dot_t": both(max(dot, most)),
                        "base_scaled_t": both(dot * plan.integer("kernel_c")), "base_t": "kc::sint<33>",
                        "power_t": both(shifted(1 << 33, min(0, plan.integer("kernel_out_shift"))))}
    if "kernel_turn" in plan.constants:
        types["diff_t"] = word(0, x_range(plan)[1] - x_range(plan)[0])
    words = WORD_CLASSES[plan.word]
    if plan.matern:  # t is below 64, and x below t; 1 + x + x^2 / 3 below 2**9
        return types | {"t_t": word(0, (64 << words.t_frac) - 1),
                        "matern_t": word(0, (512 << words.t_frac) - 1)}
    return types | {"t_t": word(0, (words.t_end << words.t_frac) - 1)}


def _expansion(plan: Plan) -> dict[str, str]:
    """Return the types of the sum over the vectors, and of f before its cast."""
    total, lifted = expansion_magnitudes(plan)
    least, largest = (plan.integer(name) if name in plan.constants else 0
                      for name in ("alpha_exp_min", "alpha_exp_max"))
    lifted += 1 << (plan.word - 1) if plan.bias else max(map(abs, intercepts(plan)))
    reach = max(abs(least), abs(largest))
    return {"acc_t": both(total), "whole_t": both(lifted), "exp_t": both(max(reach, 1 << 8)),
            "place_t": word(0, max(1, vectors(plan) - 1))}


def _learner(plan: Plan) -> dict[str, str]:
    """Return the types of products in the learning rule."""
    rail = 1 << (plan.word - 1)
    product = rail * plan.signals["kernel"].hi
    step = 2 * rail * plan.integer("eta")
    lifted = shifted(step, min(0, plan.integer("eta_shift")))
    return {"miss_t": both(2 * rail), "step_t": both(lifted + rail), "product_t": both(product),
            "given_t": both(product + rail), "decayed_t": both(rail * max(1, plan.integer("decay")))}


def _solver(plan: Plan) -> dict[str, str]:
    """Return the types of sums, scalars and updates of Levinson's recursion."""
    w, n = plan.word, plan.sizes["n"]
    rail, shift = 1 << (w - 1), plan.integer("solver_shift")
    xi_frac, innov_frac = plan.integer("xi_frac"), plan.integer("innov_frac")
    most, frac = shifted(rail * rail, shift) * n, 2 * (w - 1) - shift
    num = shifted(rail, w - 1 - xi_frac) + shifted(most, frac - xi_frac - plan.integer("a_exp_max"))
    innov = shifted(rail, w - 2 - innov_frac) + shifted(most, frac - innov_frac - plan.integer("x_exp_max"))
    static = plan.integer("a_exp_max") if plan.static else 0
    moved = {"moved_t": "kc::sint<64>", "total_t": "kc::sint<63>"} if plan.bias else {}
    return moved | {"sum_t": both(most), "num_t": both(num), "innov_t": both(innov),
            "eps_t": word(0, 1 << xi_frac), "square_t": word(0, 1 << 31),
            "lifted_t": both(max(rail * rail, shifted(rail * rail, 2 * (w - 1) - 31))),
            "update_t": both(rail * rail * 2),
            "wide_t": both((4 * rail) << static), "scaled_t": both(rail << 31)}


def types(plan: Plan, *, learns: bool, solves: bool) -> dict[str, str]:
    """Map every type of the cores to its name, in the order of ``plan.hpp``.

    Parameters
    ----------
    plan : Plan
    learns, solves : bool
        Whether there is the learner, or the solver with Levinson's recursion.
    """
    found = _inputs(plan) | _kernel(plan) | _expansion(plan)
    return found | (_learner(plan) if learns else {}) | (_solver(plan) if solves else {})
