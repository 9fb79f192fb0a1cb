"""codegen: describe the units of a model in its headers.

The description contains the LSB, the Q format, the range, and the conversion to ADC counts.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from ...sim.formats import Format
from ...sim.plan import Plan

#: Product and result of the conversion to ADC counts stay below this power of two.
_PRODUCT_BITS = 62


def q_format(fmt: Format) -> str:
    """Return a format as Qm.n, or UQm.n if it is unsigned.

    As in Arm's notation, m includes the sign bit.
    """
    return f"{'' if fmt.signed else 'U'}Q{fmt.bits - fmt.frac}.{fmt.frac}"


def decimal(value: Fraction) -> str:
    """Format a real value with at most nine significant digits."""
    text = f"{float(value):.9g}"
    return text if any(c in text for c in ".en") else f"{text}.0"


def to_adc(plan: Plan) -> dict[str, Any]:
    """Return the constants of ``adc = offset + round(f * mul / 2^shift)``.

    The factor `mul` is 2^(y_shift + shift) / y_gain, rounded. Its precision is as high as a 62-bit product
    allows.
    """
    exact = Fraction(2) ** plan.integer("y_shift") / plan.integer("y_gain")
    shift = 0
    while shift < 32 and (round(exact * 2 ** (shift + 1))).bit_length() + plan.word <= _PRODUCT_BITS:
        if exact * 2**shift == round(exact * 2**shift):
            break
        shift += 1
    raw = plan.signals["y_raw"].format
    return {"mul": round(exact * 2**shift), "shift": shift, "offset": plan.integer("y_offset"),
            "lo": raw.lo, "hi": raw.hi, "type": raw.c_type}


def _x_step(plan: Plan) -> str:
    """Return the value of one input ADC count as text.

    The text is empty if the columns have different units.
    """
    steps = set(plan.units["x_raw"].split())
    if len(plan.x_units) != 1 or len(steps) != 1:
        return ""
    return f"1 count is {decimal(Fraction(steps.pop()))} {plan.x_units[0]}"


def units_context(plan: Plan) -> dict[str, Any]:
    """Return the format, LSB, range and ADC conversion of f.

    If the spec contains the range of the target in [data], the units are those of the data file.
    """
    file = plan.evidence.get("file", {"zero": 0.0, "scale": 1.0})
    f, zero = plan.signals["f"], Fraction(file["zero"])
    lsb = Fraction(plan.units["y"]) * Fraction(file["scale"])
    counts = "y_gain" in plan.constants and "y_raw" in plan.signals and not plan.decision
    return {"q_format": q_format, "x_units": plan.x_units, "x_step": _x_step(plan), "out": {
        "unit": plan.y_unit.replace("of y", "of the data file") if "file" in plan.evidence else plan.y_unit,
        "zero": decimal(zero) if zero else "",
        "lsb": decimal(lsb), "format": str(f.format), "q": q_format(f.format), "frac": f.format.frac,
        "lo": decimal(zero + lsb * f.lo), "hi": decimal(zero + lsb * f.hi),
        "adc": to_adc(plan) if counts else None}}
