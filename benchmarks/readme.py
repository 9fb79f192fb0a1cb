"""Write the measured part of the README, a table and a picture, from a run of the demo.

``python benchmarks/readme.py`` runs the demo, replaces what stands between the markers in README.md and draws
docs/figures/readme.svg; ``--check`` only says whether the table is up to date (exit 1 where it is not).
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

README = Path(__file__).resolve().parent.parent / "README.md"
FIGURE = "readme"
BEGIN, END = "<!-- measured: python benchmarks/readme.py -->\n", "<!-- end of measured -->\n"

TITLES = {"ecg": "one heartbeat denoised", "digits": "digits told apart, 3 or 8"}
MACHINES = {"host": "C on this machine", "emu": "C on an emulated Cortex-M4", "rtl": "the circuit, simulated"}
#: Rows that another compiler changes.
COSTS = ("flash, RAM, stack", "instructions")


def measured(demo: dict[str, Any]) -> str:
    """The table, in Markdown, from the demo's JSON object: an example a column."""
    examples = demo["examples"]
    columns = [_column(example) for example in examples]
    titles = [f"{TITLES[example['name']]}, `{example['name']}`" for example in examples]
    lines = [_line(["", *titles]), _line(["---", *["--:"] * len(columns)])]
    lines += [_line([title, *(column.get(title, "") for column in columns)])
              for title in dict.fromkeys(title for column in columns for title in column)]
    return "\n".join([*lines, "", _footnote(demo), ""])


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _column(example: dict[str, Any]) -> dict[str, str]:
    """The rows of an example by their titles."""
    errors = example["errors"]
    key = "accuracy" if "accuracy" in errors["float"] else "rms"
    ((peer, beside),) = example["peers"].items()
    rows = {"peer": f"{_error({key: beside})}, {peer}", "in float64": _error(errors["float"]),
            "in 16-bit integers": f"**{_error(errors['model'])}**"}
    ran = [row for row in example["backends"] if row["words"]]
    for row in ran:
        assert errors.get(row["backend"], errors["model"]) == errors["model"], row
        machine = MACHINES[row["backend"].partition(":")[0]]
        rows[f"{machine}: `{row['backend']}`"] = f"{row['words']:,} words, {row['mismatches']} unequal"
    costs = [row["costs"] for row in ran if row["costs"]]
    assert all(cost == costs[0] for cost in costs), costs
    if costs:
        rows[COSTS[0]] = " / ".join(f"{costs[0][k]:,}" for k in ("flash", "ram", "stack")) + " bytes"
        rows[COSTS[1]] = "; ".join(f"{call} {count:,}" for call, count in costs[0]["counts"].items())
    return rows


def _error(error: dict[str, float]) -> str:
    return f"{100 * error['accuracy']:.1f} % right" if "accuracy" in error else f"{error['rms']:.3f} rms"


def _footnote(demo: dict[str, Any]) -> str:
    alpha = demo["examples"][0]["errors"]["model"]["alpha_error"]
    compilers = sorted({row["costs"]["compiler"] for example in demo["examples"]
                        for row in example["backends"] if row["costs"]})
    return (f"Bytes of the whole firmware image, HIL agent included ({', '.join(compilers)});\n"
            "instructions a call on the emulated core, not cycles. The simulated circuit predicts the first "
            "samples only.\nRelative error of the 16-bit multipliers of the ECG against float64: "
            f"{alpha:.1e}.")


def without_costs(text: str) -> str:
    """`text` without the rows of costs, and the compiler not named."""
    lines = [line for line in text.splitlines() if not line.startswith(tuple(f"| {row}" for row in COSTS))]
    return "\n".join([*(re.sub(r"included \(.*?\)", "included ()", line) for line in lines), ""])


def spliced(text: str, table: str) -> str:
    """`text` with the table between the markers."""
    head, _, rest = text.partition(BEGIN)
    _, _, tail = rest.partition(END)
    if not rest or not tail:
        raise SystemExit(f"README.md lacks the markers {BEGIN.strip()} and {END.strip()}")
    return f"{head}{BEGIN}{table}{END}{tail}"


def draw() -> str:
    """Draw the heartbeat of the demo."""
    from kerncast.benchmarks.papers.common import COLOURS, axes, save
    from kerncast.lab.workflow import shipped_spec
    from kerncast.sim.data import load_dataset
    from kerncast.sim.diagnostics.simulate import simulate
    from kerncast.sim.planner import make_plan

    spec = shipped_spec("ecg")
    data, plan = load_dataset(spec), make_plan(spec)
    found = simulate(plan, None, data.y_raw)
    figure, (panel,) = axes(1, width=8.0, height=2.6)
    offset, gain = spec.output.offset, spec.output.gain
    panel.plot(gain * (data.y_raw - offset), ".", color=COLOURS[-1], ms=3, label="samples, with noise")
    panel.plot(data.clean, color=COLOURS[0], lw=1, label="clean signal")
    panel.plot(found.f, color=COLOURS[1], lw=1.6,
               label=f"trained in {plan.word}-bit integers, every back end")
    panel.set(xlabel="sample", ylabel="ECG", xlim=(0, len(data.y_raw)))
    panel.legend(frameon=False, fontsize=8)
    return save(figure, FIGURE)


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
    draw()
    return 0


if __name__ == "__main__":
    sys.exit(main())
