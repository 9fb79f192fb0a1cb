"""codegen.rtl: shared functions for literals, widths, sizes and rendering."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...sim.backend import Outputs, Raw
from ...sim.formats import Format, Overflow
from ...sim.plan import Plan
from ..resources import environment
from .names import module_text

#: Words of expansion vectors that a core may hold.
MOST_WORDS = 1 << 20
#: Holds every rounded sum of a plan.
LONGEST = Format(True, 63, 0)


def vectors(plan: Plan) -> int:
    """Return the maximum number of vectors in the plan's kernel expansion."""
    return plan.sizes["n"] if plan.trains else plan.sizes["N"]


def most_vectors(plan: Plan) -> int:
    """Return the maximum vector count that one beat of a model frame can hold."""
    return (1 << plan.word) - 1


def model_tag(plan: Plan, bits: int = 0) -> int:
    """Return the first bits of the plan's hash, the tag of a frame; W bits by default."""
    return int(plan.hash[:(bits or plan.word) // 4], 16)


def signed(bits: int, words: Raw) -> Raw:
    """Convert unsigned values of `bits` bits to signed values (two's complement)."""
    sign = 1 << (bits - 1)
    return (words ^ sign) - sign


def model_head(plan: Plan) -> int:
    """Return the number of beats before the first vector in a model frame.

    These beats are the tag, the vector count, the exponent of alpha and, if the intercept is trained, its
    value.
    """
    return 3 + plan.bias


def model_frame(plan: Plan, state: Outputs) -> list[int]:
    """Return the frame that loads a trained model into a core.

    Parameters
    ----------
    plan : Plan
    state : dict
        State of the model, as returned by :meth:`~kerncast.sim.backend.Backend.state`.

    Returns
    -------
    list of int
        Unsigned beats of W bits: the tag, the vector count, the exponent of alpha, the intercept if it is
        trained, and then D inputs and one alpha per output for each vector.
    """
    columns = plan.sizes["D"]
    if plan.fixed:
        count, exponent = vectors(plan), 0
        state = {name: np.array(plan.tables[name].values, dtype=np.int64) for name in ("alpha", "centers")}
    elif plan.learns:
        count, exponent = int(state["count"][0]), 0
    else:
        trained = bool(state["trained"][0])
        count, exponent = vectors(plan) if trained else 0, int(state["alpha_exp"][0]) if trained else 0
    if "centers" in state:
        v = state["centers"].reshape(-1, columns)[:count]
    else:  # the uniform grid is not stored
        v = (np.arange(count, dtype=np.int64) * plan.integer("x_step"))[:, np.newaxis]
    outputs = plan.outputs
    # Coefficients lie by vector; those of a batch trainer by output.
    alpha = state["alpha"].reshape(outputs, -1).T if plan.trains else state["alpha"].reshape(-1, outputs)
    body = np.column_stack([v, alpha[:count]]).ravel()
    mask = (1 << plan.word) - 1
    bias = [int(state["bias"][0]) & mask if count else 0] if plan.bias else []
    return [model_tag(plan), count, exponent & mask, *bias, *(int(word) & mask for word in body)]


def shifted(magnitude: int, shift: int) -> int:
    """Return a bound on a magnitude after a right shift with any rounding.

    A negative shift is a left shift, which is exact.
    """
    return magnitude << -shift if shift < 0 else (magnitude >> shift) + 1


def expansion_magnitudes(plan: Plan) -> tuple[int, int]:
    """Return bounds on the kernel expansion, and on its cast before saturation.

    The intercept is not included.
    """
    kernel, exponent = plan.signals["kernel"], 0
    if "alpha_exp_max" in plan.constants:
        exponent = plan.integer("alpha_exp_max")
    term = (1 << (plan.word - 1)) * max(-kernel.lo, kernel.hi)
    total = shifted(term, plan.integer("mac_shift")) * vectors(plan)
    return total, shifted(total, min(0, plan.integer("f_shift") - exponent))


def signed_bits(values: Sequence[int]) -> int:
    """Return the smallest two's complement width that holds all values."""
    return max((v ^ (v >> 63)).bit_length() for v in values) + 1


def cast_format(plan: Plan, signal: str) -> Format:
    """Return the format to which the cast of a signal saturates.

    A word that wraps is the low end of the longest one, which holds every sum.
    """
    cast = plan.signals[signal]
    return LONGEST if cast.overflow is Overflow.WRAP else cast.format


def literal(value: int, bits: int) -> str:
    """Format a signed constant of `bits` bits as a SystemVerilog literal."""
    return f"{'-' if value < 0 else ''}{bits}'sd{abs(value)}"


def address_bits(depth: int) -> int:
    """Return the address width of a memory with `depth` entries, at least one bit."""
    return max(1, (depth - 1).bit_length())


def affine(plan: Plan) -> dict[str, Any]:
    """Return the template context of the input offsets and gains.

    There is one pair if all columns share it, else one pair per column, with the last column first, as
    required by a packed vector.
    """
    offsets, gains = plan.integers("x_offset"), plan.integers("x_gain")
    if len(set(zip(offsets, gains, strict=True))) == 1:
        offsets, gains = offsets[:1], gains[:1]
    offset_bits, gain_bits = signed_bits(offsets), signed_bits(gains)
    return {"entries": len(offsets), "offset_bits": offset_bits, "gain_bits": gain_bits,
            "offset_literals": [literal(v, offset_bits) for v in reversed(offsets)],
            "gain_literals": [literal(v, gain_bits) for v in reversed(gains)]}


def target_context(plan: Plan) -> dict[str, Any]:
    """Return the template context for the conversion of targets from ADC counts to y."""
    y, offset, gain = plan.signals["y"], plan.integer("y_offset"), plan.integer("y_gain")
    widths = {"offset_bits": signed_bits([offset]), "gain_bits": signed_bits([gain])}
    return widths | {
        "raw": plan.signals["y_raw"].format, "y_lo": literal(y.lo, 64), "y_hi": literal(y.hi, 64),
        "y_rounding": y.rounding.value, "offset": literal(offset, widths["offset_bits"]),
        "gain": literal(gain, widths["gain_bits"])}


def primitives(modules: Sequence[str]) -> dict[str, str]:
    """Read the shared modules `modules` in hw/rtl; return texts by file name."""
    return {f"{module}.sv": module_text(module) for module in modules}


def render_files(names: Mapping[str, str], values: Mapping[str, Any]) -> dict[str, str]:
    """Render files from templates below ``rtl/``; `names` maps files to templates."""
    return {name: environment().get_template(f"rtl/{template}.j2").render(values, file=name)
            for name, template in names.items()}
