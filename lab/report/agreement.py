"""lab.report: list the back ends that ran a design's vectors, and the mismatches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ...sim._json import read_json
from ...sim.errors import fail
from ..sweep.confirm import CONFIRMED

Cells = list[dict[str, Any]]


def agreement(given: Path, results: Sequence[Path]) -> Cells:
    """List the back ends that have run, from existing result files.

    Parameters
    ----------
    given : Path
        A folder or spec; a run folder may contain the results of ``kerncast sweep --confirm``.
    results : sequence of Path
        Files with the JSON output of kerncast's commands.

    Returns
    -------
    list of dict
        ``plan`` (hash), ``backend``, ``words``, ``mismatches``, ``first`` and ``costs``, once for each pair
        of plan and back end: a later result replaces an earlier one.

    Raises
    ------
    KerncastError
        E372 for a file that is not such JSON.
    """
    own = given / CONFIRMED
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for path in [*([own] if own.is_file() else []), *results]:
        try:
            written = read_json(path)
            rows = list(_rows(written))
        except FileNotFoundError:
            raise fail("E372", "the file of results does not exist", where=str(path), value="no file",
                       allowed="a file", remedy="run: kerncast test OUT --on host --json > FILE") from None
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
            raise fail("E372", "the file does not contain results of back ends", where=str(path),
                       value=repr(error),
                       allowed="JSON of kerncast test, verify, demo, or sweep --confirm",
                       remedy="run: kerncast test OUT --on host --json > FILE") from None
        found |= {(row["plan"], row["backend"]): row for row in rows}
    return [found[key] for key in sorted(found)]


def _rows(written: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Return the rows of a command's JSON, for one design or several examples."""
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
