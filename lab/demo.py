"""lab: run the demo.

The examples are trained on emulated boards, and every value is compared with the integer model.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..codegen.generate import refuse_foreign
from ..sim._output_files import write_whole
from ..sim.errors import Problem
from ..sim.reference.backend import FloatReference
from ..sim.replay.divergence import Report
from .figures.outcome import draw
from .workflow import Outcome, Prepared, demo_backends, prepare, run_example, shipped_spec

EXAMPLES = ("ecg", "digits")
#: Also the mark of a folder that a demo has written.
RESULTS = "demo.json"


@dataclass(frozen=True)
class Demo:
    """Result of the demo.

    Parameters
    ----------
    outcomes : tuple of Outcome
    peers : dict of str to dict
        Error or accuracy of the baseline, by example; see :func:`peer`.
    files : tuple of Path
        Files that were written.
    """

    outcomes: tuple[Outcome, ...]
    peers: dict[str, dict[str, float]]
    files: tuple[Path, ...]

    @property
    def mismatches(self) -> int:
        """Return the number of mismatches over all examples."""
        return sum(outcome.mismatches for outcome in self.outcomes)

    @property
    def words(self) -> int:
        """Return the number of values compared over all examples."""
        return sum(outcome.words for outcome in self.outcomes)

    @property
    def missing(self) -> list[Problem]:
        """List the missing tools, each of them once."""
        found = {(p.value, p.remedy): p for outcome in self.outcomes for p in outcome.missing}
        return list(found.values())

    def as_dict(self) -> dict[str, Any]:
        """Return the results as a dictionary for ``--json``."""
        return {"words": self.words, "mismatches": self.mismatches,
                "examples": [{**outcome.as_dict(), "peers": self.peers[outcome.prepared.plan.name]}
                             for outcome in self.outcomes],
                "files": [str(path) for path in self.files]}


def run_demo(out: Path, report: Report) -> Demo:
    """Run both examples on all available back ends.

    Parameters
    ----------
    out : Path
        Folder for the generated code (one subfolder per example), the plots and ``demo.json``.
    report : callable
        Progress callback; receives the current step.

    Returns
    -------
    Demo
    """
    refuse_foreign(out, ours=(out / RESULTS).is_file(),
                   allowed="a new or an empty folder, or the folder of an earlier demo")
    out.mkdir(parents=True, exist_ok=True)
    (out / RESULTS).touch()  # an interrupted demo may be resumed in its folder
    outcomes, files, peers = [], [], {}
    for name in EXAMPLES:
        report(f"{name}: plan, model and generated code")
        prepared = prepare(shipped_spec(name), Path(), out / name)
        outcome = run_example(prepared, demo_backends(), report)
        report(f"{name}: figure, and results of scikit-learn")
        files += [out / name, draw(outcome, out / f"{name}.png")]
        peers[name] = peer(prepared)
        outcomes.append(outcome)
    demo = Demo(tuple(outcomes), peers, (*files, out / RESULTS))
    write_whole(out / RESULTS, json.dumps(demo.as_dict(), indent=1) + "\n")
    return demo


def peer(prepared: Prepared) -> dict[str, float]:
    """Return the error or accuracy of the baseline on the data of an example.

    Returns
    -------
    dict
        For a classifier, ``sklearn SVC``: its accuracy on the test samples. Otherwise ``no filter``: the RMS
        error of the noisy samples.
    """
    data = prepared.data
    if data.y_test_raw is not None and data.x_test_raw is not None:
        from sklearn.svm import SVC

        svc = SVC().fit(data.x_raw, data.y_raw)
        return {"sklearn SVC": float(np.mean(svc.predict(data.x_test_raw) == data.y_test_raw))}
    if data.clean is not None:
        noisy = FloatReference(prepared.plan).targets(data.y_raw)
        return {"no filter": float(np.sqrt(np.mean((noisy - data.clean) ** 2)))}
    return {}
