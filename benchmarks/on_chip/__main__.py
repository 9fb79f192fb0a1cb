"""Write docs/measured/on-chip.md.

    python -m kerncast.benchmarks.on_chip [METHOD or STREAM ...]

It measures every method on every stream.  With names it measures only those methods, on those streams, and
keeps the other results in results.json. It needs river, reservoirpy, emlearn, unicorn and arm-none-eabi-gcc.
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
    """Return the results of the last run."""
    found: Results = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    return found


def dumped(results: Results) -> str:
    """Serialise the results with one line per method and stream."""
    methods = ",\n".join(f"{json.dumps(title)}: {{\n" + ",\n".join(
        f" {json.dumps(name)}: {json.dumps(found)}" for name, found in of.items()) + "}"
        for title, of in results["methods"].items())
    return f'{{"units": {json.dumps(results["units"])},\n"methods": {{\n{methods}}}}}\n'


def main(wanted: list[str]) -> int:
    """Measure, and write the results after each method; then write the page."""
    known = methods()
    if unknown := sorted({*wanted} - {*known, *SOURCES}):
        raise SystemExit(f"no such method or stream: {', '.join(unknown)}; there are "
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
