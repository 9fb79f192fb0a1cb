"""docs/rtl.md says what the cores do: its clocks, its shares, its example and its figures."""

import importlib.util
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from kerncast.cli.main import app
from kerncast.codegen.rtl import PREDICTOR
from kerncast.codegen.rtl.learner import update_cycles
from kerncast.codegen.rtl.solver import MOST_SAMPLES, solver_cycles

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def rtl():
    spec = importlib.util.spec_from_file_location("rtl_page", ROOT / "benchmarks" / "rtl.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_what_the_formulas_give(rtl):
    page = (ROOT / "docs" / "rtl.md").read_text(encoding="utf-8")
    assert page == rtl.page()
    for figure in re.findall(r"\((figures/[^)]+)\)", page):
        assert (ROOT / "docs" / figure).is_file()


@pytest.mark.campaign
def test_the_figures_are_what_the_simulation_shows(rtl, require_simulator):
    require_simulator("icarus")
    figures = {path: path.read_text() for path in (ROOT / "docs" / "figures").glob("rtl_*.svg")}
    rtl.figures()
    assert {path: path.read_text() for path in figures} == figures


@pytest.mark.parametrize(("columns", "budget"), [(8, 32), (64, 41), (4, 64), (256, 2)])
def test_nine_of_ten_clocks_multiply_from_256_words_on(rtl, columns, budget):
    # Beside those in which a sample is taken, and a vector exchanged.
    plan, words = rtl.learner(columns, budget), columns * budget
    assert words / (PREDICTOR.cycles(plan) - columns) >= 0.9
    assert 2 * words / (update_cycles(plan) - 2 * columns - 1) >= 0.9


@pytest.mark.parametrize("lanes", [1, 2, 4])
def test_the_solver_with_all_around_it_takes_2_n_n_clocks_and_15_in_a_hundred(rtl, lanes):
    assert solver_cycles(rtl.grid(256), lanes) <= 1.15 * 2 * 256**2 / lanes


@pytest.mark.parametrize(("core", "change", "code", "told"), [
    ("learner", ("", ""), "E307", "kernel_lms"), ("decider", ("", ""), "E313", "trainer"),
    ("solver", ("n = 8", f"n = {MOST_SAMPLES + 1}"), "E306", "2048"),
    ("trainer", ("lambda", "refine = 1\nlambda"), "E307", "refine = 0")])
def test_gen_refuses_a_plan_that_the_core_asked_for_cannot_hold(tmp_path, core, change, code, told):
    spec = tmp_path / "grid.toml"
    text = (ROOT / "examples" / "rtl" / "grid.toml").read_text()
    spec.write_text(text.replace("u8f0", "u13f0" if core == "solver" else "u8f0").replace(*change))
    result = CliRunner().invoke(app, ["gen", str(spec), "-o", str(tmp_path / "out"), "--core", core])
    assert result.exit_code == 2
    assert not (tmp_path / "out").exists()
    assert code in result.output
    assert told in result.output
