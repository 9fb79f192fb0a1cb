"""docs/rtl.md says what the cores do: its clocks, its shares, its example and its figures."""

import importlib.util
import itertools
import re
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from kerncast.cli.main import app
from kerncast.codegen.rtl import (
    LEARNER,
    PREDICTOR,
    generate_rtl,
    model_tag,
    predictor_cycles,
    predictor_period,
    rtl_sources,
)
from kerncast.codegen.rtl.frames import sample_frame, state_frames
from kerncast.codegen.rtl.learner import prediction_cycles, update_cycles
from kerncast.codegen.rtl.solver import MOST_SAMPLES, solver_cycles
from kerncast.hw.rtl.simulators import Simulation
from kerncast.sim.model import open_model

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


def test_ten_classes_take_at_most_three_tenths_more_clocks_than_one_output(rtl):
    several, one = rtl.learner(64, 100, classes=10), rtl.learner(64, 100)
    for lanes in (1, 2, 4, 8, 16):
        assert predictor_cycles(several, lanes) <= 1.3 * predictor_cycles(one, lanes)
        assert predictor_period(several, lanes) <= 1.3 * predictor_period(one, lanes)
        assert update_cycles(several, lanes) <= 1.3 * update_cycles(one, lanes)


@pytest.mark.campaign
def test_the_figures_are_what_the_simulation_shows(rtl, require_simulator):
    require_simulator("icarus")
    figures = {path: path.read_text() for path in (ROOT / "docs" / "figures").glob("rtl_*.svg")}
    rtl.figures()
    assert {path: path.read_text() for path in figures} == figures


@pytest.mark.parametrize(("core", "learning", "passes", "valid", "lanes"), [
    (PREDICTOR, False, 1, "expansion_inst.row", 1), (LEARNER, True, 2, "row_valid", 1),
    (LEARNER, False, 1, "row_valid", 1), (LEARNER, True, 2, "row_valid", 4),
    (LEARNER, False, 1, "row_valid", 4)])
def test_every_clock_of_a_pass_takes_a_term_and_the_shares_are_those_counted(
        rtl, require_simulator, core, learning, passes, valid, lanes):
    require_simulator("icarus")
    columns, budget = 8, 32
    plan, chance = rtl.learner(columns, budget), np.random.default_rng(1)
    model, x = open_model(plan), chance.integers(-2000, 2000, (budget + 1, columns))
    model.update(x[:budget], np.arange(budget))
    model_words, slots = state_frames(plan, model.state())
    given = [("restore", model_words, slots)] if core is LEARNER else [("model", model_words), ("sent",)]
    asked = ("sample", sample_frame(plan, x[budget], 5 if learning else None))
    values = rtl.simulated(plan, core, [valid, "s_axis_x_tready", "m_axis_f_tvalid"],
                           [*given, (*asked, learning) if core is LEARNER else asked, ("answers", 1)], lanes)
    begun, answered = values[1].index(1), values[2].index(1)
    terms, clocks = "".join(map(str, values[0][begun:answered])), answered - begun
    assert [len(run) for run in terms.split("0") if run] == [columns * budget // lanes] * passes
    sizes = f"| {columns} | {budget} |" if lanes == 1 else f"| {lanes} | {columns} | {budget} |"
    rows = [line.split(" | ") for line in rtl.page().splitlines() if line.startswith(sizes)]
    # In a clock with a row all lanes take a term: they divide the columns.
    assert (str(clocks), rtl.share(terms.count("1"), clocks)) in [
        pair for row in rows for pair in itertools.pairwise(row)]


@pytest.mark.parametrize(("word", "kernel"), [(16, "gaussian"), (32, "periodic")])
def test_nine_of_ten_clocks_take_a_term_from_where_the_page_says(rtl, word, kernel):
    _, _, *figures = (text.strip() for text in rtl.shares(word, kernel).strip("|").split("|"))
    operations = ((PREDICTOR.cycles, 1), (update_cycles, 2), (prediction_cycles, 1))
    for (cycles, passes), terms in zip(operations, map(int, figures[1::2]), strict=True):
        few, enough = ((passes * words / cycles(rtl.learner(8, words // 8, word, kernel)))
                       for words in (terms - 8, terms))
        assert few < 0.9 <= enough


@pytest.mark.parametrize("lanes", [1, 4])
def test_nine_of_ten_clocks_of_all_lanes_take_a_term_where_samples_wait(rtl, require_simulator, lanes,
                                                                        tmp_path):
    require_simulator("icarus")
    plan = rtl.learner(8, 32)
    generate_rtl(plan, tmp_path)
    simulation = Simulation(rtl_sources(tmp_path, plan, PREDICTOR), "demo_predictor", "icarus",
                            tmp_path / "sim", {"LANES": lanes})
    model = [model_tag(plan), 32, 0, *[1] * (32 * 9)]
    script = [("model", model), ("sent",), ("watch",), *[("sample", [7] * 8)] * 6, ("answers", 6), ("paces",)]
    paces = simulation.run(script, 20_000)[-1]
    # In a clock that multiplies all lanes do: they divide the columns.
    clocks, multiplying = (sum(paces[name][:4]) for name in ("clocks", "multiplying"))
    assert multiplying / clocks >= 0.9
    assert clocks / 4 == predictor_period(plan, lanes)
    assert f"| {lanes} | 8 | 32 | {predictor_cycles(plan, lanes)} | {clocks // 4} |" in rtl.page()


@pytest.mark.parametrize("lanes", [1, 2, 4])
def test_the_whole_solver_takes_at_most_15_percent_over_2_n_n_clocks(rtl, lanes):
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
