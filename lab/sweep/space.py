"""lab.sweep: the swept keys with their values, and the spec of each point.

A key is written with its table as in the spec: ``toeplitz.lambda`` (or ``toeplitz.lam``), ``online.budget``,
``numbers.formats.alpha``. If only one table of the spec has a key of this name, the table may be omitted.
Values are a list, or ``LO..HI/COUNT`` for COUNT values from LO to HI. They have equal ratios if LO is
positive, else equal steps.

``input.word`` and ``output.word`` are formats of sensors. If they are swept, samples are rounded to the
format of each point, as a sensor with this format would return them. Offsets are scaled accordingly.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, get_args, get_origin

from ...sim.errors import KerncastError, Problem, fail
from ...sim.formats import Format
from ...sim.spec import Spec
from ...sim.spec.keys import TABLE_OF, TABLES, keys
from ...sim.spec.problems import abbreviate, did_you_mean, table_problems, unknown_key
from ...sim.spec.source import Source

Scalar = int | float | str | bool
Inputs = dict[str, Scalar]
Values = dict[str, Any]

_RANGE = re.compile(r"(?P<lo>[^/]+?)\.\.(?P<hi>[^/]+)/(?P<count>\d{1,9})", re.ASCII)
_MOST_VALUES = 10_000
# Characters of a number; Python does not read integers of thousands of digits.
_MOST_CHARACTERS = 100
#: Tables that no point may vary.
_FIXED = ("sweep",)
#: Tables of sensors, whose words the samples follow.
SENSORS = ("input", "output")
#: Tables and keys that float64 does not look at.
NUMBERS_ONLY = ("numbers", "target", "budget")
SOLVING = ("toeplitz.solver", "toeplitz.scaling", "toeplitz.refine", "toeplitz.tolerance", "cg.tolerance")


@dataclass(frozen=True)
class Axis:
    """Key of the spec, and the values that a sweep uses for it.

    Parameters
    ----------
    key : str
        The key as in the spec, such as ``toeplitz.lambda``.
    values : tuple
    """

    key: str
    values: tuple[Scalar, ...]

    @property
    def path(self) -> tuple[str, ...]:
        """Return the table and the key and, if the key is a nested table, the name in it."""
        return tuple(self.key.split(".", 2))

    @property
    def changes_float(self) -> bool:
        """Report whether the axis changes the results in float64, too."""
        return self.path[0] not in NUMBERS_ONLY and self.key not in SOLVING

    @property
    def numeric(self) -> bool:
        """Report whether all values are numbers."""
        return all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in self.values)


@dataclass(frozen=True)
class Space:
    """Grid of points: a spec with axes. Each point has a separate spec.

    Parameters
    ----------
    base : Spec
    axes : tuple of Axis
        The swept keys. Those that change the results in float64 come first, so that consecutive points share
        these results.
    """

    base: Spec
    axes: tuple[Axis, ...]

    @cached_property
    def values(self) -> Values:
        """Return the tables of the spec as written, without [sweep]."""
        dump: Values = self.base.model_dump(mode="json", by_alias=True, exclude_none=True, exclude={"sweep"})
        return dump

    @property
    def size(self) -> int:
        """Return the number of points in the grid."""
        return math.prod(len(axis.values) for axis in self.axes)

    def grid(self) -> Iterator[Inputs]:
        """Yield all points; the last axis changes fastest."""
        return (self.point(index) for index in range(self.size))

    def point(self, index: int) -> Inputs:
        """Return the grid point with a given index."""
        found: Inputs = {}
        for axis in reversed(self.axes):
            index, at = divmod(index, len(axis.values))
            found[axis.key] = axis.values[at]
        return {axis.key: found[axis.key] for axis in self.axes}

    def values_of(self, inputs: Mapping[str, Scalar]) -> Values:
        """Return the tables of the spec of a point."""
        values = {name: dict(table) for name, table in self.values.items()}
        for key, value in inputs.items():
            table, name, *inner = key.split(".", 2)
            if inner:
                values[table][name] = {**values[table].get(name, {}), inner[0]: value}
            else:
                values[table][name] = value
        for table in SENSORS:
            _move_offset(values[table], self.values[table], f"{table}.offset" in inputs)
        return values

    def spec(self, inputs: Mapping[str, Scalar]) -> Spec:
        """Return the spec of a point; raise its errors if the values are inconsistent."""
        return Spec(**self.values_of(inputs))


def _move_offset(table: Values, base: Values, chosen: bool) -> None:
    """Scale the offset of a sensor to the format of a point.

    The format of the point has the same range as that in the spec.
    """
    if chosen or table["word"] == base["word"] or "offset" not in base:
        return
    try:
        finer = Format.parse(str(table["word"])).frac - Format.parse(base["word"]).frac
    except KerncastError:  # the rules of the spec report it
        return
    table["offset"] = ([moved(o, finer) for o in base["offset"]] if isinstance(base["offset"], list)
                       else moved(base["offset"], finer))


def moved(word: int, finer: int) -> int:
    """Shift a value to `finer` more fraction bits, or round it half up if `finer` < 0."""
    return word << finer if finer >= 0 else (word + (1 << (-finer - 1))) >> -finer


def make_space(spec: Spec, grid: Sequence[str] = ()) -> Space:
    """Build the space from [sweep.grid] and the options ``--grid KEY=VALUES``.

    For the same key, an option takes precedence over the spec.

    Raises
    ------
    KerncastError
        All errors together: E103 for unknown keys, E107 to E110 or E201 for invalid values, E360 for an
        invalid axis; E361 if no key is swept.
    """
    problems: list[Problem] = []
    wanted: dict[str, tuple[Any, str]] = {}
    for key, values, where in [*_of_table(spec), *_of_options(grid, problems)]:
        name = _canonical(spec, key, where, problems)
        if name:
            wanted[name] = values, where
    axes = []
    for name, (values, where) in wanted.items():
        listed = _listed(values, where, problems, real=_is_real(name))
        _check_values(spec, name, listed, where, problems)
        axes.append(Axis(name, tuple(listed)))
    if problems:
        raise KerncastError(problems)
    if not axes:
        raise fail("E361", "the sweep has no axis", where="--grid", value="no key",
                   allowed="a key of the spec",
                   remedy="add an axis, for example --grid numbers.word=16,24,32, or the table [sweep.grid]")
    return Space(spec, tuple(sorted(axes, key=lambda axis: not axis.changes_float)))


def _of_table(spec: Spec) -> Iterator[tuple[str, Any, str]]:
    """Yield key, value and place of each entry in [sweep.grid].

    Entries may be in nested tables, or have quoted keys with dots.
    """
    waiting: list[tuple[tuple[str, ...], Any]] = [((), spec.sweep.grid if spec.sweep else {})]
    while waiting:
        path, value = waiting.pop(0)
        if isinstance(value, Mapping):
            waiting += [((*path, name), inner) for name, inner in value.items()]
        else:
            yield ".".join(path), value, spec.place("sweep", "grid", *path)


def _of_options(grid: Iterable[str], problems: list[Problem]) -> Iterator[tuple[str, Any, str]]:
    for text in grid:
        key, equals, values = text.partition("=")
        if not equals or not key.strip() or not values.strip():
            problems.append(Problem("E360", "this is not an axis", "--grid", text,
                                    "KEY=V1,V2,... or KEY=LO..HI/COUNT",
                                    "write the axis in this form, for example numbers.word=16,24,32"))
            continue
        whole = _RANGE.fullmatch(values.strip())
        listed: Any = values.strip() if whole else [_scalar(v.strip()) for v in values.split(",")]
        yield key.strip(), listed, f"--grid {key.strip()}"


def _scalar(text: str) -> Scalar:
    """Parse a number, true or false as TOML does; return any other text unchanged."""
    if text in ("true", "false"):
        return text == "true"
    if len(text) > _MOST_CHARACTERS:
        return text
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _is_real(key: str) -> bool:
    """Report whether a key accepts real numbers."""
    table, name, *_ = key.split(".")
    annotation = TABLES[table].model_fields[keys(TABLES[table])[name]].annotation
    return float in (annotation, *get_args(annotation))


def _listed(values: Any, where: str, problems: list[Problem], *, real: bool) -> list[Scalar]:
    """Return the values of an axis without duplicates; add E360 if they are invalid."""
    found = _RANGE.fullmatch(values) if isinstance(values, str) else None
    if found is not None:
        lo, hi, count = _scalar(found["lo"]), _scalar(found["hi"]), int(found["count"])
        if isinstance(lo, (int, float)) and isinstance(hi, (int, float)) and 1 < count <= _MOST_VALUES \
                and -math.inf < lo < hi < math.inf:
            return list(dict.fromkeys(_spread(lo, hi, count, real)))
    elif isinstance(values, (list, tuple)) and 0 < len(values) <= _MOST_VALUES \
            and all(isinstance(v, (int, float, str)) for v in values):
        return list(dict.fromkeys(values))
    problems.append(Problem("E360", "these values do not define an axis", where, abbreviate(values),
                            f"a list of 1 to {_MOST_VALUES} values, or \"LO..HI/COUNT\" with LO below HI",
                            "write the values in this form, for example [16, 24, 32] or \"0.01..1/9\""))
    return []


def _spread(lo: float, hi: float, count: int, real: bool) -> Iterator[Scalar]:
    """Yield `count` values from lo to hi: equal ratios if lo > 0, else equal steps."""
    whole = not real and isinstance(lo, int) and isinstance(hi, int)
    for i in range(count):
        part = i / (count - 1)
        value = lo * (hi / lo) ** part if lo > 0 else lo + (hi - lo) * part
        yield round(value) if whole else float(f"{value:.6g}")


def known_keys(spec: Spec) -> list[str]:
    """List every key of the spec that can be swept, as ``table.key``."""
    present = [name for name in TABLES if name not in _FIXED and getattr(spec, name, None) is not None]
    return [f"{name}.{key}" for name in present for key in keys(TABLES[name])]


def _canonical(spec: Spec, key: str, where: str, problems: list[Problem]) -> str:
    """Return a key in the form of the spec, ``table.key``.

    If the key is unknown, an error is added to `problems`, and the result is empty.
    """
    table, _, rest = key.partition(".")
    known = known_keys(spec)
    if not rest:  # a name alone
        homes = [k for k in known if k.split(".")[1] == _alias(k.split(".")[0], key)]
        if len(homes) == 1:
            return homes[0]
        problems.append(Problem("E103", f"{'several tables have' if homes else 'no table has'} a key {key}",
                                where, key, ", ".join(homes or known),
                                f"name its table: {' or '.join(homes)}" if homes else
                                did_you_mean(key, [k.split(".")[1] for k in known]) or "use one of the "
                                                                                       "allowed values"))
        return ""
    name, *inner = rest.split(".", 1)
    name = _alias(table, name)
    if f"{table}.{name}" in known and (not inner or _has_names(table, name)):
        return ".".join((table, name, *inner))
    if not inner and table in TABLES and table in {k.split(".")[0] for k in known}:
        problems.append(unknown_key(table, name, TABLES[table], where))
        return ""
    belongs = [a for a, t in TABLE_OF.items() if t == table]
    problems.append(Problem("E103", f"unknown key {key}", where, key, ", ".join(known),
                            did_you_mean(key, known) or ("remove this key: it is only for algorithm "
                                                         f"{belongs[0]}"
                                                 if belongs else "use one of the allowed values")))
    return ""


def _has_names(table: str, name: str) -> bool:
    """Report whether the value of a key is a table, such as numbers.formats."""
    annotation = TABLES[table].model_fields[keys(TABLES[table])[name]].annotation
    return any(get_origin(kind) is dict for kind in (annotation, *get_args(annotation)))


def _alias(table: str, name: str) -> str:
    """Return the name of a key in the file for its name in Python: lambda for lam."""
    fields = {field: key for key, field in keys(TABLES[table]).items()} if table in TABLES else {}
    return fields.get(name, name)


def _check_values(spec: Spec, name: str, values: list[Scalar], where: str, problems: list[Problem]) -> None:
    """Validate each value with the rules of its table; add the errors to `problems`.

    Inconsistencies between values of several keys are reported when the points are evaluated.
    """
    space = Space(spec, ())
    table, key, *inner = name.split(".", 2)
    for value in values:
        changed = json.loads(json.dumps(space.values[table]))
        if inner:
            changed[key] = {**changed.get(key, {}), inner[0]: value}
        else:
            changed[key] = value
        found = table_problems(table, TABLES[table], changed, Source("", {}))
        problems += [Problem(p.code, p.message, where, p.value, p.allowed, p.remedy)
                     for path, p in found.items() if path[:2] == (table, key)]
