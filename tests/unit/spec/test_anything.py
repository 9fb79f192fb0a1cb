"""However wrong a spec is, it ends in a KerncastError or in a plan, never in another exception."""

import copy
import warnings

from hypothesis import given, settings
from hypothesis import strategies as st

from kerncast.sim.errors import KerncastError
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec
from kerncast.sim.spec.keys import TABLES, keys

COMMON = {"model": {"name": "m", "algorithm": "toeplitz_rls"}, "input": {"word": "u16f0"},
          "output": {"word": "s12f0"}, "kernel": {"sigma": 2.0}}
STARTS = [COMMON | {"toeplitz": {"n": 16, "lambda": 0.1, "scheme": "uniform"}},
          COMMON | {"model": {"name": "m", "algorithm": "kernel_lms"}, "online": {"budget": 8, "eta": 0.1}}]
PLACES = [(table, key) for table, model in TABLES.items() for key in keys(model)]
VALUES = st.one_of(
    st.integers(-2, 300), st.floats(), st.booleans(), st.text(max_size=4),
    st.sampled_from([1e-12, 1e12, 2**31 - 1, 10**30, "ecg", "digits", "u1f0", "s32f0", "u32f64", "s2f-32",
                     "diagonal_mean", "kernel_lms", {}, {"alpha": "s16f12"}, {"alpha": 3}, 32]),
    st.lists(st.one_of(st.integers(-2, 2), st.floats(allow_nan=False)), max_size=3))


@settings(max_examples=400)
@given(st.sampled_from(STARTS), st.lists(st.tuples(st.sampled_from(PLACES), VALUES), min_size=1, max_size=3))
def test_a_spec_ends_in_a_plan_or_in_problems_that_say_what_to_do(start, changes):
    tables = copy.deepcopy(start)
    for (table, key), value in changes:
        tables.setdefault(table, {})[key] = value
    try:
        with warnings.catch_warnings(action="error"):
            spec = Spec(**tables)
            assert Spec(**spec.model_dump()).hash == spec.hash
            make_plan(spec)
    except KerncastError as error:
        assert error.exit_code == 2
        assert all(p.code and p.message and p.where and p.remedy for p in error.problems)
