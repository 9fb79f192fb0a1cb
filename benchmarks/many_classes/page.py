"""benchmarks.many_classes: write the measured rows as a page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np

from kerncast.benchmarks.many_classes.ours import Row
from kerncast.benchmarks.many_classes.tasks import Task

COMMAND = "python -m kerncast.benchmarks.many_classes"

HEAD = f"""# Several classes: comparison with other libraries on a Cortex-M4

`{COMMAND}` writes this page. gcc {{gcc}} compiles all programs with -O2, and the Unicorn emulator counts
their instructions (not cycles). The CPU core has a floating-point unit for float32, and computes double in
software. kerncast uses 16-bit words and the DSP instructions.

If the column `learns on` states `device`, the method is trained on the device, one sample at a time, and its
accuracy depends on the order of the samples. Classifiers that a `computer` trains are constants in flash. The
columns `learn` and `predict` list the mean number of instructions per sample. For `kernel_cg`, `learn` is the
number of instructions of the training divided by the number of its samples. Flash includes tables and
constants. RAM includes the stack, but not the sample.

The parameters were chosen by cross-validation on the training samples, in orders that are not used for the
measurements (`{COMMAND}.choose`). For `online_kernel_rls`, the kernel width is not tuned. It is four times
the median distance between two samples, as in `kerncast init`. The support vector classifiers of all
libraries have the same parameters. Forests and logistic regression use the default parameters of
scikit-learn. emlearn truncates the thresholds of trees to integers, so the inputs of its trees are multiplied
by 16.

In the programs of m2cgen, micromlgen and CMSIS-DSP **the exponential is an empty function**, so instructions
and flash of their support vector classifiers are lower bounds. A second program with a real exponential must
reproduce the labels of scikit-learn. CMSIS-DSP returns a class instead of a decision value. The label of its
one-against-rest classifier is therefore the first class that accepts the sample.

kerncast needs the fewest instructions of all support vector classifiers. Trees and float32 logistic
regression predict with fewer instructions than any kernel method, but they do not learn on the device. The
nearest-neighbour classifier learns by copying a sample, and its code is smaller than the code of kerncast.
The second table of each task covers the methods of other libraries that are at least as accurate as a method
of kerncast. It names those that need fewer instructions or bytes.
"""

TITLES = {
    "digits": """The data set is `sklearn.datasets.load_digits`, with 64 pixels, 1,000 training samples
and 797 test samples. Accuracies are means over {orders} shuffles.""",
    "speakers": """The data set is JapaneseVowels of the package aeon, with its own split into 270 training
utterances and 370 test utterances. The inputs are the mean and the standard deviation of 12 channels.
Accuracies are means over {orders} orders.""",
    "activities": """The data set is BasicMotions of the package aeon, with its own split into 40 training
windows and 40 test windows. The inputs are the mean, the standard deviation and the mean absolute difference
of six channels, as in `examples/activity`. Accuracies are means over {orders} orders. One window changes the
accuracy of one order by 2.5 percentage points, so small differences between methods are not significant.""",
}
COLUMNS = ("method", "learns on", "accuracy", "deviation", "learn", "predict", "flash, bytes", "RAM, bytes")
FEWER = ("compared with", "fewer instructions to predict", "fewer bytes of flash and RAM",
         "fewer instructions to learn")


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
    """Return the table row of the methods that are as accurate but cost less."""
    others = [other for other in rows if other.peer and shown(other) >= shown(row)]
    size = row.cost.flash + row.cost.ram
    fewer = ([o for o in others if o.cost.predict < row.cost.predict],
             [o for o in others if o.cost.flash + o.cost.ram < size],
             [o for o in others if o.cost.learn and row.cost.learn and o.cost.learn < row.cost.learn])
    none = "none" if others else "none is as accurate"
    return f"| {row.method} | {' | '.join(named(less) or none for less in fewer)} |"


def section(task: Task, rows: Sequence[Row]) -> str:
    """Return the section of a task."""
    losses = "\n".join([f"| {' | '.join(FEWER)} |", "|---" * len(FEWER) + "|",
                        *(lost(row, rows) for row in rows if not row.peer)])
    return f"\n## {task.title}\n\n{TITLES[task.name].format(orders=task.orders)}\n\n{table(rows)}\n{losses}\n"
