"""lab: the demo: two examples trained on an emulated board, each word compared with the model's."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from ..sim.data import Dataset
from ..sim.errors import Problem
from .example import Outcome, Tell, demo_backends, prepare, run_example, shipped_spec
from .pictures import draw

EXAMPLES = ("ecg", "digits")


def run_demo(out: Path, tell: Tell) -> list[Outcome]:
    """Run both examples on every back end at hand.

    Parameters
    ----------
    out : Path
        A folder for the generated code (one folder each), the pictures and ``demo.json``.
    tell : callable
        Called with what is being done.

    Returns
    -------
    list of Outcome
    """
    outcomes = []
    for name in EXAMPLES:
        tell(f"{name}: plan, model and generated code")
        spec = shipped_spec(name)
        prepared = prepare(spec, Path(), out / name)
        outcome = run_example(prepared, demo_backends(), tell)
        tell(f"{name}: picture")
        draw(outcome, out / f"{name}.png")
        outcomes.append(outcome)
    tell("peers: scikit-learn")
    (out / "demo.json").write_text(json.dumps(summary(outcomes), indent=1) + "\n", encoding="utf-8")
    return outcomes


def peer(data: Dataset) -> dict[str, float]:
    """What a user would take instead, on the same data: scikit-learn's SVC, or the noisy signal itself.

    Returns
    -------
    dict
        ``SVC`` accuracy for classes; ``noisy`` root mean square error for a signal.
    """
    if data.y_test_raw is not None and data.x_test_raw is not None:
        from sklearn.svm import SVC

        svc = SVC().fit(data.x_raw, data.y_raw)
        return {"SVC": float(np.mean(svc.predict(data.x_test_raw) == data.y_test_raw))}
    return {}


def summary(outcomes: Iterable[Outcome]) -> dict[str, Any]:
    """One object with everything that was compared."""
    rows = [{**outcome.as_dict(), "peers": peer(outcome.prepared.data)} for outcome in outcomes]
    return {"words": sum(r["words"] for r in rows), "mismatches": sum(r["mismatches"] for r in rows),
            "examples": rows}


def missing(outcomes: Iterable[Outcome]) -> list[Problem]:
    """Each missing tool once."""
    return list({p.value: p for outcome in outcomes for p in outcome.missing}.values())
