"""Numbers far apart asked for shifts beyond 62 bits: the model stopped, and the C went its own way."""

import numpy as np
import pytest

from kerncast.sim.errors import KerncastError
from kerncast.sim.model import open_model
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec


def spec(kernel: dict[str, object], word: int, lam: float = 0.1, **given: object) -> Spec:
    return Spec(model={"name": "t", "algorithm": "kernel_cg"}, input={"word": "s8f0", "columns": 2, **given},
                output={"word": "s10f0"}, kernel=kernel, cg={"n": 6, "lam": lam, "steps": 6},
                numbers={"word": word})


@pytest.mark.parametrize(("kernel", "word", "given"), [
    ({"type": "linear"}, 24, {"gain": 1e-11}),
    ({"type": "polynomial", "degree": 5, "gamma": 1e-10, "coef0": 0.0}, 24, {}),
    ({"type": "polynomial", "degree": 3, "gamma": 1e-12, "coef0": 0.0}, 32, {}),
])
def test_kernel_values_far_below_lambda_are_refused(kernel, word, given):
    with pytest.raises(KerncastError) as caught:
        make_plan(spec(kernel, word, **given))
    (problem,) = caught.value.problems
    assert (problem.code, problem.where, problem.value) == ("E204", "[cg] lambda", "0.1")
    assert "62 bits" in problem.allowed
    assert "[input] gain" in problem.remedy


def test_every_extreme_is_refused_or_runs():
    rng, ran = np.random.default_rng(5), 0
    for trial in range(60):
        most = (3, 6, 12)[trial % 3]
        gamma, coef0, lam, gain = 10.0 ** rng.uniform(-most, most, 4)
        kernel = {"type": "linear"} if trial % 4 == 0 else {
            "type": "polynomial", "degree": int(rng.integers(2, 6)), "gamma": gamma,
            "coef0": coef0 * (trial % 2)}
        x, y = rng.integers(-128, 128, (6, 2)), rng.integers(-512, 512, 6)
        try:
            plan = make_plan(spec(kernel, (16, 24, 32)[int(rng.integers(3))], lam, gain=gain))
        except KerncastError as error:
            assert {problem.code for problem in error.problems} == {"E204"}
            continue
        model = open_model(plan)
        model.train(x, y)
        model.predict(x)
        ran += 1
    assert 10 < ran < 60
