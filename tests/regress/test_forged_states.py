"""A made-up state that was restored overflowed in C, and gave other values than the integer model."""

import numpy as np
import pytest

from kerncast.codegen.build.host import HostBackend
from kerncast.sim.errors import KerncastError
from kerncast.sim.model import open_model
from kerncast.sim.planner import make_plan
from kerncast.sim.replay.saved_state import decode, encode, member_ranges
from kerncast.sim.spec import Spec

GCC = "sudo apt-get install -y gcc libc6-dev"
TRAPS = ("-O1", "-fsanitize=undefined", "-fsanitize-undefined-trap-on-error")
COMMON = {"input": {"word": "s12f0", "columns": 3}, "output": {"word": "s12f0"}, "kernel": {"sigma": 900.0}}


def learner(metric, word):
    return make_plan(Spec(
        model={"name": "forged", "algorithm": "kernel_lms"}, numbers={"word": word}, **COMMON,
        online={"budget": 7, "eta": 0.4, "reduction": "fklms", "metric": metric, "max_deterioration": 0.001}))


@pytest.mark.parametrize("metric", ["fast_klms", "fast_mklms"])
@pytest.mark.parametrize("word", [16, 32])
def test_forged_sums_give_the_same_values_in_c_and_model(metric, word, require_tool):
    require_tool("gcc", GCC)
    plan, rng = learner(metric, word), np.random.default_rng(word)
    host, model = HostBackend(plan, compiler="gcc", flags=TRAPS), open_model(plan)
    lo, hi = member_ranges(plan)["sums"]
    X, Y = rng.integers(-2048, 2047, (20, 3)), rng.integers(-2048, 2047, 20)
    model.update(X, Y)
    honest = model.state()
    for trial in range(12):
        sums = rng.integers(lo, hi, 7, endpoint=True)
        if trial % 2:
            sums = rng.choice([lo, lo + 1, hi - 1, hi], 7)
        image = encode(plan, honest | {"sums": sums.astype(np.int64)}, trial)
        for backend in (host, model):
            backend.restore(image)
        x, y = rng.integers(-2048, 2047, (30, 3)), rng.integers(-2048, 2047, 30)
        found, expected = host.update(x, y), model.update(x, y)
        assert all((found[name] == values).all() for name, values in expected.items())
        after = host.state()
        assert all((after[name] == values).all() for name, values in model.state().items())
    host.close()


def test_a_trained_state_with_the_exponent_of_an_untrained_one_is_refused(require_tool):
    require_tool("gcc", GCC)
    plan = make_plan(Spec(model={"name": "forged", "algorithm": "kernel_cg"}, **COMMON,
                          cg={"n": 12, "lambda": 10000.0}))
    assert plan.integer("alpha_exp_max") < 0  # 0 is allowed before a training only
    rng, model = np.random.default_rng(0), open_model(plan)
    host = HostBackend(plan, compiler="gcc", flags=TRAPS)
    untrained = model.save()
    model.train(rng.integers(-2048, 2047, (12, 3)), rng.integers(-2048, 2047, 12))
    forged = encode(plan, model.state() | {"alpha_exp": np.array([0])}, 1)
    for restore in (lambda image: decode(plan, image), host.restore):
        with pytest.raises(KerncastError) as caught:
            restore(forged)
        assert caught.value.problems[0].code == "E445"
        restore(untrained)
        restore(model.save())
    host.close()
