"""The range log: smallest and largest word of each signal, headroom, and casts that saturated."""

from __future__ import annotations

import numpy as np
import pytest

from kerncast.sim.model import open_model
from kerncast.sim.model.ranges import F, Ranges, cast, fit, record
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec

LO, HI = -(2**15), 2**15 - 1


@pytest.fixture
def plan() -> Plan:
    return make_plan(Spec(model={"name": "t", "algorithm": "kernel_lms"}, input={"word": "u8f0"},
                          output={"word": "s12f0"}, kernel={"sigma": 4.0},
                          online={"budget": 4, "eta": 0.5}))


def only(ranges: Ranges) -> object:
    (found,) = list(ranges)
    return found


def test_a_fresh_log_has_seen_nothing(plan: Plan) -> None:
    ranges = Ranges(plan)
    assert list(ranges) == [] and ranges.lowest("f") == ranges.highest("f") == 0.0


def test_a_log_keeps_the_ends_and_the_headroom(plan: Plan) -> None:
    ranges = Ranges(plan)
    for word in (5, -300, 1000):
        record(ranges.log, F, word)
    found = only(ranges)
    assert (found.name, found.format, found.lo, found.hi) == ("f", "s16f14", -300, 1000)
    assert found.headroom_bits == 15 - 10  # 1000 has ten bits
    assert ranges.lowest("f") == -300 / 2**14 and ranges.highest("f") == 1000 / 2**14


@pytest.mark.parametrize(("value", "word", "saturated"), [
    (HI, HI, 0), (HI + 1, HI, 1), (LO, LO, 0), (LO - 1, LO, 1), (0, 0, 0)])
def test_a_cast_counts_as_saturated_beyond_the_rail_and_not_at_it(
        plan: Plan, value: int, word: int, saturated: int) -> None:
    for use in (lambda log: cast(value << 3, 3, 1, LO, HI, log, F), lambda log: fit(value, LO, HI, log, F)):
        ranges = Ranges(plan)
        assert use(ranges.log) == word
        assert only(ranges).saturated == saturated


def test_a_value_that_rounds_up_to_the_rail_is_not_saturated(plan: Plan) -> None:
    ranges = Ranges(plan)
    assert cast(2 * HI - 1, 1, 1, LO, HI, ranges.log, F) == HI
    assert only(ranges).saturated == 0
    assert cast(2 * HI + 1, 1, 1, LO, HI, ranges.log, F) == HI
    assert only(ranges).saturated == 1


def test_a_model_logs_what_it_computes_until_cleared(plan: Plan) -> None:
    model = open_model(plan)
    x, y = np.array([[0], [128], [255]]), np.array([-2048, 0, 2047])
    model.update(x, y)
    seen = {r.name: (r.lo, r.hi) for r in model.ranges}
    assert seen["x"] == (0, 255)
    assert seen["y"] == (-(2**14), round(2047 / 2048 * 2**14))
    assert seen["f"][0] < 0 or seen["f"] == (0, 0)
    assert seen["kernel"][1] <= 2**15
    alpha = model.state()["alpha"]
    assert seen["alpha"][0] <= alpha.min() and alpha.max() <= seen["alpha"][1]
    model.ranges.clear()
    assert list(model.ranges) == []
