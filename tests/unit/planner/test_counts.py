"""The counts that a plan states are those of the model, counted while it runs in plain Python."""

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

WHAT = ("kernel_values", "distance_terms", "multiplications", "divisions")


#: Calls that do as much work as any.
WORST = ("uniform", "diagonal_mean", "static", "generators", "band", "band_bias", "band_refined",
         "band_outputs", "band_ranged", "band_ranged_32", "geometric_16", "geometric_wide",
         "geometric_32", "zeros", "zeros_of_generators", "bias", "refined", "gradients", "star",
         "star_decay", "star_near",
         "simplex", "simplex_all", "star_bounded", "star_begin", "simplex_bounded", "magnitudes",
         "magnitudes_all", "ages", "squares", "weighed_squares_all", "newest", "newest_weighed",
         "newest_squares")
#: The searches of a split update.
RUNS = ("star_run", "simplex_run")


@cache
def every_count() -> dict[str, dict[str, list[dict[str, int]]]]:
    """Count all cases by one program of plain Python, which forks for each."""
    program = Path(__file__).parent / "count_operations.py"
    done = subprocess.run([sys.executable, program, *WORST, *RUNS, "settled", "stream"], capture_output=True,
                          text=True, check=False, env={**os.environ, "KERNCAST_ENGINE": "python"})
    assert done.returncode == 0, done.stderr
    return dict(map(json.loads, done.stdout.splitlines()))


def counted(case: str) -> dict[str, list[dict[str, int]]]:
    return every_count()[case]


@pytest.mark.parametrize("case", WORST)
def test_counts_of_a_plan_are_those_of_the_model_in_the_worst_case(case):
    result = counted(case)
    if case == "uniform" or case.startswith("zeros"):  # a point is a product
        learning, points = result["found"][0], result["planned"][0]["distance_terms"]
        learning["multiplications"] -= points - 1  # twice the step is a shift
        learning["distance_terms"] = learning["products in distance_terms"] = points
    for found, planned in zip(result["found"], result["planned"], strict=True):
        assert {what: found.get(what, 0) for what in WHAT} == {what: planned.get(what, 0) for what in WHAT}
        if case.startswith("geometric"):  # the distance has no product
            continue
        if case.startswith("band") and "kernel_values" not in found:  # r is a table
            continue
        assert found["products in distance_terms"] == found["distance_terms"]
        assert found["products in exponents"] == 2 * found["kernel_values"]
        products = 2 if case.endswith(("refined", "ranged_32")) else 1  # of the words of 32 bits
        assert found["products in kernel_values"] == products * found["kernel_values"]


def test_the_mean_cost_of_settled_fklms_is_an_update_without_searches():
    """In random order, once the budget has settled: sim.planner.lms_counts says why."""
    result = counted("settled")
    found, planned = result["found"][0], result["planned"][0]
    assert {what: found[what] / 100 for what in planned} == pytest.approx(planned, rel=0.03)


def test_no_update_of_a_long_stream_does_more_than_the_plan_states():
    result = counted("stream")
    found, planned = result["found"][0], result["planned"][0]
    assert all(0 < found[what] <= count for what, count in planned.items())
    assert found["kernel_values"] == planned["kernel_values"]


@pytest.mark.parametrize("case", RUNS)
def test_the_costliest_search_of_a_split_update_costs_what_the_plan_states(case):
    result = counted(case)
    assert {what: result["found"][0].get(what, 0) for what in WHAT} == {
        what: result["planned"][0].get(what, 0) for what in WHAT}
    assert result["planned"][0]["distance_terms"] > 0
