"""sim.planner: options and constants of classifiers."""

from __future__ import annotations

from fractions import Fraction

from ..choices import ARGMAX, SIGN
from ..errors import fail
from ..spec import Spec
from .words import Affine


def rounded(value: Fraction) -> int:
    """Return the nearest integer, rounding half up."""
    return int((value + Fraction(1, 2)) // 1)


def learner_outputs(spec: Spec) -> int:
    """Return the number of outputs: 1 for two classes, one per class for more.

    For a regression, it is the number of outputs in the spec.
    """
    classes = len(spec.output.classes or ())
    return spec.output.targets if classes == 0 else 1 if classes == 2 else classes


def learner_options(spec: Spec) -> dict[str, str]:
    """Return the class names and the decision rule as options of the plan.

    The result is empty for a regression.
    """
    if not spec.output.classes:
        return {}
    named = {f"class_{label}": name for label, name in enumerate(spec.output.classes)}
    named["decision"] = SIGN if len(spec.output.classes) == 2 else ARGMAX
    return named | min_margin_option(spec)


def range_of_y(spec: Spec, y: Affine) -> dict[str, int]:
    """Return the limits of a prediction: the range of y, or the full scale of scores."""
    if spec.output.classes:
        full = 1 << y.signal.format.frac
        return {"f_lo": -full, "f_hi": full}
    raw = spec.output.format
    lo, hi = (((v - y.offset[0]) * y.gain[0]) >> y.shift for v in (raw.lo, raw.hi))
    return {"f_lo": lo, "f_hi": hi}


def min_margin_option(spec: Spec) -> dict[str, str]:
    """Return the minimum margin as an option of the plan; empty if the spec has none."""
    return {} if spec.output.min_margin is None else {"min_margin": repr(spec.output.min_margin)}


def learner_constants(spec: Spec, y: Affine) -> dict[str, int]:
    """Return the constants of a classifier: the two targets and the minimum margin.

    One target is for the class of the sample, the other one for the other classes.

    The result is empty for a regression.

    Raises
    ------
    KerncastError
        E108 if the format of the scores does not include -1 and 1, or if the minimum margin exceeds every
        possible margin.
    """
    if not spec.output.classes:
        return {}
    scores = spec.output.scores
    if scores.value(scores.lo) > -1 or abs(y.lsb) * 2**y.signal.format.frac < 1:
        raise fail("E108", "class scores are trained to -1 and 1, which this format cannot represent",
                   where="[output] word", value=scores, allowed="a signed format from -1 to 1, such as s2f0",
                   remedy="omit `word`, or set word = \"s2f0\"")
    return {"y_class": rounded(1 / y.lsb), "y_other": rounded(-1 / y.lsb)} | min_margin(spec, y)


def min_margin(spec: Spec, y: Affine) -> dict[str, int]:
    """Return the minimum margin in LSB of y.

    Raise E108 if it exceeds every possible margin.
    """
    asked = spec.output.min_margin
    if asked is None:
        return {}
    least, hi = max(1, rounded(Fraction(asked) / y.lsb)), y.signal.format.hi
    if least > hi:
        raise fail("E108", "min_margin exceeds every possible margin", where="[output] min_margin",
                   value=asked,
                   allowed=f"up to {float(hi * y.lsb):g}", remedy="lower min_margin")
    return {"min_margin": least}
