"""One slice of a training takes O(n) instructions on a Cortex-M4."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from kerncast.benchmarks.banded import planned
from kerncast.benchmarks.slices import measured
from kerncast.sim.model import open_model
from kerncast.sim.plan import Plan, wire_dtype
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec
from kerncast.sim.statuses import DeviceStatus

from .interrupted import Interrupted, build

Raw = NDArray[np.int64]
#: Samples, and the most instructions of a slice for each: a block of look-ahead takes 1,400.
N, MOST = 96, 1_800
#: Trainers whose whole training takes time n^2 or n^3.
TRAINERS: dict[str, dict[str, object]] = {
    "levinson": {"solver": "levinson", "scheme": "uniform"},
    "schur": {"solver": "schur", "scheme": "uniform"},
    "means": {"scheme": "diagonal_mean_biased"},
    "refined": {"scheme": "uniform", "refine": 2, "bias": True},
    "band_refined": {"solver": "banded", "scheme": "uniform", "refine": 2},
    "lookahead": {"solver": "lookahead", "scheme": "diagonal_mean"},
    "lookahead_f32": {"solver": "lookahead_f32", "scheme": "diagonal_mean"},
}


def plan_of(name: str) -> Plan:
    columns = 1 if TRAINERS[name].get("scheme") == "uniform" else 2
    return make_plan(Spec(
        model={"name": name, "algorithm": "toeplitz_rls"},
        input={"word": "u8f0", "columns": columns}, output={"word": "s12f0"},
        kernel={"sigma": 1.2 if columns == 1 else 200.0}, numbers={"word": 16},
        toeplitz={"n": N, "lam": 1e-4 if "look" in name else 0.3, **TRAINERS[name]}))


def samples(plan: Plan) -> tuple[Raw, Raw]:
    """Inputs and targets; those of look-ahead need a block of several rows, which costs most."""
    shape = plan.sizes["n"], plan.sizes["D"]
    for seed in range(20):
        rng = np.random.default_rng(seed)
        x, y = rng.integers(0, 256, shape), rng.integers(-2048, 2048, shape[0])
        if not plan.looks_ahead:
            return x, y
        model = open_model(plan)
        model.train(x, y)
        if model.workspace()["blocks"].max() > 1:
            return x, y
    raise AssertionError("no seed gives a block of several rows")


def max_slice_cost(core: Interrupted, plan: Plan) -> int:
    """Train in slices of one step; return the largest instruction count of a call."""
    p, columns = plan.name, plan.sizes["D"]
    x, y = samples(plan)
    kind = np.dtype(wire_dtype(plan.signals["x_raw"].format.c_type))
    core.write("x", x.astype(kind))
    core.start_counting()
    core.call(f"{p}_train_begin", "trainer")
    most = 0
    for i, target in enumerate(y):
        at = () if plan.uniform else (core.symbols["x"] + i * columns * kind.itemsize,)
        status, spent = core.call(f"{p}_train_push", "trainer", *at, int(target))
        most = max(most, spent)
        assert status == int(DeviceStatus.OK)
    status = int(DeviceStatus.PENDING)
    while status == int(DeviceStatus.PENDING):
        status, spent = core.call(f"{p}_train_run", "trainer", 1)
        most = max(most, spent)
    assert status == int(DeviceStatus.OK)
    return most


@pytest.mark.parametrize("name", TRAINERS)
def test_a_slice_takes_at_most_a_multiple_of_n_instructions(name, tmp_path: Path, require_tool) -> None:
    require_tool("arm-none-eabi-gcc", "sudo apt-get install -y gcc-arm-none-eabi")
    plan = plan_of(name)
    spent = max_slice_cost(build(plan, tmp_path, "-O2"), plan)
    assert spent < MOST * N, f"{spent:,} instructions"


def test_pushes_of_blocks_and_runs_of_steps_add_little_to_a_training(require_tool) -> None:
    require_tool("arm-none-eabi-gcc", "sudo apt-get install -y gcc-arm-none-eabi")
    plan = planned("banded", 16, 256, 3.0, 0.1)
    blocking, (single, several) = measured(plan, "-DKC_PORTABLE=1", ((1, 1), (64, 8)))
    assert several.total < 1.05 * blocking < single.total
    assert several.largest < blocking / 4
