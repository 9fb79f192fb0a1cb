"""Write the measured table in docs/benchmarks.md from a run of the demo.

``python -m kerncast.benchmarks.demo`` runs the demo, replaces the text between the markers, and draws
docs/figures/demo.svg and docs/figures/drift.svg. With ``--check``, it only compares the table (exit code 1 if
it is out of date); with ``--draw``, it only draws.
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

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "benchmarks.md"
FIGURE = "demo"
BEGIN, END = "<!-- measured: python -m kerncast.benchmarks.demo -->\n", "<!-- end of measured -->\n"

TITLES = {"ecg": "one heartbeat denoised", "digits": "handwritten digits, 3 or 8"}
MACHINES = {"host": "C on this machine", "emu": "C on an emulated Cortex-M4", "rtl": "RTL core, simulated"}
#: Rows that another compiler changes.
COSTS = ("flash, RAM, stack", "instructions")


def measured(demo: dict[str, Any]) -> str:
    """Return the results of the demo as a Markdown table, with one column per example."""
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
    """Return the cells of an example by row title."""
    errors = example["errors"]
    key = "accuracy" if "accuracy" in errors["float"] else "rms"
    ((peer, beside),) = example["peers"].items()
    rows = {"baseline": f"{_error({key: beside})}, {peer}", "in float64": _error(errors["float"]),
            "in 16-bit integers": f"**{_error(errors['model'])}**"}
    ran = [row for row in example["backends"] if row["words"]]
    for row in ran:
        assert errors.get(row["backend"], errors["model"]) == errors["model"], row
        machine = MACHINES[row["backend"].partition(":")[0]]
        rows[f"{machine}: `{row['backend']}`"] = (f"{row['words']:,} values, "
                                                  f"{row['mismatches']} mismatches")
    costs = [row["costs"] for row in ran if row["costs"]]
    assert all(cost == costs[0] for cost in costs), costs
    if costs:
        rows[COSTS[0]] = " / ".join(f"{costs[0][k]:,}" for k in ("flash", "ram", "stack")) + " bytes"
        rows[COSTS[1]] = "; ".join(f"{call} {count:,}" for call, count in costs[0]["counts"].items())
    return rows


def _error(error: dict[str, float]) -> str:
    if "accuracy" in error:
        return f"{100 * error['accuracy']:.1f} % accuracy"
    return f"{error['rms']:.3f} RMS error"


def _footnote(demo: dict[str, Any]) -> str:
    alpha = demo["examples"][0]["errors"]["model"]["alpha_error"]
    compilers = sorted({row["costs"]["compiler"] for example in demo["examples"]
                        for row in example["backends"] if row["costs"]})
    return (f"Sizes are for the complete firmware image, including the test agent ({', '.join(compilers)}).\n"
            "Instructions are per call on the emulated CPU core, not cycles. The RTL simulation covers the "
            "first\npredictions only. The relative error of the 16-bit ECG coefficients against float64 is "
            f"{alpha:.1e}.")


def without_costs(text: str) -> str:
    """Remove the rows of costs and the name of the compiler from a table."""
    lines = [line for line in text.splitlines() if not line.startswith(tuple(f"| {row}" for row in COSTS))]
    return "\n".join([*(re.sub(r"included \(.*?\)", "included ()", line) for line in lines), ""])


def spliced(text: str, table: str) -> str:
    """Insert the table between the markers of a page."""
    head, _, rest = text.partition(BEGIN)
    _, _, tail = rest.partition(END)
    if not rest or not tail:
        raise SystemExit(f"docs/benchmarks.md does not contain the markers {BEGIN.strip()} and {END.strip()}")
    return f"{head}{BEGIN}{table}{END}{tail}"


def draw() -> str:
    """Draw the noisy and the denoised ECG of the demo; return the SVG."""
    from kerncast.benchmarks.papers.common import axes, save
    from kerncast.lab.figures.style import COLOURS
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


def draw_drift() -> str:
    """Draw the error on a drifting sensor; return the SVG.

    A learner is compared with a single calibration.
    """
    import numpy as np

    from kerncast.benchmarks.papers.common import axes, save
    from kerncast.hw.backends import open_backend
    from kerncast.lab.figures.style import COLOURS
    from kerncast.lab.workflow import shipped_spec
    from kerncast.sim.data import load_dataset
    from kerncast.sim.diagnostics.simulate import y_values
    from kerncast.sim.planner import make_plan

    spec, once, window = shipped_spec("drift"), 1000, 200
    data = load_dataset(spec, ROOT / "examples")
    plan = make_plan(spec, data.x_raw, data.y_raw)
    learner, calibrated = open_backend(plan, "model"), open_backend(plan, "model")
    learned = learner.update(data.x_raw, data.y_raw)["f"]
    calibrated.update(data.x_raw[:once], data.y_raw[:once])
    kept = np.concatenate([learned[:once], calibrated.predict(data.x_raw[once:])["f"]])
    target = spec.output.gain * (data.y_raw - spec.output.offset)
    figure, (panel,) = axes(1, width=8.0, height=2.6)
    for f, colour, label in ((kept, COLOURS[2], f"one-time calibration, after {once:,} samples"),
                             (learned, COLOURS[1], "learning on the device")):
        square = (0.1 / spec.output.gain * (y_values(plan, f) - target)) ** 2  # a step of y is 0.1 ppm
        error = np.sqrt(np.convolve(square, np.ones(window) / window, "valid"))[::20]
        panel.plot(window + 20 * np.arange(len(error)), error, color=colour, label=label)
    panel.set(xlabel="samples", ylabel="RMS error, ppm", ylim=(0, None), xlim=(window, len(target)))
    panel.legend(frameon=False, fontsize=8)
    return save(figure, "drift")


def run_demo() -> dict[str, Any]:
    """Run the demo and return its JSON object."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([sys.executable, "-m", "kerncast", "demo", "-o", folder, "--json"],
                              stdout=subprocess.PIPE, text=True, check=False)
    demo: dict[str, Any] = json.loads(done.stdout)
    if "errors" in demo or demo["mismatches"]:
        raise SystemExit(f"the demo failed:\n{done.stdout}")
    return demo


def main() -> int:
    """Write the table, or compare it with the existing one."""
    if "--draw" in sys.argv[1:]:
        print(draw(), draw_drift())
        return 0
    old = PAGE.read_text(encoding="utf-8")
    new = spliced(old, measured(run_demo()))
    if "--check" in sys.argv[1:]:
        print("docs/benchmarks.md is up to date" if new == old
              else "docs/benchmarks.md is stale: python -m kerncast.benchmarks.demo")
        return int(new != old)
    PAGE.write_text(new, encoding="utf-8")
    draw()
    draw_drift()
    return 0


if __name__ == "__main__":
    sys.exit(main())
