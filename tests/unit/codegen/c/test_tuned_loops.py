"""The C of a self-tuning trainer: which candidates share the code of a loop."""

import re

import pytest

from kerncast.codegen.generate import render_c
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec


def loops(word, *pairs):
    """Return the candidates and bands of each recursion's code, and the bands of the residual's code."""
    (sigma, lam), *rest = pairs
    plan = make_plan(Spec(
        model={"name": "t", "algorithm": "toeplitz_rls"}, input={"word": "u8f0"}, output={"word": "s12f0"},
        kernel={"sigma": sigma}, numbers={"word": word},
        toeplitz={"n": 64, "lambda": lam, "scheme": "uniform", "solver": "banded", "candidates": rest}))
    files = render_c(plan)
    bands = [int(v) for v in re.findall(r"return t_forward_rows\(t, i, last, (\d+)", files["t_banded.c"])]
    choice = files["t_banded.c"].partition("t_forward_of")[2].partition("default:")[0]
    cases = [[int(k) for k in re.findall(r"case (\d+):", text)] for text in choice.split("return")]
    rows = [int(v) for v in re.findall(r"t_inner_rows\(c, v, rows, product, (\d+)", files["t_certify.c"])]
    assert sorted(bands) == sorted({*plan.integers("candidate_band")})
    return bands, [members for members in cases if members], rows


@pytest.mark.parametrize("word", [16, 32])
def test_each_band_has_its_own_loops(word):
    bands, cases, rows = loops(word, (2.0, 0.3), (1.0, 0.3), (3.0, 0.3))
    assert len(bands) == len(rows) == 3
    assert [len(members) for members in cases] == [1, 1]  # and the default


def test_candidates_of_one_band_share_their_loops():
    bands, cases, rows = loops(16, (2.0, 0.3), (1.0, 0.3), (2.0, 0.32), (1.0, 0.32))
    assert bands == rows
    assert cases == [[0, 2]]


def test_one_band_needs_no_choice_of_loops():
    bands, cases, rows = loops(16, (2.0, 0.3), (2.0, 0.32))
    assert (len(bands), cases, rows) == (1, [], [])
