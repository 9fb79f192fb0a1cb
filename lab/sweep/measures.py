"""lab.sweep: the measures of a point and the limits on them.

*Measured*, by running the integer model on the data: ``error``, ``rms``, ``saturations`` and, compared with
float64, ``float_error``, ``excess`` and ``alpha_error``. *Computed*, from the plan and without a compiler:
``ram`` (the model structure, whose size the generated code asserts), ``flash`` (constant tables, without the
code), ``operations`` and ``energy``:

* ``operations.CALL``: worst-case multiplications and divisions per call, including those of kernel values and
  distances, by the plan's formulas.  ``instructions``, its name in 0.1, is accepted.
* ``energy.CALL``, in nanojoules: each operation costs a multiplication of W bits, whose energy grows as W^2,
  and two reads of W bits from 8 kB of SRAM, which grow as W; 3.1 pJ and 2 x 5 pJ at 32 bits in 45 nm (M.
  Horowitz, "Computing's energy problem", ISSCC 2014).  Use the energy model to compare designs, not to
  predict battery life.

Without ``.CALL`` they refer to the call that learns: train or update.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ...sim.errors import Problem
from ...sim.plan import Operations, Plan
from ...sim.spec.keys import CALLS
from ...sim.spec.problems import did_you_mean

#: By name: unit, whether it is measured or computed, what it is.
MEASURES: dict[str, tuple[str, str, str]] = {
    "error": ("%", "measured", "error rate for classes, else RMS error divided by the standard deviation of "
                               "the target"),
    "rms": ("y", "measured", "RMS error, in units of y"),
    "saturations": ("", "measured", "number of casts that saturated"),
    "float_error": ("%", "measured", "error in float64 with the same parameters"),
    "excess": ("%", "measured", "error minus float_error: the cost of fixed point"),
    "alpha_error": ("", "measured", "relative error of the coefficients against float64"),
    "ram": ("B", "computed", "bytes of the model structure"),
    "flash": ("B", "computed", "bytes of constant tables, without code"),
    "operations": ("", "computed", "multiplications and divisions per call"),
    "energy": ("nJ", "computed", "estimated energy per call"),
}
#: Measures that need float64 in addition to the integers.
OF_FLOAT = ("float_error", "excess", "alpha_error")
#: Those of which there is one for each call.
OF_CALLS = ("operations", "energy")
#: Measures of the cost of a design, the most important one first.
COSTS = ("ram", "flash", "energy", "operations")
#: Names of 0.1, accepted and replaced.
FORMER = {"instructions": "operations"}
DEFAULT_OBJECTIVES = ("error", "ram")
DEFAULT_CONSTRAINT = "error <= float + 1"

#: By the unit of a measure, those that its limits may be written in, and their factors; k is 1000, Ki 1024.
_UNITS: dict[str, dict[str, int]] = {
    "%": {"%": 1, "point": 1, "points": 1}, "B": {"B": 1, "kB": 1000, "KiB": 1024, "MB": 10**6},
    "nJ": {"nJ": 1, "uJ": 1000, "mJ": 10**6}}
_LIMIT = re.compile(r"\s*(?P<name>[\w.]+)\s*(?P<sign><=|>=)\s*(?P<float>float\s*(?P<plus>[+-])?)?\s*"
                    r"(?P<number>\d*\.?\d+(?:[eE][+-]?\d+)?)?\s*(?P<unit>[A-Za-z%]*)\s*", re.ASCII)
_MULTIPLICATION, _WORD_OF_SRAM = 3.1e-3, 5e-3  # nJ at 32 bits


@dataclass(frozen=True)
class Constraint:
    """Upper or lower limit on a measure.

    Parameters
    ----------
    text : str
        The limit as written.
    name : str
        Name of the measure.
    most : bool
        Whether it is an upper limit.
    number : float
        The limit in the unit of the measure, or the value to add if `above_float` is true.
    above_float : bool
        Whether the limit is the sum of `number` and the error of the float64 model for
        the spec without changes.
    """

    text: str
    name: str
    most: bool
    number: float
    above_float: bool = False

    def limit(self, baseline: Mapping[str, float]) -> float:
        """Return the limit.

        `baseline` contains the errors of the float64 model for the spec without changes.
        """
        return self.number + (baseline[self.name] if self.above_float else 0.0)

    def over(self, measures: Mapping[str, float], baseline: Mapping[str, float]) -> float:
        """Return the excess of a measure over the limit.

        It is at most 0 if the limit is satisfied, and infinite if the measure is absent.
        """
        value = measures.get(self.name)
        if value is None:
            return float("inf")
        return (value - self.limit(baseline)) * (1 if self.most else -1)

    def described(self, baseline: Mapping[str, float]) -> str:
        """Return the limit as written, followed by its value if it differs from the text."""
        plain = f"{self.name} {'<=' if self.most else '>='} {quantity(self.name, self.limit(baseline))}"
        return self.text if plain == self.text else f"{self.text} ({plain})"


def names(algorithm: str) -> list[str]:
    """List all measures of an algorithm, including measures of single calls."""
    return [*MEASURES, *(f"{name}.{call}" for name in OF_CALLS for call in CALLS[algorithm])]


def current_name(name: str) -> str:
    """Return the current name of a measure; version 0.1 used other names."""
    measure, dot, call = name.partition(".")
    return f"{FORMER.get(measure, measure)}{dot}{call}"


def renamed(texts: Iterable[str]) -> tuple[str, ...]:
    """Return a note for each name of version 0.1 in objectives and limits."""
    found = " ".join(texts)
    return tuple(f"the measure {old} is now called {new}: it counts multiplications and divisions, not "
                 "instructions" for old, new in FORMER.items() if re.search(rf"\b{old}\b", found))


def measured(name: str) -> bool:
    """Report whether a measure comes from a run, and not only from the plan."""
    return MEASURES[name.split(".")[0]][1] == "measured"


def quantity(name: str, value: float | None) -> str:
    """Format the value of a measure with its unit for a table."""
    unit = MEASURES[name.split(".")[0]][0]
    if value is None:
        return "-"
    whole = unit == "B" or name.startswith(("operations", "saturations"))
    text = f"{value:,.0f}" if whole else f"{value:.4g}"
    return f"{text} {unit}".strip()


def checked_names(found: list[str], algorithm: str, where: str, problems: list[Problem]) -> list[str]:
    """Return the names of measures without duplicates; add E362 for unknown names."""
    known = names(algorithm)
    found = [current_name(name) for name in found]
    for name in found:
        if name not in known:
            problems.append(Problem("E362", f"no such measure: {name}", where, name, ", ".join(known),
                                    did_you_mean(name, known) or "use one of the allowed values"))
    return list(dict.fromkeys(name for name in found if name in known))


def parse_constraint(text: str, algorithm: str, where: str, problems: list[Problem]) -> Constraint | None:
    """Parse a limit such as ``ram <= 8 kB`` or ``error <= float + 1``.

    If it is invalid, E362 or E363 is added to `problems`, and the result is None.
    """
    found = _LIMIT.fullmatch(text)
    known = [unit for units in _UNITS.values() for unit in units]
    wrong = found is None or found["unit"] not in ("", *known) or bool(found["plus"]) != bool(
        found["float"] and found["number"]) or not (found["float"] or found["number"])
    if found is None or wrong:
        problems.append(Problem("E363", "this is not a limit", where, text,
                                "MEASURE <= NUMBER [UNIT], or error <= float + NUMBER; units: "
                                + ", ".join(known),
                                "write the limit in this form, for example \"ram <= 8 kB\" (8,000 bytes; "
                                "8 KiB are 8,192)"))
        return None
    if not (named := checked_names([found["name"]], algorithm, where, problems)):
        return None
    (name,) = named
    units = {"": 1, **_UNITS.get(MEASURES[name.split(".")[0]][0], {})}
    if found["unit"] not in units:
        of_it = ", ".join(unit for unit in units if unit)
        problems.append(Problem("E363", f"the unit of {name} is not {found['unit']}", where, text,
                                (f"{of_it}, or " if of_it else "") + "a number without a unit",
                                "write the limit in one of the allowed units"))
        return None
    if found["float"] and name not in ("error", "rms"):
        problems.append(Problem("E363", f"`float` cannot be used in a limit of {name}, because float64 has "
                                        "no such measure", where, text,
                                "`float` is allowed only in a limit of error or rms",
                                "write a number instead of `float`"))
        return None
    number = float(found["number"] or 0) * units[found["unit"]] * (-1 if found["plus"] == "-" else 1)
    return Constraint(" ".join(text.split()), name, found["sign"] == "<=", number,
                      bool(found["float"]))


def computed(plan: Plan) -> dict[str, float]:
    """Return the measures that depend only on the plan: bytes, operations and energy."""
    found: dict[str, float] = {"ram": plan.ram_bytes, "flash": plan.table_bytes}
    calls = CALLS[plan.algorithm]
    for call in calls:
        found[f"operations.{call}"] = count = _arithmetic(plan, plan.operations[call])
        found[f"energy.{call}"] = count * _energy(plan)
    for name in OF_CALLS:
        found[name] = found[f"{name}.{calls[0]}"]
    return found


def _arithmetic(plan: Plan, counts: Mapping[str, Operations]) -> int:
    """Return the number of multiplications and divisions in the planner's counts."""
    of_distance = {"absolutes": 0, "sines": 9}.get(plan.distance, 1)
    of_kernel = {"linear": 0, "polynomial": int(plan.options.get("degree", 0))}.get(
        plan.kernel, (3 if plan.word == 16 else 4) + 2 * plan.matern)
    each = {"distance_terms": of_distance, "kernel_values": of_kernel}
    return sum(operation.count * each.get(what, 1) for what, operation in counts.items())


def _energy(plan: Plan) -> float:
    """Return the energy of a multiplication and of reading its operands in nanojoules."""
    part = plan.constants.get("solver_word", plan.word)
    assert isinstance(part, int)
    return _MULTIPLICATION * (part / 32) ** 2 + 2 * _WORD_OF_SRAM * (part / 32)
