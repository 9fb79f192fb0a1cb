"""Arrays that did not fit once made compiled loops write beside their arrays, or were taken as they came."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kerncast.sim.data import load_dataset
from kerncast.sim.diagnostics.simulate import simulate
from kerncast.sim.errors import KerncastError
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec

SPEC = Spec.load(Path(__file__).resolve().parents[2] / "examples" / "digits.toml")
DATA = load_dataset(SPEC)


@pytest.mark.parametrize(("x", "y", "code"), [
    (DATA.x_raw, DATA.y_raw[:3], "E248"), (DATA.x_raw[:, :3], DATA.y_raw, "E248"),
    (DATA.x_raw * np.nan, DATA.y_raw, "E245"), (DATA.x_raw + 0.5, DATA.y_raw, "E244"),
    (DATA.x_raw + 100, DATA.y_raw, "E246"), (DATA.x_raw, DATA.y_raw * 1e9, "E246")])
@pytest.mark.parametrize("door", ["plan", "simulate"])
def test_arrays_that_do_not_fit_are_refused(door: str, x: Any, y: Any, code: str) -> None:
    with pytest.raises(KerncastError) as caught:
        make_plan(SPEC, x, y) if door == "plan" else simulate(make_plan(SPEC), x, y)
    assert {p.code for p in caught.value.problems} == {code}


def test_whole_numbers_of_any_kind_give_the_plan_of_integers() -> None:
    plan = make_plan(SPEC, DATA.x_raw, DATA.y_raw)
    assert make_plan(SPEC, DATA.x_raw.astype(float), DATA.y_raw.tolist()).hash == plan.hash


def test_without_inputs_or_passes_an_online_learner_is_not_simulated() -> None:
    plan = make_plan(SPEC)
    with pytest.raises(KerncastError, match="E248"):
        simulate(plan, None, DATA.y_raw)
    with pytest.raises(KerncastError, match="E234"):
        simulate(plan, DATA.x_raw, DATA.y_raw, passes=0)
