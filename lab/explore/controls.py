"""lab.explore: define the sliders and selection lists of the page, one per key."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, get_args, get_origin

from ...codegen.firmware.targets import target_ids
from ...sim.choices import KERNEL_KEYS
from ...sim.errors import fail
from ...sim.formats import Format
from ...sim.spec import Spec
from ...sim.spec.keys import OVERRIDABLE, TABLES, keys
from ..sweep.space import Inputs, Scalar, Space

#: Format of the coefficients, given by its fraction bits; the word length is that of the design.
FRACTION = "numbers.formats.alpha"
#: Numbers by which a real is divided and multiplied at most, and steps a factor of ten.
_RATIO, _A_DECADE = 30.0, 20
#: Factors by which a size in the spec may be divided and multiplied.
_SHRINK, _GROW = 8, 4
#: Keys in the order of the page; of a spec those that it has.
_KEYS = ("numbers.word", FRACTION, "input.word", "output.word", "kernel.sigma", "kernel.period",
         "toeplitz.lambda", "toeplitz.n", "toeplitz.refine", "toeplitz.solver", "toeplitz.scaling",
         "toeplitz.bias", "cg.lambda", "cg.n", "cg.steps", "online.budget", "online.eta", "online.rho",
         "online.reduction", "online.max_deterioration", "online.passes", "numbers.rounding",
         "numbers.exp_table", "numbers.margin", "target.id")
#: Keys whose values are not near the one in the spec, with the allowed values.
_WHOLE: dict[str, tuple[Scalar | None, ...]] = {
    "toeplitz.refine": (0, 1, 2, 3, 4), "online.passes": (1, 2, 3, 4, 5, 6, 8, 10),
    "online.rho": (0.0, *(round(10 ** (k / 10), 6) for k in range(-40, -4))),
    "online.max_deterioration": (None, *(float(f"{10 ** (k / 10):.3g}") for k in range(-40, 1))),
    "numbers.margin": tuple(k / 10 for k in range(0, 31))}


class Control(NamedTuple):
    """Control of the page: a key of the spec with the values to choose from.

    Attributes
    ----------
    key : str
        The key as in the spec.
    values : tuple
        The values to choose from; None means that the planner chooses.
    value : int, float, str, bool or None
        The value in the spec.
    about : str
        Description of the key.
    """

    key: str
    values: tuple[Scalar | None, ...]
    value: Scalar | None
    about: str

    def offered(self, value: Any) -> Scalar | None:
        """Return the value of the control that equals a value from the page.

        The comparison treats 1 and 1.0 as equal. Raises E376 if no value is equal.
        """
        for own in self.values:
            if own == value and isinstance(own, bool) is isinstance(value, bool):
                return own
        raise fail("E376", "the control does not offer this value", where=self.key, value=value,
                   allowed="the values that the page offers", remedy="reload the page")

    def as_dict(self) -> dict[str, Any]:
        """Return the control as a dictionary for the page."""
        slides = all(v is None or (isinstance(v, (int, float)) and not isinstance(v, bool))
                     for v in self.values) or self.key.endswith(".word")
        return {"key": self.key, "values": list(self.values), "at": self.values.index(self.value),
                "slides": slides, "about": self.about}


def controls(spec: Spec) -> tuple[Control, ...]:
    """Return the controls for a spec in the order of the page."""
    found = []
    for key in _KEYS:
        control = _control(spec, key)
        if control is not None and len(control.values) > 1:
            found.append(control)
    return tuple(found)


def inputs_of(spec: Spec, offered: tuple[Control, ...], chosen: dict[str, Scalar | None]) -> Inputs:
    """Return the chosen values that differ from the spec, as inputs of a sweep."""
    found: Inputs = {}
    for control in offered:
        value = chosen[control.key]
        if value is None or value == control.value:
            continue
        word = chosen.get("numbers.word", spec.numbers.word)
        found[control.key] = f"s{word}f{value}" if control.key == FRACTION else value
    return found


def _control(spec: Spec, key: str) -> Control | None:
    """Return the control for a key.

    The result is None if the spec does not contain the key, or if its kernel does not use it.
    """
    if key == FRACTION:
        return _fraction(spec)
    table, name = key.split(".")
    values = Space(spec, ()).values
    if values.get(table) is None:
        return None
    if table == "kernel" and name not in KERNEL_KEYS[spec.kernel.type]:
        return None
    field = TABLES[table].model_fields[keys(TABLES[table])[name]]
    held = values[table].get(name, field.default)
    return Control(key, _values(key, held, field), held, str(field.description))


def _fraction(spec: Spec) -> Control | None:
    if "alpha" not in OVERRIDABLE[spec.model.algorithm]:
        return None
    held = dict(spec.numbers.formats).get("alpha")
    value = None if held is None else Format.parse(str(held)).frac
    return Control(FRACTION, (None, *range(0, 32)), value,
                   "fraction bits of alpha in the device's format; none: the planner chooses")


def _values(key: str, held: Any, field: Any) -> tuple[Scalar | None, ...]:
    """List the values of a key's control. They include the value in the spec."""
    allowed = get_args(field.annotation) if get_origin(field.annotation) is Literal else ()
    if key in _WHOLE:
        return _with(_WHOLE[key], held)
    if key == "target.id":
        return tuple(target_ids())
    if key in ("input.word", "output.word"):
        return _sensor_words(str(held))
    if allowed:
        return tuple(allowed)
    if isinstance(held, bool):
        return (False, True)
    fits = _limits(field)
    if isinstance(held, int):
        lo, hi = max(2, held // _SHRINK), held * _GROW
        steps = max(1, (hi - lo) // 200)
        return _with([v for v in range(lo, hi + 1, steps) if fits(v)], held)
    count = round(math.log10(_RATIO) * _A_DECADE)
    around = [float(f"{held * 10 ** (k / _A_DECADE):.3g}") for k in range(-count, count + 1)]
    return _with([v for v in around if fits(v)], held)


def _with(values: Any, held: Any) -> tuple[Any, ...]:
    """Insert a value into sorted values; None comes first."""
    return tuple(sorted({*values, held}, key=lambda v: -math.inf if v is None else v))


def _limits(field: Any) -> Callable[[float], bool]:
    """Return a function that tests whether a value is within the limits of a key."""
    found = {name: getattr(rule, name) for rule in field.metadata for name in ("ge", "gt", "le", "lt")
             if hasattr(rule, name)}

    def fits(value: float) -> bool:
        return bool(value >= found.get("ge", -math.inf) and value > found.get("gt", -math.inf)
                    and value <= found.get("le", math.inf) and value < found.get("lt", math.inf))

    return fits


def _sensor_words(held: str) -> tuple[str, ...]:
    """List formats for a sensor with the same range and more or fewer bits."""
    word = Format.parse(held)
    lo, hi = max(2 if word.signed else 1, word.bits - 8), min(24, word.bits + 4)
    return tuple(str(Format(word.signed, bits, word.frac + bits - word.bits))
                 for bits in range(min(lo, word.bits), max(hi, word.bits) + 1))
