"""Write the measured table of the README from a run of the demo.

``python benchmarks/readme.py`` runs the demo and replaces what stands between the markers in
README.md; ``--check`` only says whether the README is up to date (exit 1 where it is not).
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

README = Path(__file__).resolve().parent.parent / "README.md"
BEGIN, END = "<!-- measured: python benchmarks/readme.py -->\n", "<!-- end of measured -->\n"


HEADS = ("example", "back end", "error", "words compared", "unequal", "flash", "RAM", "stack",
         "instructions")
COSTS = 4


def measured(demo: dict[str, Any]) -> str:
    """The table, in Markdown, from the demo's JSON object."""
    rows = [HEADS, ("---",) * 2 + ("--:",) * (len(HEADS) - 2)]
    for example in demo["examples"]:
        name, errors = example["name"], example["errors"]
        key = "accuracy" if "accuracy" in errors["float"] else "rms"
        plain = [*((peer, {key: value}) for peer, value in example["peers"].items()),
                 ("float64 reference", errors["float"]), ("integer model", errors["model"])]
        rows += [(name, title, _error(error), *[""] * 6) for title, error in plain]
        rows += [(name, row["backend"], _error(errors.get(row["backend"], {})), f"{row['words']:,}",
                  str(row["mismatches"]), *_costs(row["costs"]))
                 for row in example["backends"] if row["words"]]
    return "\n".join([*(_line(row) for row in rows), "", _footnote(demo), ""])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _error(error: dict[str, float]) -> str:
    if "accuracy" in error:
        return f"{100 * error['accuracy']:.1f} % right"
    return f"{error['rms']:.3f} rms" if "rms" in error else ""


def _costs(costs: dict[str, Any]) -> tuple[str, ...]:
    if not costs:
        return ("",) * COSTS
    counts = ", ".join(f"{call} {count:,}" for call, count in costs["instructions"].items())
    return (*(f"{costs[k]:,}" for k in ("flash", "ram", "stack")), counts)


def _footnote(demo: dict[str, Any]) -> str:
    alpha = demo["examples"][0]["errors"]["model"]["alpha_error"]
    compilers = sorted({row["costs"]["compiler"] for example in demo["examples"]
                        for row in example["backends"] if row["costs"]})
    return (f"Bytes of the whole firmware image, HIL agent included ({', '.join(compilers)});\n"
            "instructions a call on the emulated core, not cycles. The simulated circuit predicts the first "
            "samples only.\nRelative error of the 16-bit multipliers of the ECG against float64: "
            f"{alpha:.1e}.")


def without_costs(text: str) -> str:
    """`text` with the columns of costs empty, and the compiler not named."""
    lines = []
    for line in text.splitlines():
        cells = line.removeprefix("| ").removesuffix(" |").split(" | ")
        if len(cells) == len(HEADS) and cells[3][:1].isdigit():
            line = _line([*cells[:-COSTS], *_costs({})])
        lines.append(re.sub(r"included \(.*?\)", "included ()", line))
    return "\n".join([*lines, ""])


def spliced(text: str, table: str) -> str:
    """`text` with the table between the markers."""
    head, _, rest = text.partition(BEGIN)
    _, _, tail = rest.partition(END)
    if not rest or not tail:
        raise SystemExit(f"README.md lacks the markers {BEGIN.strip()} and {END.strip()}")
    return f"{head}{BEGIN}{table}{END}{tail}"


def run_demo() -> dict[str, Any]:
    """The demo's JSON object."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([sys.executable, "-m", "kerncast", "demo", "-o", folder, "--json"],
                              stdout=subprocess.PIPE, text=True, check=False)
    demo: dict[str, Any] = json.loads(done.stdout)
    if "errors" in demo or demo["mismatches"]:
        raise SystemExit(f"the demo failed:\n{done.stdout}")
    return demo


def main() -> int:
    """Write, or with ``--check`` compare."""
    old = README.read_text(encoding="utf-8")
    new = spliced(old, measured(run_demo()))
    if "--check" in sys.argv[1:]:
        print("README.md is up to date" if new == old else "README.md is stale: python benchmarks/readme.py")
        return int(new != old)
    README.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
