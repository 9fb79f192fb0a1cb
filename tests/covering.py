"""Choose the combinations of a test's parameters that run by default; a campaign runs all of them.

A test with several parameters is marked ``@pytest.mark.covering``. By default it then runs the fewest of its
cases in which every value of every parameter occurs, and ``make campaign`` runs the full product::

    @pytest.mark.covering
    @pytest.mark.parametrize("compiler", ["gcc", "clang"])
    @pytest.mark.parametrize("word", [16, 24, 32])                  # three of six cases run by default

    @pytest.mark.covering(("compiler", "word"))                     # each pair of values of these two, too

    @pytest.mark.covering(name=choices)                             # each item of the set ``choices(name)``
    @pytest.mark.parametrize("name", CASES)                         # instead of each name

The choice depends on the parameters alone, so that it is the same on every machine and for every ``-k``.
"""

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any

import pytest

from kerncast.sim.spec import Spec

Feature = Hashable
#: A word of raw samples: sign, bits.
RAW = re.compile(r"([su])(\d+)f-?\d+")


def cover(cases: Sequence[frozenset[Feature]]) -> list[int]:
    """Return the places of cases that together have every feature, by a greedy choice.

    The next case is the one with the most features that no chosen case has. Of equal ones it is the one whose
    features were chosen least often, so that values take turns; then the first.
    """
    missing: set[Feature] = set().union(*cases)
    uses: Counter[Feature] = Counter()
    chosen: list[int] = []
    while missing or (cases and not chosen):
        best = min(range(len(cases)),
                   key=lambda i: (-len(cases[i] & missing), sum(uses[f] for f in cases[i]), i))
        chosen.append(best)
        missing -= cases[best]
        uses.update(cases[best])
    return sorted(chosen)


def features(parameters: Mapping[str, Any], joint: Iterable[tuple[str, ...]],
             of: Mapping[str, Callable[[Any], Iterable[Feature]]]) -> frozenset[Feature]:
    """Return what a case is to be chosen for: the values of its parameters, by what the marker states."""
    found: set[Feature] = set()
    for name, value in parameters.items():
        found.update((name, item) for item in (of[name](value) if name in of else (repr(value),)))
    for names in joint:
        found.add((names, tuple(repr(parameters[name]) for name in names)))
    return frozenset(found)


def leave_to_campaigns(items: Sequence[pytest.Item]) -> None:
    """Mark the cases of a test outside its cover, if the test is marked ``covering``.

    A case that is marked ``campaign`` already is chosen for nothing.
    """
    marker = items[0].get_closest_marker("covering") if items else None
    if marker is None:
        return
    waiting = [item for item in items if not item.get_closest_marker("campaign")]
    parameters = [item.callspec.params for item in waiting]  # type: ignore[attr-defined]
    unknown = {name for names in marker.args for name in names} | {*marker.kwargs}
    if parameters and not unknown <= {*parameters[0]}:
        raise pytest.UsageError(f"{items[0].nodeid}: covering names {sorted(unknown - {*parameters[0]})}, "
                                f"which are not among its parameters {sorted(parameters[0])}")
    kept = cover([features(each, marker.args, marker.kwargs) for each in parameters])
    for i, item in enumerate(waiting):
        if i not in kept:
            item.add_marker(pytest.mark.campaign)


# ---- what a spec is an example of ----
def variants(spec: Spec) -> set[Feature]:
    """Return the choices of a spec: each key with its value if it is a choice, each number that is given.

    Words of raw samples count by sign and by the C type that holds them. The way of computing counts in each
    word length.
    """
    given = spec.model_dump(exclude_unset=True)
    way = spec.model.algorithm, getattr(spec.toeplitz, "solver", ""), getattr(spec.online, "reduction", "")
    found: set[Feature] = {(way, spec.numbers.word)}
    for table, keys in spec.model_dump(exclude={"data"}).items():
        for key, value in keys.items() if isinstance(keys, dict) else ():
            name = f"{table}.{key}"
            if name == "model.name":
                continue
            if isinstance(value, dict):
                found.update(f"{name}.{part}" for part in value)
            elif isinstance(value, str) and (raw := RAW.fullmatch(value)):
                found.add(f"{name}: {raw[1]}{8 if int(raw[2]) <= 8 else 16 if int(raw[2]) <= 16 else 32}")
            elif isinstance(value, str | bool) or value is None or name == "numbers.word":
                found.add(f"{name}: {value}")
            elif key in given.get(table, {}):
                found.add(f"{name}: given")
    return found
