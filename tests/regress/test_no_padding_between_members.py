"""An odd number of samples once put short arrays before long ones: the model's size was not the plan's."""

import pytest

from kerncast.sim.plan import C_BYTES
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec


@pytest.mark.parametrize("options", [{}, {"refine": 2, "bias": True}, {"bias": True}, {"solver": "schur"},
                                     {"solver": "lookahead"}, {"solver": "lookahead_f32"}])
@pytest.mark.parametrize("word", [16, 24])
def test_every_member_is_aligned_to_its_size(word, options):
    plan = make_plan(Spec(
        model={"name": "t", "algorithm": "toeplitz_rls"}, input={"word": "s24f0", "columns": 3},
        output={"word": "s16f0"}, kernel={"sigma": 5e5}, numbers={"word": word},
        toeplitz={"n": 15, "lam": 0.5, "scheme": "diagonal_mean", **options}))
    at = 0
    for member in plan.memory:
        assert at % C_BYTES[member.ctype] == 0, member.name
        at += member.bytes
    assert at == plan.state_bytes
