"""With refinement and a tiny lambda alpha had an exponent at which a prediction's sum left int64."""

import numpy as np
import pytest

from kerncast.sim.model import open_model
from kerncast.sim.model.toeplitz.trainer import SCALARS
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec


@pytest.mark.parametrize("options", [{"refine": 1}, {"refine": 2, "bias": True}, {"bias": True}])
@pytest.mark.parametrize("word", [16, 24])
@pytest.mark.parametrize("n", [2, 5, 40])
def test_the_largest_alpha_predicts_the_rail_on_its_own_side(word, n, options):
    plan = make_plan(Spec(
        model={"name": "t", "algorithm": "toeplitz_rls"}, input={"word": "s8f0"}, output={"word": "s16f15"},
        kernel={"sigma": 2.0}, numbers={"word": word},
        toeplitz={"n": n, "lam": 1e-5 if word == 16 else 1e-8, "scheme": "diagonal_mean", **options}))
    model, x = open_model(plan), np.zeros((n, 1), dtype=np.int64)
    model.train(x, np.ones(n, dtype=np.int64))
    alpha, rail = plan.signals["alpha"].format, plan.signals["f"].format
    model._trained, model._scalars[SCALARS.index("alpha_exp")] = True, plan.integer("alpha_exp_max")
    for side, expected in ((alpha.hi, rail.hi), (alpha.lo, rail.lo)):
        model._alpha[:], model._scalars[SCALARS.index("bias")] = side, 0
        assert model.predict(x[:1])["f"][0] == expected
