"""lab.report: compute intermediate values of a run that the device does not store.

All of them are computed with functions of the integer model.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...sim._arrays import Words
from ...sim.backend import Outputs
from ...sim.diagnostics.simulate import Simulation
from ...sim.model import open_model
from ...sim.model.base import convert_inputs
from ...sim.model.kernel import (
    cast_of,
    convert_y,
    distance_row,
    input_constants,
    kernel_constants,
    kernel_row,
)
from ...sim.model.ranges import EPS, INNOV, XI, Ranges
from ...sim.model.toeplitz.corrections import solver_constants
from ...sim.model.toeplitz.first_row import row_of
from ...sim.model.toeplitz.levinson import predictor_step, solution_step
from ...sim.plan import Plan
from ...sim.primitives import requantise

#: Pairs of a sample and a vector whose distances are counted, at most: an even choice of the samples.
PAIRS = 1 << 16


def intermediate_values(plan: Plan, simulation: Simulation, y_raw: Words | None,
                        x_test: Words) -> dict[str, Words]:
    """Return the values of signals that the device does not store, by signal.

    Parameters
    ----------
    plan : Plan
    simulation : Simulation
    y_raw : ndarray of int64, shape (m,), or None
    x_test : ndarray of int64, shape (k, D)

    Returns
    -------
    dict
        ``y``: the targets; ``distance``, ``kernel`` and ``accumulator``: values of predictions at `x_test`;
        ``xi``, ``eps`` and, if only one system is solved, ``innov``: values of Levinson's recursion. Signals
        that the plan does not have are omitted.
    """
    found: dict[str, Words] = {}
    if y_raw is not None:
        constants, log = input_constants(plan), Ranges(plan).log
        found["y"] = np.array([convert_y(word, constants, log) for word in y_raw], dtype=np.int64)
    if not simulation.trained:
        return found
    if plan.second_order:  # features instead of kernel values
        return found | {"accumulator": np.array([*_sums(plan, simulation.state, x_test[:PAIRS])])}
    found |= _of_predictions(plan, simulation.state, x_test)
    if plan.algorithm == "toeplitz_rls" and plan.solver == "levinson":
        found |= _of_levinson(plan, simulation.state, found["y"])
    return found


def _of_predictions(plan: Plan, state: Outputs, x_test: Words) -> dict[str, Words]:
    v = _vectors(plan, state)
    count = min(len(x_test), max(1, PAIRS // len(v)))
    x_raw = x_test[np.linspace(0, len(x_test) - 1, count).astype(int)]
    x, log, k = np.zeros_like(x_raw), Ranges(plan).log, kernel_constants(plan)
    convert_inputs(x_raw, input_constants(plan), x, log)
    distances, kernels = (np.zeros((count, len(v)), dtype=np.int64) for _ in range(2))
    for at, inputs in enumerate(x):
        distance_row(v, len(v), inputs, k, distances[at])
        if "kernel" in plan.signals:
            kernel_row(distances[at], len(v), k, kernels[at], log)
    return {"distance": distances, "kernel": kernels, "accumulator": np.array([*_sums(plan, state, x_raw)])}


def _vectors(plan: Plan, state: Outputs) -> Words:
    """Return the vectors of the kernel expansion, shape (N, D), in the format of x."""
    if plan.fixed or "centers" in state:
        words = np.array(plan.tables["centers"].values if plan.fixed else state["centers"], dtype=np.int64)
        return words.reshape(-1, plan.sizes["D"])[:int(state["count"][0]) if "count" in state else None]
    return (np.arange(plan.sizes["n"], dtype=np.int64) * plan.integer("x_step"))[:, np.newaxis]


def _sums(plan: Plan, state: Outputs, x_raw: Words) -> Iterator[int]:
    """Yield the accumulator of each prediction.

    It is read from the range log, which is cleared before each prediction.
    """
    model = open_model(plan)
    model.load(state)
    for inputs in x_raw:
        model.ranges.clear()
        model.predict(inputs[np.newaxis])
        yield from (seen.lo for seen in model.ranges if seen.name == "accumulator")


def _of_levinson(plan: Plan, state: Outputs, y: Words) -> dict[str, Words]:
    """Return the values of xi, eps and innov in one run of Levinson's recursion.

    The steps are those of :mod:`kerncast.sim.model.toeplitz.levinson`.
    """
    refined = "solver_word" in plan.constants and plan.integer("solver_word") != plan.word
    once = not refined and not int(plan.bias)  # else the innovation is of several solutions
    r, k, ranges = row_of(plan, state), solver_constants(plan), Ranges(plan)
    if refined:
        mode = cast_of(plan, "alpha").rounding
        r = np.array([requantise(int(word), plan.word - k.word, mode, k.a.lo, k.a.hi) for word in r],
                     dtype=np.int64)
    a, x, wide = (np.zeros(len(r), dtype=np.int64) for _ in range(3))
    eps, a_exp, a_used, x_exp, x_used = 1 << k.xi_frac, k.a_exp_min, 0, k.x_exp_min, 0
    seen = []
    for m in range(len(r)):
        if m > 0:
            eps, a_exp, a_used = predictor_step(r, a, m, eps, a_exp, a_used, wide, k, ranges.log)
        if once:
            x_exp, x_used = solution_step(r, a, x, m, y[m], eps, a_exp, a_used, x_exp, x_used, k, ranges.log)
        seen.append(ranges.log.ranges[:, 0].copy())  # one word each: its least is it
        ranges.clear()
    words = np.array(seen)
    found = {"xi": words[1:, XI], "eps": words[1:, EPS]}
    return found | {"innov": words[:, INNOV]} if once else found
