"""Write docs/measured/on-chip.md.

    python -m kerncast.benchmarks.on_chip [METHOD ...]

It measures every method, or those named, and keeps the results of the others, results.json. It needs
river, reservoirpy, emlearn, unicorn and arm-none-eabi-gcc.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from .measure import Results, measure, units
from .methods import methods
from .page import write_page

RESULTS = Path(__file__).parent / "results.json"


def load() -> Results:
    """Return the results of the last run."""
    found: Results = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    return found


def main(wanted: list[str]) -> int:
    """Measure, and write the results and the page after each method."""
    known = methods()
    if unknown := sorted({*wanted} - {*known}):
        raise SystemExit(f"no such method: {', '.join(unknown)}; there are {', '.join(known)}")
    results = load() if wanted else {}
    results["units"] = units()
    for title in wanted or known:
        results.setdefault("methods", {})[title] = measure(known[title])
        RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    write_page(results)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
