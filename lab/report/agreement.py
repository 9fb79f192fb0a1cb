"""lab.report: collect the results of back ends for the designs of a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ...sim._json import read_json
from ...sim.errors import fail
from ..sweep.confirm import CONFIRMED

Cells = list[dict[str, Any]]


def agreement(given: Path, results: Sequence[Path]) -> Cells:
    """Return the results of back ends from JSON files, sorted by plan and back end.

    Parameters
    ----------
    given : Path
        A folder or spec. If ``kerncast sweep --confirm`` has stored results in the folder, they are included.
    results : sequence of Path
        Files with the JSON output of kerncast's commands.

    Returns
    -------
    list of dict
        ``plan`` (hash), ``backend``, ``words`` (values compared), ``mismatches``, ``first`` (the first
        mismatch) and ``costs``. If there are several results for a plan and a back end, the last one is used.

    Raises
    ------
    KerncastError
        E372 if a file does not contain such JSON.
    """
    own = given / CONFIRMED
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for path in [*([own] if own.is_file() else []), *results]:
        try:
            written = read_json(path)
            rows = list(_rows(written))
        except FileNotFoundError:
            raise fail("E372", "the results file does not exist", where=str(path), value="no file",
                       allowed="a file", remedy="run: kerncast test OUT --on host --json > FILE") from None
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
            raise fail("E372", "the file does not contain results of back ends", where=str(path),
                       value=repr(error),
                       allowed="JSON of kerncast test, verify, demo, or sweep --confirm",
                       remedy="run: kerncast test OUT --on host --json > FILE") from None
        found |= {(row["plan"], row["backend"]): row for row in rows}
    return [found[key] for key in sorted(found)]


def _rows(written: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the results in a command's JSON, for one design or for several examples."""
    if "examples" in written:
        for example in written["examples"]:
            yield from _rows(example)
        return
    if written.get("confirmed"):
        yield from _rows({"plan": written["best"]["plan"], **written["confirmed"]})
        return
    plan = str(written["plan"])
    for row in written["backends"]:
        if row["words"]:
            yield {"plan": plan, "backend": str(row["backend"]), "words": int(row["words"]),
                   "mismatches": int(row["mismatches"]), "first": str(row.get("first", "")),
                   "costs": [[name, str(value)] for name, value in _flat(row.get("costs") or {})]}


def _flat(costs: dict[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in costs.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{before}{name} ")
        elif value is not None:
            yield f"{before}{name}", f"{value:,}" if isinstance(value, int) else value
