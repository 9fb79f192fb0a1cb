"""A spec of online kernel RLS with many columns took minutes and more than 1 GB before it was refused."""

import pytest

from kerncast.sim.errors import KerncastError
from kerncast.sim.planner import make_plan
from kerncast.sim.planner.online import rls
from kerncast.sim.reference.online import kernel_rls
from kerncast.sim.spec import Spec


def spec(columns: int, **keys: object) -> Spec:
    return Spec(
        model={"name": "many", "algorithm": "online_kernel_rls"},
        input={"word": "s8f0", "columns": columns},
        output={"word": "s8f0"},
        kernel={"sigma": 900.0},
        rls={"features": 512, **keys},
    )


@pytest.mark.parametrize(("linear", "code"), [(True, "E206"), (False, "E204")])
def test_too_many_directions_are_refused_before_any_is_drawn(
    linear: bool, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def drawn(*given: object) -> None:
        raise AssertionError("drawn")

    monkeypatch.setattr(kernel_rls, "random_directions", drawn)
    with pytest.raises(KerncastError) as caught:
        make_plan(spec(65535, linear=linear))
    assert caught.value.problems[0].code == code


def test_the_largest_number_of_columns_is_named() -> None:
    most = rls.MOST_DIRECTIONS // 512
    with pytest.raises(KerncastError, match=f"up to {most} "):
        make_plan(spec(most + 1, linear=False))
    plan = make_plan(spec(64, linear=False))
    assert len(plan.tables["directions"].values) == 64 * 512
