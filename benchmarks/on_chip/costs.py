"""Measure instructions, RAM and flash of a learner on an emulated Cortex-M4."""

from __future__ import annotations

import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...codegen.generate import generate
from ...lab.costs.measure import measured_costs
from ...sim.model import open_model
from ...sim.plan import Plan
from ...sim.replay.vectors import make_vectors
from ..cortex_m import CortexM
from ..instructions import HEADERS, build
from ..papers.common import Array
from .streams import Samples

#: Samples that are learned, and how many of them, the last, are counted.
LEARNED, COUNTED = 400, 100


@dataclass(frozen=True)
class Cost:
    """Cost of predicting and learning one sample on the emulated core.

    Parameters
    ----------
    mean, worst : int
        Mean and maximum number of instructions.
    ram, flash : int
        Bytes.
    gap : float
        RMS difference from the predictions of which the error is given, in standard deviations of y.
    """

    mean: int
    worst: int
    ram: int
    flash: int
    gap: float = 0.0

    def as_dict(self) -> dict[str, Any]:
        """Return the fields as a dictionary."""
        return asdict(self)


def generated(plan: Plan, samples: Samples) -> Cost:
    """Measure a learner in generated C, and compare all values with the integer model."""
    x, y = samples.x_raw[:LEARNED], samples.y_raw[:LEARNED]
    vectors = make_vectors(open_model(plan), [("update", x, y), ("predict", x[:COUNTED], None)])
    with tempfile.TemporaryDirectory(prefix="kerncast-") as name:
        generate(plan, Path(name) / "c", "cortex-m4")
        found = measured_costs(plan, Path(name) / "c", "cortex-m4", "-O2", vectors=vectors)
    count = found.counts["update"]
    return Cost(count.mean, count.worst, found.ram["model"] + found.ram["static"], found.flash["learn"])


def float_c(source: str, ram: int, samples: Samples, expected: Array, *flags: str) -> Cost:
    """Measure a learner in C with float32 arithmetic.

    The source must define ``x``, ``y``, ``f`` and ``void update(void)``, which sets f to the prediction
    before it learns. Raises SystemExit if the median difference between f and `expected`
    (predictions in float64) is 0.1 or more.
    """
    with tempfile.TemporaryDirectory(prefix="kerncast-") as name:
        folder = Path(name)
        for header, text in HEADERS.items():
            (folder / header).write_text(text)
        main = folder / "main.c"
        main.write_text(f"{source}\nint main(void);\nint main(void) {{ update(); return 0; }}\n")
        image, flash = build(folder, [main], "-O2", *flags)
        core, counts, found = CortexM(image), [], []
        for m in range(LEARNED):
            if m == LEARNED - COUNTED:
                core.start_counting()
            core.write("x", samples.X[m].astype(np.float32))
            core.write("y", samples.y[m:m + 1].astype(np.float32))
            counts.append(core.call("update")[1])
            found.append(float(core.read("f", np.float32, 1)[0]))
    error = np.abs(np.array(found) - expected[:LEARNED])
    gap = float(np.sqrt(np.mean(error**2)))
    if not np.median(error) < 0.1:  # rounding may spoil the first samples, where a large P falls
        raise SystemExit(f"{samples.name}: float32 differs from float64 by {gap:.3g} standard "
                         "deviations of y")
    return Cost(round(np.mean(counts[-COUNTED:])), max(counts[-COUNTED:]), ram, flash, float(f"{gap:.2g}"))
