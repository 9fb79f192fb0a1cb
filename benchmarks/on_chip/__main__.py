"""Write docs/measured/on-chip.md.

    python -m kerncast.benchmarks.on_chip [METHOD or STREAM ...]

Every method is measured on every stream. If names are given, only these methods and streams are measured, and
the other results in results.json are kept. This requires river, reservoirpy, emlearn, unicorn and
arm-none-eabi-gcc.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from .measure import Results, measure, units
from .methods import methods
from .page import write_page
from .streams import SOURCES

RESULTS = Path(__file__).parent / "results.json"


def load() -> Results:
    """Load the results of previous runs."""
    found: Results = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    return found


def dumped(results: Results) -> str:
    """Serialise the results with one line for each method and stream."""
    methods = ",\n".join(f"{json.dumps(title)}: {{\n" + ",\n".join(
        f" {json.dumps(name)}: {json.dumps(found)}" for name, found in of.items()) + "}"
        for title, of in results["methods"].items())
    return f'{{"units": {json.dumps(results["units"])},\n"methods": {{\n{methods}}}}}\n'


def main(wanted: list[str]) -> int:
    """Run the measurements, storing the results of each method, and write the page."""
    known = methods()
    if unknown := sorted({*wanted} - {*known, *SOURCES}):
        raise SystemExit(f"unknown method or stream: {', '.join(unknown)}; choose from "
                         f"{', '.join([*known, *SOURCES])}")
    results = load() if wanted else {}
    streams = [name for name in SOURCES if name in wanted] or list(SOURCES)
    results.setdefault("units", {}).update(units(streams))
    for title in [title for title in known if title in wanted] or known:
        of = results.setdefault("methods", {}).setdefault(title, {})
        of.update(measure(known[title], streams))
        RESULTS.write_text(dumped(results), encoding="utf-8")
    write_page(results)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
