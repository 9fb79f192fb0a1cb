"""benchmarks.many_classes: write the measured rows as a page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np

from kerncast.benchmarks.many_classes.ours import Row
from kerncast.benchmarks.many_classes.tasks import Task

COMMAND = "python -m kerncast.benchmarks.many_classes"

HEAD = f"""# Several classes: comparison with other libraries on a Cortex-M4

`{COMMAND}` writes this page. gcc {{gcc}} compiles all programs
with -O2, and the Unicorn emulator counts their instructions (not cycles). The core has a floating-point unit
for float32; double is computed in software. kerncast uses 16-bit words and the DSP instructions.

A method that learns on the `device` is trained there, one sample at a time, and its accuracy depends on the
order of the samples. The classifiers that a `computer` trains are constants in flash. `learn` and `predict`
are mean instructions per sample; for `kernel_cg`, `learn` is the whole training divided by its samples. Flash
includes tables and constants. RAM includes the stack, but not the sample.

Parameters were chosen by cross-validation on samples to learn, in orders that are not measured
(`{COMMAND}.choose`). For `online_kernel_rls`, the kernel width is not searched:
it is four times the median distance of two samples, as in `kerncast init`. The support vector classifiers of
all libraries have the same parameters. Forests and logistic regression have the default parameters of
scikit-learn. emlearn truncates the thresholds of trees to integers, so the inputs of its trees are multiplied
by 16.

In the programs of m2cgen, micromlgen and CMSIS-DSP **the exponential is an empty function**, so instructions
and flash of their support vector classifiers are lower bounds. A second program with a real exponential must
reproduce the labels of scikit-learn. CMSIS-DSP returns a class and not a decision value, so the label of its
one-against-rest classifier is the first class that accepts the sample.

kerncast needs the fewest instructions of all support vector classifiers. Trees, and logistic regression in
float32, predict with fewer instructions than any kernel method, but they do not learn on the device. The
nearest neighbour learns by copying a sample, and its code is smaller than that of kerncast. Below each
table, a list states where a method of another library that is at least as accurate needs fewer instructions
or bytes.
"""

TITLES = {
    "digits": """`sklearn.datasets.load_digits`: 64 pixels, 1,000 samples to learn and 797 others. Accuracies
are means over {orders} shuffles.""",
    "speakers": """JapaneseVowels of the package aeon, with its own split: mean and deviation of 12 channels,
270 utterances to learn and 370 others. Accuracies are means over {orders} orders.""",
    "activities": """BasicMotions of the package aeon, with its own split: mean, deviation and mean absolute
difference of six channels, as in `examples/activity`, 40 windows to learn and 40 others. Accuracies are means
over {orders} orders. One window changes the accuracy of one order by 2.5 percentage points, so small
differences between methods are not significant.""",
}
COLUMNS = ("method", "learns on", "accuracy", "deviation", "learn", "predict", "flash, bytes", "RAM, bytes")


def table(rows: Iterable[Row]) -> str:
    """Return the table of a task."""
    lines = [f"| {' | '.join(COLUMNS)} |", f"|---|---|{'---:|' * (len(COLUMNS) - 2)}"]
    for row in rows:
        c = row.cost
        cells = (row.method, row.where, f"{np.mean(row.accuracies):.1%}", f"{np.std(row.accuracies):.1%}",
                 "" if c.learn is None else f"{c.learn:,.0f}", f"{c.predict:,.0f}", f"{c.flash:,}",
                 f"{c.ram:,}")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def shown(row: Row) -> float:
    """Round the accuracy as in the table."""
    return round(float(np.mean(row.accuracies)), 3)


def named(rows: Iterable[Row]) -> str:
    """Return the names of the methods in rows, without version numbers."""
    names = [re.sub(r"==[\d.]+,", "", row.method) for row in rows]
    return " and ".join([*([", ".join(names[:-1])] if names[1:] else []), *names[-1:]])


def lost(row: Row, rows: Iterable[Row]) -> str:
    """State which methods of other libraries are as accurate as a row but cost less."""
    others = [other for other in rows if other.peer and shown(other) >= shown(row)]
    if not others:
        return f"* {row.method}: no method of another library is as accurate."
    size = row.cost.flash + row.cost.ram
    fewer = {"fewer instructions to predict": [o for o in others if o.cost.predict < row.cost.predict],
             "fewer bytes of flash and RAM": [o for o in others if o.cost.flash + o.cost.ram < size],
             "fewer instructions to learn": [o for o in others if o.cost.learn and row.cost.learn
                                             and o.cost.learn < row.cost.learn]}
    found = [f"{named(less)} {'needs' if len(less) == 1 else 'need'} {what}"
             for what, less in fewer.items() if less]
    none = "every other method that is as accurate needs more instructions and more bytes"
    return f"* {row.method}: {'; '.join(found) or none}."


def section(task: Task, rows: Sequence[Row]) -> str:
    """Return the section of a task."""
    losses = "\n".join(lost(row, rows) for row in rows if not row.peer)
    return f"\n## {task.title}\n\n{TITLES[task.name].format(orders=task.orders)}\n\n{table(rows)}\n{losses}\n"
