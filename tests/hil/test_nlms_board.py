"""A linear part of several outputs, learnt by NLMS on an emulated board and on the host as in the model."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from kerncast.hw.backends import open_backend
from kerncast.sim.backend import Backend
from kerncast.sim.model import open_model
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec
from kerncast.sim.statuses import DeviceStatus

if TYPE_CHECKING:
    from ..conftest import Ledger

#: Name -> columns and keys of [online]; 5 and 8 features, of which 28 bits are used, and 68.
CASES: dict[str, tuple[int, dict[str, Any]]] = {
    "few": (4, {"reduction": "nt", "quantise": 0.6}), "eight": (7, {"joint": True, "linear_step": 1.9}),
    "many": (67, {"gate": True, "linear_step": 0.05})}


def plan_of(name: str) -> Plan:
    columns, online = CASES[name]
    return make_plan(Spec(
        model={"name": name, "algorithm": "kernel_lms"}, input={"word": "s12f0", "columns": columns},
        output={"word": "s12f0", "outputs": 3}, kernel={"sigma": 900.0}, numbers={"word": 16},
        online={"budget": 6, "eta": 0.3, "linear": "nlms", **online}))


def compared(model: Backend, other: Backend, x: Any, y: Any) -> tuple[int, set[int]]:
    """Learn with both, and compare; return the number of values and the statuses."""
    expected, found = model.update(x, y), other.update(x, y)
    for name, values in expected.items():
        assert found[name].tolist() == values.tolist(), name
    state = other.state()
    for member, values in model.state().items():
        assert state[member].tolist() == values.tolist(), member
    return sum(values.size for values in (*expected.values(), *model.state().values())), {
        int(status) for status in expected["status"]}


def long_weights(model: Backend, random: np.random.Generator) -> bytes:
    """A saved state whose weights are at both sides of 2^30, and at full scale."""
    state = dict(model.state())
    edges = [edge + d for edge in (-(1 << 30), 1 << 30) for d in (-2, -1, 0, 1, 2)]
    full = [sign * ((1 << 31) - 1 - d) for sign in (-1, 1) for d in (0, 1, 99)]
    state["linear_w"] = random.choice([*edges, *full, 0, -5, 12345678], state["linear_w"].size)
    model.load(state)
    return model.save()


@pytest.mark.covering
@pytest.mark.parametrize("where", ["emu:mps2-an386:unicorn", "emu:mps2-an386:unicorn:auto:-Os",
                                   "host:gcc:-O2"])
@pytest.mark.parametrize("name", CASES)
def test_the_weights_of_several_outputs_are_those_of_the_model(name: str, where: str, ledger: "Ledger",
                                                               require_tool: Callable[[str, str], str]
                                                               ) -> None:
    require_tool("python:unicorn", "python -m pip install unicorn")
    plan, random, columns = plan_of(name), np.random.default_rng(0), CASES[name][0]
    model, other = open_model(plan), open_backend(plan, where)
    words, seen = compared(model, other, random.integers(-2048, 2048, (40, columns)),
                           random.integers(-2048, 2048, (40, 3)))
    for _ in range(8):
        other.restore(long_weights(model, random))
        more, statuses = compared(model, other, random.choice([-2048, 2047], (2, columns)),
                                  random.choice([-2048, 2047], (2, 3)))
        words, seen = words + more, seen | statuses
    assert DeviceStatus.SATURATED in seen
    other.close()
    ledger.record(backend=where, words=words, mismatches=0, case=f"NLMS, {name}")
