"""Write the measured table of the README from a run of the demo.

``python benchmarks/readme.py`` runs the demo and replaces what stands between the markers in
README.md; ``--check`` only says whether the README is up to date (exit 1 where it is not).
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

README = Path(__file__).resolve().parent.parent / "README.md"
BEGIN, END = "<!-- measured: python benchmarks/readme.py -->\n", "<!-- end of measured -->\n"


def measured(demo: dict[str, Any]) -> str:
    """The table, in Markdown, from the demo's JSON object."""
    heads = ("example", "back end", "error", "words compared", "unequal", "flash", "RAM", "stack",
             "instructions")
    lines = [f"| {' | '.join(heads)} |", f"|---|---|{'--:|' * (len(heads) - 2)}"]
    for example in demo["examples"]:
        name, errors = example["name"], example["errors"]
        for peer, value in example["peers"].items():
            lines.append(f"| {name} | {peer} | {_error({_key(errors): value})} | | | | | | |")
        lines.append(f"| {name} | float64 reference | {_error(errors['float'])} | | | | | | |")
        for row in example["backends"]:
            words = f"{row['words']:,} | {row['mismatches']}" if row["words"] else " | "
            lines.append(f"| {name} | {row['backend']} | {_error(errors.get(row['backend'], {}))} "
                         f"| {words} | {_costs(row['costs'])} |")
    return "\n".join([*lines, "", _footnote(demo), ""])


def _key(errors: dict[str, dict[str, float]]) -> str:
    return "accuracy" if "accuracy" in errors["float"] else "rms"


def _error(error: dict[str, float]) -> str:
    if "accuracy" in error:
        return f"{100 * error['accuracy']:.1f} % right"
    return f"{error['rms']:.3f} rms" if "rms" in error else ""


def _costs(costs: dict[str, Any]) -> str:
    if not costs:
        return "| | | "
    counts = ", ".join(f"{call} {count:,}" for call, count in costs["instructions"].items())
    return f"{costs['flash']:,} | {costs['ram']:,} | {costs['stack']:,} | {counts}"


def _footnote(demo: dict[str, Any]) -> str:
    ecg = demo["examples"][0]
    alpha = ecg["errors"]["model"]["alpha_error"]
    compilers = sorted({row["costs"]["compiler"] for example in demo["examples"]
                        for row in example["backends"] if row["costs"]})
    return (f"Bytes of the whole firmware image, HIL agent included ({', '.join(compilers)}); "
            "instructions a call on the emulated core, not cycles. The simulated circuit predicts the first "
            "samples only. "
            f"Relative error of the 16-bit multipliers of the ECG against float64: {alpha:.1e}.")


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
