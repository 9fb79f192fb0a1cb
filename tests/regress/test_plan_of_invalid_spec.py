"""``kerncast.plan`` of what is neither a spec nor an estimator was a bare TypeError."""

import pytest

import kerncast
from kerncast.sim.errors import KerncastError


@pytest.mark.parametrize("given", [None, 5, {"model": {}}, b"kerncast.toml", kerncast.Spec])
def test_a_plan_of_an_invalid_spec_is_refused_with_the_way_to_one(given: object) -> None:
    with pytest.raises(KerncastError) as told:
        kerncast.plan(given, [[0.0], [1.0]], [0, 1])  # type: ignore[arg-type]
    problem = told.value.problems[0]
    assert problem.code == "E121" and type(given).__name__ in problem.value
    assert "Spec" in problem.allowed and "kerncast init" in problem.remedy
