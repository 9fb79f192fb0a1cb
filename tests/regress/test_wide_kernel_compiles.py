"""A kernel far wider than the inputs gives C that compiles: its limit of a distance is no constant truth."""

from pathlib import Path

import numpy as np
import pytest

from kerncast.codegen.build.host import HostBackend
from kerncast.codegen.generate import generate
from kerncast.sim.backend import Comparison
from kerncast.sim.model import open_model
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec


@pytest.mark.parametrize("newest_only", [False, True])
def test_quantisation_by_a_kernel_wider_than_all_inputs_compiles(ledger, tmp_path: Path,
                                                                 newest_only: bool) -> None:
    plan = make_plan(Spec(
        model={"name": "wide", "algorithm": "kernel_lms"}, input={"word": "s8f0", "columns": 2},
        output={"word": "s8f0"}, kernel={"sigma": 1e6}, numbers={"word": 16},
        online={"budget": 4, "eta": 0.3, "reduction": "nt", "quantise": 0.5}
        | ({"newest_only": True, "reduction": "fklms", "max_deterioration": 0.5} if newest_only else {})))
    assert plan.integer("quantise") == 2**32 - 2
    generate(plan, tmp_path)
    chance = np.random.default_rng(1)
    x, y = chance.integers(-128, 128, (30, 2)), chance.integers(-128, 128, 30)
    compared, model = Comparison(), open_model(plan)
    backend = HostBackend(plan, tmp_path)
    compared.add("update", model.update(x, y), backend.update(x, y))
    compared.add("state", model.state(), backend.state())
    backend.close()
    ledger.record(backend=backend.name, words=compared.words, mismatches=compared.mismatches, case="wide")
