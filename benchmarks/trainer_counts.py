"""Count the instructions of a Toeplitz trainer on an emulated Cortex-M4.

The values are compared with those of the integer model.
"""

from __future__ import annotations

import numpy as np

from kerncast.benchmarks.cortex_m import CortexM
from kerncast.benchmarks.instructions import counting
from kerncast.benchmarks.solvers import targets
from kerncast.sim.model import open_model
from kerncast.sim.model.base import IntegerModel
from kerncast.sim.model.toeplitz.trainer import ToeplitzModel
from kerncast.sim.plan import Plan, wire_dtype


def count(plan: Plan, level: str) -> int:
    """Count the instructions of a training on a Cortex-M4; check the resulting model."""
    return counts_of_calls(plan, level)[0]


def counts_of_calls(plan: Plan, level: str, predicts: bool = False) -> tuple[int, int]:
    """Count the instructions of a training and of a prediction on a Cortex-M4.

    The resulting model and the prediction are checked. Without `predicts`, the second count is 0.
    """
    n, outputs = plan.sizes["n"], plan.outputs
    given = f"bench_in_t x[1]; bench_out_t f[{outputs}];\n" if predicts else ""
    core = built(plan, level, given, " + bench_model_predict(&model, x, f)" * predicts)
    counted, model = train_counted(core, plan)
    if not predicts:
        return counted, 0
    core.write("x", np.array([n // 2], dtype=np.uint16))
    status, predicted = core.call("bench_model_predict", "model", "x", "f")
    answer = model.predict(np.array([[n // 2]]))
    assert status == answer["status"][0]
    assert np.array_equal(core.read("f", np.dtype(wire_dtype(plan.word_type)).type, outputs),
                          answer["f"].ravel())
    return counted, predicted


def count_fitted(plan: Plan, level: str) -> int:
    """Count the instructions of the fitted values of a training; check the values."""
    n = plan.sizes["n"]
    core = built(plan, level, f"bench_out_t f[{n}];\n", " + bench_train_fitted(&trainer, f)")
    model = train_counted(core, plan)[1]
    status, counted = core.call("bench_train_fitted", "trainer", "f")
    assert isinstance(model, ToeplitzModel)
    answer = model.fitted()
    assert status == answer["status"][0]
    assert np.array_equal(core.read("f", np.dtype(wire_dtype(plan.word_type)).type, n), answer["f"])
    return counted


def built(plan: Plan, level: str, given: str, call: str) -> CortexM:
    """Return a Cortex-M4 with the trainer of a plan.

    `given` declares more variables, and `call` adds a call to the program.
    """
    return counting(plan, f'#include "bench.h"\nbench_model_t model; bench_trainer_t trainer; '
                          f"bench_target_t y[{plan.sizes['n'] * plan.outputs}];\n{given}"
                          f"int main(void) {{ return bench_train(&trainer, &model, y){call}; }}\n", level)


def train_counted(core: CortexM, plan: Plan) -> tuple[int, IntegerModel]:
    """Count the instructions of a training.

    Return them and the integer model, whose values are equal.
    """
    n, outputs = plan.sizes["n"], plan.outputs
    y, model = np.stack([targets(n, seed) for seed in range(outputs)], axis=1), open_model(plan)
    y = y[:, 0] if outputs == 1 else y
    core.write("y", y.astype(np.int16).ravel())
    status, counted = core.call("bench_train", "trainer", "model", "y")
    assert status == int(model.train(None, y)["status"][0])
    state = model.state()
    for name, found in core.read_members("model", plan.memory).items():
        assert name not in state or np.array_equal(found, state[name].ravel()), name
    return counted, model
