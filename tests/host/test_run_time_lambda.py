"""A lambda set at run time: the values of the model for every lambda, and refusals."""

from functools import cache

import numpy as np
import pytest

from kerncast.hw.backends import open_backend
from kerncast.sim.backend import LambdaBackend
from kerncast.sim.model import open_model
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec
from kerncast.sim.statuses import DeviceStatus

#: Name -> n, sigma, the range, keys of [toeplitz], kernel.
CASES = {
    "narrow": (60, 1.0, (0.001, 1.0), {}, "gaussian"), "three": (97, 3.0, (0.01, 0.5), {}, "gaussian"),
    "large": (64, 2.0, (1.0, 300.0), {"step": 2}, "gaussian"),
    "coarse": (60, 3.0, (0.001, 0.1), {"tolerance": 1e-5}, "gaussian"),
    "power": (60, 1.0, (0.01, 0.99999999999), {}, "gaussian"),  # 1 + the largest lambda rounds to 2
    "matern": (128, 2.0, (0.1, 2.0), {}, "matern32"),
    "narrow24": (60, 1.0, (0.001, 1.0), {}, "gaussian"), "narrow32": (60, 1.0, (0.001, 1.0), {}, "gaussian"),
    "three24": (97, 3.0, (0.01, 0.5), {}, "gaussian"), "three32": (97, 3.0, (0.01, 0.5), {}, "gaussian"),
    "large24": (64, 2.0, (1.0, 300.0), {"step": 2}, "gaussian"),
    "wide32": (190, 8.0, (0.0005, 0.4), {"tolerance": 1e-6}, "gaussian"),  # the head of a row is shifted
    "power32": (60, 1.0, (0.01, 0.99999999999), {}, "gaussian"), "two": (4, 0.2, (0.1, 9.0), {}, "gaussian"),
    "two24": (30, 0.2, (0.1, 9.0), {}, "gaussian"),  # a single lag is not zero
    "matern32": (256, 2.0, (0.1, 2.0), {}, "matern32"),
}
OK, BAD, ORDER = DeviceStatus.OK, DeviceStatus.BAD_ARGUMENT, DeviceStatus.OUT_OF_ORDER


@cache
def plan_of(name):
    n, sigma, ends, toeplitz, kernel = CASES[name]
    return make_plan(Spec(
        model={"name": name, "algorithm": "toeplitz_rls"}, input={"word": "u16f0"}, output={"word": "s14f0"},
        kernel={"type": kernel, "sigma": sigma},
        numbers={"word": int(name[-2:]) if name[-2:].isdigit() else 16}, toeplitz={
            "n": n, "lambda": ends[1], "lambda_range": list(ends), "scheme": "uniform", "solver": "banded",
            **toeplitz}))


def samples(plan, seed=0):
    rng = np.random.default_rng(seed)
    return np.clip(np.cumsum(rng.integers(-900, 900, plan.sizes["n"])), -8192, 8191)


def lambdas(plan, count):
    lo, hi = plan.integer("lambda_lo"), plan.integer("lambda_hi")
    return sorted({lo, hi, *np.round(np.geomspace(lo, hi, count)).astype(int).clip(lo, hi).tolist()})


def everything(backend, given):
    fitted = backend.fitted()
    return {"answer": given["status"], **backend.workspace(), **backend.state(),
            **{f"fitted {key}": value for key, value in fitted.items()}}


@pytest.mark.covering
@pytest.mark.parametrize("backend", ["host:gcc:-O2", "host:clang:-O0"])
@pytest.mark.parametrize("name", CASES)
def test_every_lambda_gives_the_values_of_the_model(ledger, name, backend):
    plan, count = plan_of(name), 0
    model, host = open_model(plan), open_backend(plan, backend)
    assert isinstance(model, LambdaBackend) and isinstance(host, LambdaBackend)
    for seed, lam in enumerate(lambdas(plan, 7)):
        y = samples(plan, seed)
        expected = everything(model, model.train_with(lam, None, y))
        found = everything(host, host.train_with(lam, None, y))
        assert expected["answer"] == found["answer"] >= 0
        different = [key for key in expected if not np.array_equal(expected[key], found[key])]
        assert not different
        x = np.array([[0], [1], [40]])
        assert all(np.array_equal(v, host.predict(x)[key]) for key, v in model.predict(x).items())
        count += sum(value.size for value in expected.values())
    ledger.record(backend=backend, words=count, mismatches=0, case=f"lambda at run time, {name}")
    host.close()


@pytest.mark.parametrize("name", ["three", "large"])
def test_training_in_one_call_uses_the_lambda_of_the_spec(name):
    plan = plan_of(name)
    model, host, y = open_model(plan), open_backend(plan, "host"), samples(plan)
    host.train_with(plan.integer("lambda_lo"), None, y)
    default = everything(host, host.train(None, y))
    expected = everything(model, model.train_with(plan.integer("lambda_word"), None, y))
    assert all(np.array_equal(value, default[key]) for key, value in expected.items())
    host.close()


@pytest.fixture(params=["three", "three32"])
def trainer(request):
    """The functions of a trainer that has a model, by their last word, and what cannot change."""
    backend = open_backend(plan_of(request.param), "host")
    assert backend.train(None, samples(backend.plan))["status"] == OK

    def call(name, *arguments):
        return getattr(backend.library, f"{request.param}_train_{name}")(backend.trainer, *arguments)

    def both():
        return bytes(backend.ffi.buffer(backend.trainer)), bytes(backend.ffi.buffer(backend.model))

    yield backend, call, both
    backend.close()


@pytest.mark.parametrize("beyond", ["below", "above", "zero", "most"])
def test_a_lambda_outside_the_range_changes_nothing(trainer, beyond):
    backend, call, both = trainer
    plan = backend.plan
    lam = {"below": plan.integer("lambda_lo") - 1, "above": plan.integer("lambda_hi") + 1, "zero": 0,
           "most": 2**32 - 1}[beyond]
    assert call("begin") == OK and call("set_lambda", plan.integer("lambda_lo") + 5) == OK
    before = both()
    assert call("set_lambda", lam) == BAD and both() == before
    assert open_model(plan).train_with(lam, None, samples(plan))["status"] == BAD


def test_lambda_is_refused_unless_samples_are_awaited(trainer):
    backend, call, both = trainer
    lam, y = backend.plan.integer("lambda_lo"), backend._raw(samples(backend.plan), "y_raw")
    before = both()
    assert call("set_lambda", lam) == ORDER and both() == before  # a model was committed
    assert call("begin") == OK and call("push", y[0]) == OK and call("set_lambda", lam) == OK
    assert call("push_block", y + 1, backend.plan.sizes["n"] - 1) == OK
    before = both()
    assert call("set_lambda", lam) == ORDER and both() == before
    call("cancel")
    assert call("set_lambda", lam) == ORDER


def test_a_null_trainer_is_refused(trainer):
    plan, library, null = trainer[0].plan, trainer[0].library, trainer[0].ffi.NULL
    assert getattr(library, f"{plan.name}_train_set_lambda")(null, plan.integer("lambda_lo")) == BAD


def test_a_lambda_that_other_code_wrote_is_detected(trainer):
    backend, call, _ = trainer
    assert call("begin") == OK
    setattr(backend.trainer, "lambda", 0)
    assert call("push", 1) == ORDER


@pytest.mark.parametrize("steps", [1, 5])
def test_slices_of_any_length_give_the_same_values(trainer, steps):
    backend, call, _ = trainer
    lam, y = backend.plan.integer("lambda_lo"), samples(backend.plan)
    expected = everything(backend, backend.train_with(lam, None, y))
    raw = backend._raw(y, "y_raw")
    assert call("begin") == call("set_lambda", lam) == call("push_block", raw, len(y)) == OK
    while (status := call("run", steps)) == DeviceStatus.PENDING:
        pass
    found = everything(backend, {"status": np.array([call("commit", backend.model)])})
    assert status == OK and all(np.array_equal(value, found[key]) for key, value in expected.items())


@pytest.mark.parametrize("member", ["factor", "pivot", "u", "v"])
def test_a_factor_that_other_code_wrote_gives_no_accurate_status(trainer, member):
    backend, call, _ = trainer
    y = backend._raw(samples(backend.plan), "y_raw")
    assert call("begin") == call("push_block", y, backend.plan.sizes["n"]) == OK
    assert call("run", 1 if member in "uv" else 3) == DeviceStatus.PENDING
    array, most = getattr(backend.trainer, member), 2**(63 if backend.plan.long_factor else 31) - 1
    for i in range(len(array)):
        array[i] = -array[i] if member in ("pivot", "factor") else most
    status = call("run", 2**32 - 1)
    status = call("commit", backend.model) if status == OK else status
    assert status in (DeviceStatus.INACCURATE, DeviceStatus.NOT_POSITIVE_DEFINITE)
