"""The generated solver equals the model on any first row, and each of its refusals is reached."""

import numpy as np
import pytest

from kerncast.sim.backend import STATUSES
from kerncast.sim.model.kernel import convert_y, input_constants
from kerncast.sim.model.ranges import Ranges
from kerncast.sim.model.statuses import OK
from kerncast.sim.model.toeplitz.corrections import solver_constants
from kerncast.sim.model.toeplitz.levinson import levinson

from .solver_steps import solved

STEP = "int {0}_levinson_step({0}_trainer_t *t);"


def rows(n, word, rng):
    """First rows r: noise, decaying, and of autoregressive processes near the edge of stability."""
    for size in (0.1, 0.3, 1.0):
        yield rng.uniform(-size, size, n)
    for rho in (0.5, -0.9, 0.999, 0.99999, 1 - 2.0**-word):
        yield rho ** np.arange(n)
    for edge in (0.3, 0.6, 0.9, 0.999):
        yield of_reflections(rng.uniform(-edge, edge, n))
    for scale in (0.02, 0.3):
        yield np.cos(np.arange(n) * rng.uniform(0, np.pi)) * (1 - scale * rng.random())
    for width in (1.0, 1.5, 2.0):  # hardly regularised: coefficients like binomials
        yield np.exp(-0.5 * (np.arange(n) / width) ** 2) * (1 - 2.0**-word)
    yield of_reflections(np.where(np.arange(n) == 3, 1 - 2.0 ** -(word + 1), 0.01))
    yield of_reflections(np.where(np.arange(n) % 7 == 2, 0.95, 0.2))


def of_reflections(xi):
    """The row r (n,) whose Levinson recursion meets the reflections xi[1:]."""
    n = len(xi)
    r, a, eps = np.zeros(n), np.zeros(n), 1.0
    for m in range(1, n):
        r[m] = -xi[m] * eps - r[m - 1:0:-1] @ a[1:m]
        a[1:m + 1] = np.append(a[1:m] + xi[m] * a[m - 1:0:-1], xi[m])
        eps *= 1 - xi[m] ** 2
    return r


@pytest.mark.parametrize("name", ["grid16", "grid16_even", "grid32_floor", "mean32_varied"])
def test_solver_equals_model_on_rows_of_every_kind(host, ledger, name):
    backend = host(name)
    plan, rng = backend.plan, np.random.default_rng(11)
    n, word, raw = plan.sizes["n"], plan.word, plan.signals["y_raw"].format
    constants = solver_constants(plan)
    backend.ffi.cdef(STEP.format(name))
    log, compared, met = Ranges(plan).log, 0, set()
    for turn in range(12):
        for row in rows(n, word, rng):
            hi = plan.signals["r"].format.hi
            r = np.clip(np.rint(row * (hi + 1)), -hi, hi).astype(np.int64)
            y_raw = rng.integers(raw.lo, raw.hi, n, endpoint=True)
            if turn % 2:  # all targets 0: only the predictor polynomial can leave its range
                y_raw[:] = plan.integer("y_offset")
            y = np.array([convert_y(int(v), input_constants(plan), log) for v in y_raw], dtype=np.int64)
            a, x, out = (np.zeros(size, dtype=np.int64) for size in (n, n, 5 + n))
            status = levinson(y.reshape(1, n), r, a, x.reshape(1, n), out, constants, log)
            backend.reset()
            found, state = solved(backend, "levinson", r, y)
            assert STATUSES[found] == STATUSES[status]
            assert state["a"].tolist() == a.tolist()
            assert state["alpha"].tolist() == x.tolist()
            if found == OK:  # else the caller forgets what is there
                assert [int(state[k][0]) for k in ("eps", "a_exp", "alpha_exp")] == out[:3].tolist()
            compared += 2 * n + 4
            met.add(STATUSES[found])
    assert met == {"ok", "not_positive_definite"}
    backend.close()
    ledger.record(backend="host:gcc:-O1", words=compared, case=f"{name} levinson")
