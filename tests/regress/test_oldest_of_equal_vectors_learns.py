"""A long period rounds distances to 0, and the model's twin was another vector than that of the C."""

import numpy as np
import pytest

from kerncast.hw.backends import open_backend
from kerncast.sim.model import open_model
from kerncast.sim.planner import make_plan
from kerncast.sim.replay.vectors import make_vectors, replay
from kerncast.sim.spec import Spec


def plan_of(**online):
    return make_plan(Spec(
        model={"name": "wide", "algorithm": "kernel_lms"}, input={"word": "u16f0"}, output={"word": "s12f0"},
        kernel={"type": "periodic", "sigma": 0.01, "period": 1e6}, online={"eta": 0.3, **online},
        numbers={"word": 16}))


@pytest.mark.parametrize("online", [
    {"budget": 4}, {"budget": 6, "reduction": "fmklms"}, {"budget": 6, "rho": 0.05},
    {"budget": 6, "max_deterioration": 0.01, "newest_only": True}], ids=["fklms", "fmklms", "rho", "newest"])
def test_every_back_end_lets_the_oldest_of_equals_learn(online, ledger):
    plan, rng = plan_of(**online), np.random.default_rng(3)
    x = 30_000 + 4 * rng.integers(0, 12, (80, 1))  # two steps apart are told apart, one is not
    vectors = make_vectors(open_model(plan), [("update", x, rng.integers(-500, 501, len(x)))])
    for name in ("host:gcc:-O1", "model:fxpmath"):
        backend = open_backend(plan, name)
        found = replay(backend, vectors)
        backend.close()
        ledger.record(backend=name, words=found.words, mismatches=found.mismatches, case=str(online))
        assert found.mismatches == 0, found.first
