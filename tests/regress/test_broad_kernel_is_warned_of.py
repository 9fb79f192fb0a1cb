"""A broad kernel makes FKLMS diverge with status ok: the plan that has seen the data warns of it."""

import numpy as np
import pytest

from kerncast import cautions
from kerncast.sim.diagnostics.simulate import simulate
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec


def spec(sigma: float, budget: int, reduction: str = "fklms", **keys: object) -> Spec:
    return Spec(model={"name": "broad", "algorithm": "kernel_lms"}, input={"word": "s8f0", "columns": 2},
                output={"word": "s8f0"}, kernel={"sigma": sigma},
                online={"budget": budget, "reduction": reduction, "eta": 0.5} | keys)


@pytest.mark.parametrize(("sigma", "budget", "warned"), [
    (20.0, 8, False), (40.0, 8, False), (40.0, 16, False), (60.0, 16, True), (200.0, 8, True)])
def test_a_kernel_that_makes_projection_amplify_is_warned_of(sigma: float, budget: int, warned: bool) -> None:
    chance = np.random.default_rng(0)
    x = chance.integers(-60, 60, (600, 2))
    y = np.clip(40 * np.sin(x[:, 0] / 30) + x[:, 1] / 3, -127, 127).astype(np.int64)
    plan = make_plan(spec(sigma, budget), x, y)
    assert [problem.code for problem in cautions(plan)] == ["W209"] * warned
    assert (simulate(plan, x, y).f_error > 0.5) == warned
    assert not cautions(make_plan(spec(sigma, budget, "nt"), x, y))


@pytest.mark.parametrize(("eta", "warned"), [(0.1, False), (0.9, True)])
def test_a_projected_step_is_warned_of_by_its_product_with_eta(eta: float, warned: bool) -> None:
    chance = np.random.default_rng(0)
    x = chance.integers(-60, 60, (600, 2))
    y = np.clip(40 * np.sin(x[:, 0] / 30) + x[:, 1] / 3, -127, 127).astype(np.int64)
    plan = make_plan(spec(50.0, 16, eta=eta, newest_only=True, max_deterioration=0.2), x, y)
    assert [problem.code for problem in cautions(plan)] == ["W209"] * warned
    assert (simulate(plan, x, y).f_error > 0.5) == warned
