"""The fitted values of the C library: refusals, values at the rails, and large shifts."""

import numpy as np
import pytest

from kerncast.sim.model.kernel import cast_of
from kerncast.sim.model.ranges import Ranges
from kerncast.sim.model.toeplitz.fitted import fitted
from kerncast.sim.statuses import DeviceStatus

NAMES = ["grid16", "grid16_casts", "band16", "band32", "band16_bias", "band32_bias"]


def code(name):
    return int(DeviceStatus[name.upper()])


@pytest.fixture(params=NAMES)
def backend(request, host, cases):
    given = next(call for call in cases(request.param).vectors.calls if call.name == "train")
    with_c = host(request.param)
    with_c.reset()
    yield with_c, given
    with_c.close()


def call(backend, name, *arguments):
    return getattr(backend.library, f"{backend.plan.name}_train_{name}")(backend.trainer, *arguments)


def test_the_values_need_a_solution_in_the_trainer(backend):
    c, given = backend
    assert c.fitted()["status"] == code("out_of_order")
    c.train(given.x_raw, given.y_raw)
    first = c.fitted()
    assert first["status"] >= 0 and np.array_equal(c.fitted()["f"], first["f"])
    assert call(c, "run", 1) == call(c, "commit", c.model) == code("out_of_order")
    assert call(c, "begin") == code("ok")  # the trainer was free
    assert c.fitted()["status"] == code("out_of_order")
    call(c, "cancel")
    assert c.fitted()["status"] == code("out_of_order")


def test_null_pointers_are_refused(backend):
    c, given = backend
    c.train(given.x_raw, given.y_raw)
    function = getattr(c.library, f"{c.plan.name}_train_fitted")
    assert function(c.ffi.NULL, c.ffi.new(f"{c.plan.word_type}[]", c.plan.sizes["n"])) == code("bad_argument")
    assert function(c.trainer, c.ffi.NULL) == code("bad_argument")


def test_values_at_the_rails_are_those_of_the_model(backend):
    c, given = backend
    plan, n = c.plan, c.plan.sizes["n"]
    c.train(given.x_raw, given.y_raw)
    lo, hi = -(1 << (plan.word - 1)), (1 << (plan.word - 1)) - 1
    rng = np.random.default_rng(5)
    y = rng.choice([lo, hi, 0, 1, -1], n)
    alpha = rng.choice([lo, hi, 1, -1, 12345], n)
    for i in range(n):
        c.trainer.y[i], c.trainer.alpha[i] = int(y[i]), int(alpha[i])
    f, shift = np.zeros(n, dtype=np.int64), plan.integer("fitted_shift") - int(c.trainer.alpha_exp)
    y = y + int(c.trainer.bias) if plan.bias else y  # those of a trainer are less the intercept
    limited = fitted(y, alpha, plan.integer("fitted_scale"), shift, cast_of(plan, "f"), f, Ranges(plan).log)
    found = c.fitted()
    assert np.array_equal(found["f"], f)
    assert found["status"] == code("saturated" if limited else "ok")
