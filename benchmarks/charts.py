"""Draw charts from the tables on measured pages.

``python -m kerncast.benchmarks.charts`` reads the tables in docs/measured, and writes
docs/figures/chart-*.svg. Nothing is measured. Therefore, the charts always agree with the tables.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from kerncast.benchmarks.figures import ROOT, tables
from kerncast.benchmarks.papers.common import axes, save
from kerncast.lab.figures.style import COLOURS

Rows = list[dict[str, str]]
#: Targets of the chart of costs, and their names.
TARGETS = {"cortex-m0": "M0", "cortex-m3": "M3", "cortex-m4": "M4", "cortex-m7": "M7", "cortex-m55": "M55",
           "rv32imac": "RV32", "mips-74kf": "MIPS"}


def rows_of(page: str, under: str, which: int = 0) -> Rows:
    """Return a table below a heading: for each row, a dictionary by column title."""
    text = (ROOT / "docs" / "measured" / f"{page}.md").read_text(encoding="utf-8")
    table = [table for table in tables(text) if under in table["under"]][which]
    head, *rows = table["rows"]
    return [dict(zip(head, row, strict=True)) for row in rows]


def number(cell: str) -> float | None:
    """Return the number at the beginning of a cell; None if there is none."""
    found = re.match(r"\d[\d,.]*(?:e[+-]?\d+)?", cell)
    return float(found[0].replace(",", "")) if found else None


def accuracy(panels: list[Any]) -> None:
    """Draw the error of the coefficients against the condition number."""
    found = rows_of("accuracy", "All systems")
    for panel, n in zip(panels, ("64", "512"), strict=True):
        for colour, (bits, variant) in zip(COLOURS[1:], (("16", "plain"), ("24", "plain"), ("32", "plain"),
                                                         ("16", "refined")), strict=False):
            points = [(float(row["condition"]), number(row[variant])) for row in found
                      if row["n"] == n and row["bits"] == bits]
            shown = sorted((x, y) for x, y in points if y is not None)
            panel.loglog(*zip(*shown, strict=True), "o-", ms=3, color=colour, label=f"{bits} bits, {variant}")
        panel.set(title=f"n = {n}", xlabel="condition number")
    panels[0].set_ylabel("relative error of alpha")
    panels[0].legend(fontsize="x-small")


def costs(panels: list[Any]) -> None:
    """Draw the instructions of online learners on each target."""
    for panel, call in zip(panels, ("update", "prediction"), strict=True):
        for colour, name in zip(COLOURS[1:], ("drift", "ecg_stream", "equaliser", "digits"), strict=False):
            found = {row["target"].strip("`"): number(row[call]) for row in rows_of("costs", f"{name}.toml")
                     if row["level"] == "-O2"}
            panel.semilogy(list(TARGETS.values()), [found[target] for target in TARGETS], "o", ms=5,
                           color=colour, label=name)
        panel.set_title({"update": "learn a sample", "prediction": "predict a sample"}[call])
    panels[0].set_ylabel("instructions, -O2")
    panels[0].legend(fontsize="x-small")


def gradients(panels: list[Any]) -> None:
    """Draw the error of conjugate gradients against the number of steps."""
    found = rows_of("cg", "Conjugate gradients")
    for panel, column in zip(panels, ("alpha float64", "alpha 16"), strict=True):
        for colour, data in zip(COLOURS, dict.fromkeys(row["data"] for row in found), strict=False):
            points = [(int(step[1]), number(row[column])) for row in found
                      if row["data"] == data and (step := re.search(r"(\d+) step", row["method"]))]
            panel.loglog(*zip(*points, strict=True), "o-", ms=3, color=colour, label=data)
        panel.set(title=column.replace("alpha ", "").replace("16", "16 bits"), xlabel="steps")
    panels[0].set_ylabel("relative error of alpha")
    panels[0].legend(fontsize="x-small")


def jitter(panels: list[Any]) -> None:
    """Draw the prediction error against the kernel width for two amounts of jitter."""
    found = [row for row in rows_of("irregular", "Jitter") if row["lambda"] == "0.1"]
    for panel, amount in zip(panels, ("1 %", "30 %"), strict=True):
        shown = [row for row in found if row["jitter"] == amount]
        for colour, name in zip(COLOURS[1:], ("f: uniform", "grid_linear", "grid_cubic"), strict=False):
            panel.loglog([float(row["sigma, steps"]) for row in shown], [number(row[name]) for row in shown],
                         "o-", ms=4, color=colour, label=name.removeprefix("f: "))
        panel.set(title=f"jitter {amount}", xlabel="sigma, steps")
    panels[0].set_ylabel("relative error of f, %")
    panels[0].legend(fontsize="x-small")


def classes(panels: list[Any]) -> None:
    """Draw the accuracy on ten digits against instructions and bytes."""
    found = dict(zip(ascii_uppercase, rows_of("many-classes", "Ten digits"), strict=False))
    for panel, columns, label in zip(panels, (("predict",), ("flash, bytes", "RAM, bytes")),
                                     ("instructions per prediction", "bytes of flash and RAM"), strict=True):
        for letter, row in found.items():
            ours, learns = row["method"].startswith("kerncast"), row["learns on"] == "device"
            size = sum(number(row[column]) or 0 for column in columns)
            panel.semilogx(size, number(row["accuracy"]), "o" if learns else "s", ms=5,
                           color=COLOURS[1 if ours else 2], mfc=None if learns else "none")
            panel.annotate(letter, (size, number(row["accuracy"])), fontsize=7, xytext=(4, -7),
                           textcoords="offset points")
        panel.set_xlabel(label)
    names = [f"{letter}  {re.sub('==[0-9.]+,', '', row['method'])}" for letter, row in found.items()]
    panels[1].text(0.98, 0.03, "\n".join(names), fontsize=5, ha="right", va="bottom",
                   transform=panels[1].transAxes)
    panels[0].set(ylabel="accuracy, %", title="filled: learns on the device")
    panels[1].set_title("blue: kerncast")


def widths(panels: list[Any]) -> None:
    """Draw the work of the Toeplitz solvers against the kernel width."""
    under = "Solvers by kernel width and length of the record"
    found = rows_of("solver-widths", under)
    on_host = [row for row in rows_of("solver-widths", under, 1) if row["lambda"] == "0.1"]
    for panel, rows, columns in zip(panels, (found, on_host), (("banded", "Levinson"),
                                                               ("banded", "pcg", "levinson")), strict=True):
        for colour, column in zip(COLOURS[1:], columns, strict=False):
            panel.semilogy([float(row["sigma"]) for row in rows], [number(row[column]) for row in rows], "o-",
                           ms=4, color=colour, label=column.lower())
        panel.set_xlabel("sigma, samples")
        panel.legend(fontsize="x-small")
    panels[0].set(ylabel="instructions", title="Cortex-M4, n = 256")
    panels[1].set(ylabel="ms", title="host, n = 8,192")


CHARTS: dict[str, Callable[[list[Any]], None]] = {
    "accuracy": accuracy, "classes": classes, "costs": costs, "gradients": gradients,
    "jitter": jitter, "widths": widths}


def draw(name: str) -> Path:
    """Draw a chart and return its path."""
    figure, panels = axes(2, width=4.0, height=3.0)
    CHARTS[name](panels)
    return ROOT / "docs" / "measured" / save(figure, f"chart-{name}")


def main() -> int:
    """Draw all charts."""
    for name in CHARTS:
        print(draw(name).resolve())
    return 0


if __name__ == "__main__":
    sys.exit(main())
