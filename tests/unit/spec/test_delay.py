"""The delay line of a spec: what it sets, and what refuses it."""

import pytest

from kerncast.sim.errors import KerncastError
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec


def tapped(algorithm="kernel_lms", input=None, data=None, **tables):
    return {"model": {"name": "m", "algorithm": algorithm}, "kernel": {"sigma": 3.0},
            "input": {"word": "s12f0", "delay": 4, **(input or {})}, "output": {"word": "s12f0"},
            **(tables or {"online": {"budget": 4, "eta": 0.1}}), **({"data": data} if data else {})}


def test_a_delay_line_sets_the_columns():
    assert Spec(**tapped()).input.columns == 4
    assert Spec(**tapped()) == Spec(**tapped(input={"columns": 4}))
    assert Spec.from_text(Spec(**tapped()).to_toml()) == Spec(**tapped())


def test_channels_multiply_the_columns_and_repeat_their_offsets():
    x = Spec(**tapped(input={"channels": 2, "offset": [1, 2], "gain": [0.5, 4.0], "unit": ["g", "V"]})).input
    assert (x.columns, x.offsets, x.units) == (8, (1, 2) * 4, ("g", "V") * 4)
    assert x.gains == (0.5, 4.0) * 4
    plan = make_plan(Spec(**tapped(input={"channels": 2, "offset": [1, 2], "decimate": 8})))
    assert (plan.delay, plan.channels, plan.decimate, plan.sizes["D"]) == (4, 2, 8, 8)
    assert plan.integers("x_offset") == (1, 2) * 4


@pytest.mark.parametrize(("values", "code", "place"), [
    (tapped(input={"channels": 2, "columns": 4}), "E112", "[input] columns"),
    (tapped(input={"channels": 3, "gain": [1.0, 1.0]}), "E112", "[input] gain"),
    (tapped(input={"channels": 1}), "E108", "[input] channels"),
    (tapped(input={"channels": 256, "delay": 65}), "E108", "[input] channels"),
    (tapped(input={"decimate": 3}), "E109", "[input] decimate"),
    (tapped(input={"decimate": 512}), "E109", "[input] decimate"),
    (tapped(input={"channels": 2}, data={"file": "a.csv", "lagged": True}), "E113", "[input] channels"),
    (tapped(input={"decimate": 2}, data={"file": "a.csv", "lagged": True}), "E113", "[input] decimate"),
    (tapped(input={"channels": 2}, data={"builtin": "equaliser"}), "E115", "[input] delay"),
    (tapped(input={"channels": 2, "delay": None}), "E113", "[input] channels"),
    (tapped(input={"decimate": 2, "delay": None}), "E113", "[input] decimate"),
    (tapped(input={"columns": 3}), "E112", "[input] columns"),
    (tapped(input={"gain": [1.0, 1.0, 1.0, 1.0]}), "E113", "[input] gain"),
    (tapped(input={"offset": [0, 0, 0, 0]}), "E113", "[input] offset"),
    (tapped("kernel_cg", cg={"n": 8, "lambda": 0.1}), "E113", "[input] delay"),
    (tapped("toeplitz_rls", toeplitz={"n": 8, "lambda": 0.1, "scheme": "diagonal_mean"}), "E113",
     "[input] delay"),
    (tapped(data={"file": "a.csv", "missing": "drop"}), "E113", "[data] missing"),
    (tapped(input={"delay": 1}), "E108", "[input] delay"),
    (tapped(input={"delay": 64, "word": "u5f0"}, data={"builtin": "digits"}), "E115", "[input] delay"),
])
def test_a_delay_line_that_cannot_be_is_refused(values, code, place):
    with pytest.raises(KerncastError) as caught:
        Spec(**values)
    assert (code, place) in [(p.code, p.where) for p in caught.value.problems]
    assert all(p.allowed and p.remedy for p in caught.value.problems)
