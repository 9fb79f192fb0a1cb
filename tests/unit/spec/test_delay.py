"""The delay line of a spec: what it sets, and what refuses it."""

import pytest

from kerncast.sim.errors import KerncastError
from kerncast.sim.spec import Spec


def tapped(algorithm="kernel_lms", input=None, data=None, **tables):
    return {"model": {"name": "m", "algorithm": algorithm}, "kernel": {"sigma": 3.0},
            "input": {"word": "s12f0", "delay": 4, **(input or {})}, "output": {"word": "s12f0"},
            **(tables or {"online": {"budget": 4, "eta": 0.1}}), **({"data": data} if data else {})}


def test_a_delay_line_sets_the_columns():
    assert Spec(**tapped()).input.columns == 4
    assert Spec(**tapped()) == Spec(**tapped(input={"columns": 4}))
    assert Spec.from_text(Spec(**tapped()).to_toml()) == Spec(**tapped())


@pytest.mark.parametrize(("values", "code", "place"), [
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
