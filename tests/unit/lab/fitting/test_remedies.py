"""Remedies of `fit` for candidates whose status is not ok."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kerncast.lab.fitting import fit
from kerncast.lab.fitting.search import Candidate
from kerncast.sim.data import load_dataset
from kerncast.sim.spec import Spec


def test_remedies_that_a_range_of_lambda_does_not_allow_are_not_tried(tmp_path: Path) -> None:
    """A longer word length and a lambda beyond the range would be rejected by the spec."""
    rng = np.random.default_rng(3)
    y = np.rint(8000 * np.sin(np.arange(200) / 9.0) + rng.normal(0, 900, 200))
    (tmp_path / "y.csv").write_text("y\n" + "".join(f"{v:.0f}\n" for v in y), encoding="utf-8")
    spec = Spec(model={"name": "t", "algorithm": "toeplitz_rls"}, input={"word": "u16f0"},
                output={"word": "s16f0"}, kernel={"sigma": 3.0}, numbers={"word": 16},
                toeplitz={"n": 200, "lambda": 0.1, "lambda_range": [0.1, 0.15], "scheme": "uniform",
                          "solver": "banded", "tolerance": 1e-6},
                data={"file": "y.csv"})
    step = Candidate(spec, {}, ok=True, error=1.0, rms=1.0)
    found, after = fit._remedied(step, spec, load_dataset(spec, tmp_path))
    assert found is step and after.status == "inaccurate"
