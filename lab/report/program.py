"""lab.report: compile a design's C to WebAssembly, and describe its interface."""

from __future__ import annotations

import base64
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from ...codegen.build.wasm import build_wasm
from ...sim.backend import STATUSES
from ...sim.data import Dataset
from ...sim.data.words_csv import words_text
from ...sim.diagnostics.simulate import grid
from ...sim.errors import EXIT_TOOL_MISSING, KerncastError
from ...sim.plan import C_BYTES, Plan, wire_dtype
from ...sim.spec import Spec

#: Characters of samples that a page carries so that its program can be tried at once.
_MOST = 100_000


def program(plan: Plan, spec: Spec | None, *, source: Path | None = None,
            build_dir: Path | None = None) -> dict[str, Any]:
    """Build the WebAssembly module of a plan, and describe its interface for a page.

    Parameters
    ----------
    plan : Plan
    spec : Spec, or None
        Determines the unit of the target's ADC counts, and whether the inputs are previous targets.
    source : Path, optional
        The folder generated from the plan. If it is omitted, the code is generated.
    build_dir : Path, optional
        Folder for zig's cache.

    Returns
    -------
    dict
        ``problem`` (code, message, remedy) if zig is not installed. Otherwise: ``wasm`` (base64); ``name``;
        ``learn`` (the function that learns, or None); ``batch`` (samples per call, 0 if there is one per
        call); ``uniform`` and ``grid`` (first input and step); ``columns``; ``lagged``; ``x``, ``y`` and
        ``f`` (numpy type, minimum and maximum ADC count); ``unit`` of f; ``gain`` and ``offset`` of the
        target; ``state`` and ``trainer`` (sizes in bytes); ``statuses``.

    Raises
    ------
    KerncastError
        E320 if zig fails.
    """
    try:
        code = build_wasm(plan, source, build_dir=build_dir)
    except KerncastError as error:
        if error.exit_code != EXIT_TOOL_MISSING:
            raise
        return {"problem": error.problems[0].as_dict()}
    uniform = plan.uniform
    first = grid(plan)[:2, 0].tolist() if uniform else [0, 0]
    words = {short: [wire_dtype(plan.signals[name].format.c_type), plan.signals[name].format.lo,
                     plan.signals[name].format.hi]
             for short, name in (("x", "x_raw"), ("y", "y_raw")) if name in plan.signals}
    learn = None if plan.fixed else "train" if plan.trains else plan.update_name
    return {"wasm": base64.b64encode(code).decode(), "name": plan.name, "learn": learn,
            "batch": plan.sizes["n"] if plan.trains else 0, "uniform": uniform,
            "grid": [first[0], first[1] - first[0]], "columns": plan.sizes["D"], **words,
            "f": wire_dtype(plan.word_type), "bytes": C_BYTES[plan.word_type],
            "lagged": bool(spec is not None and spec.data is not None and spec.data.lagged),
            "y_unit": plan.y_unit, "unit": float(Fraction(plan.units["y"])),
            "gain": 1.0 if plan.fixed else float(Fraction(plan.units["y_raw"])),
            "offset": 0 if plan.fixed else plan.integer("y_offset"),
            "state": plan.state_bytes, "trainer": plan.trainer_bytes, "statuses": STATUSES}


def samples_text(spec: Spec, data: Dataset) -> str:
    """Return the samples of a spec as CSV of ADC counts; empty if there are too many."""
    columns = data.y_raw[:, np.newaxis] if spec.uniform else np.column_stack([data.x_raw, data.y_raw])
    text = words_text(columns)
    return text if len(text) <= _MOST else ""
