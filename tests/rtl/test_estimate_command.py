"""`kerncast estimate`: tables, JSON and picture of a sweep hold the same; what goes wrong leaves the rest."""

import json
import re
import tempfile

import pytest
from typer.testing import CliRunner

from kerncast.cli.main import app
from kerncast.codegen.generate import generate
from kerncast.codegen.rtl import CORES
from kerncast.hw.rtl import estimate, synthesis
from kerncast.hw.rtl.synthesis import Area, Placement
from kerncast.sim.errors import EXIT_BAD_INPUT, EXIT_DIFFERENT, KerncastError, fail

from .conftest import make

EXIT_INTERRUPTED = 130


@pytest.fixture
def folder(tmp_path):
    """A generated folder with a predictor and a learner."""
    generate(make("gains16"), tmp_path / "out")
    return tmp_path / "out"


@pytest.fixture
def programs(monkeypatch, tmp_path):
    """In place of yosys and nextpnr figures that tell cores, lanes and families apart; where they worked."""
    (tmp_path / "work").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "work"))
    monkeypatch.setattr(estimate, "find_tools", lambda names: None)

    def synthesise(sources, top, family, work, parameters, limit):
        lanes, seed = parameters.get("LANES", 1), len(top) * 1000 + len(family.id)
        (work / "lanes").write_text(str(lanes))
        return Area(seed + lanes, seed + 11, seed + 12, 13 * lanes, 14, 15)

    def place(work, part, clock, seeds, limit):
        lanes = int((work / "lanes").read_text())
        return Placement(part, {seed: 100.25 + lanes + seed for seed in seeds}, {"MULT18X18D": (lanes, 28)},
                         ("a_reg", "b_reg"))

    monkeypatch.setattr(estimate, "synthesise", synthesise)
    monkeypatch.setattr(estimate, "place", place)
    return tmp_path / "work"


def run(*words):
    return CliRunner().invoke(app, ["estimate", *map(str, words)])


def test_tables_and_json_hold_the_same_figures(programs, folder):
    options = (folder, "--lanes", "1,2,4", "--family", "all", "--seeds", "2")
    text, found = run(*options).stdout, json.loads(run(*options, "--json").stdout)
    wanted = [(core.name, lanes) for core in CORES[:2] for lanes in (1, 2, 4)]
    assert [(one["core"], one["lanes"]) for one in found["estimates"]] == wanted
    lines = [re.split(r" {2,}", line.strip()) for line in text.splitlines()]
    for one in found["estimates"]:
        head, placed = [one["core"], str(one["lanes"])], one["placement"]
        for family, area in one["area"].items():
            clocks = one["period_cycles"] / one["samples_per_operation"]
            assert [*head, family, *(f"{count:,}" for count in area.values()),
                    f"{(area['lut'] + area['ff']) * clocks:,.0f}"] in lines
            assert one["cell_clocks_per_sample"][family] == round((area["lut"] + area["ff"]) * clocks, 1)
        seeds = ", ".join(f"{fmax:.1f}" for fmax in placed["seeds"].values())
        share = max(used / there for used, there in placed["used"].values())
        assert [*head, placed["part"], f"{placed['fmax_mhz']:.1f} of {seeds}", f"MULT18X18D {share:.0%}",
                one["operation"], f"{one['cycles']:,}", "-", f"{one['period_cycles']:,.12g}",
                f"{one['samples_per_second']:,.0f}"] in lines
        assert [*head, " > ".join(placed["critical_path"])] in lines


def test_progress_states_the_step_and_their_number(programs, folder):
    result = run(folder, "--core", "predictor", "--lanes", "1,2", "--family", "ecp5", "--family", "ice40")
    steps = [line.split(":")[0] for line in result.stderr.splitlines() if line[0].isdigit()]
    assert steps == [f"{k}/6 predictor, {lanes}" for k, lanes in enumerate(
        ["1 lane"] * 3 + ["2 lanes"] * 3, start=1)]


@pytest.mark.parametrize("ending", ["svg", "png", "pdf"])
def test_the_picture_is_of_the_sweep_and_the_same_every_time(programs, folder, tmp_path, ending):
    files = [tmp_path / f"{name}.{ending}" for name in "ab"]
    for file in files:
        result = run(folder, "--core", "predictor", "--lanes", "4,1,2", "--plot", file, "--json")
        assert result.exit_code == 0, result.output
        assert json.loads(result.stdout)["plot"] == str(file)
    assert files[0].read_bytes() == files[1].read_bytes()
    if ending == "svg":
        for word in ("samples per second", "look-up tables", "multipliers", "predictor", "lanes"):
            assert word in files[0].read_text()


def test_every_point_of_the_picture_is_a_figure_of_the_sweep(programs, folder, tmp_path, monkeypatch):
    from matplotlib.axes import Axes

    drawn, plot = [], Axes.plot
    monkeypatch.setattr(Axes, "plot", lambda axes, x, y, *rest, **more: (
        drawn.append((more["label"], x, y)), plot(axes, x, y, *rest, **more))[1])
    result = run(folder, "--core", "predictor", "--lanes", "1,2", "--family", "ecp5", "--family", "xilinx7",
                 "--plot", tmp_path / "a.svg", "--json")
    found = json.loads(result.stdout)["estimates"]
    values = [("ecp5", [one["samples_per_second"] for one in found])] + [
        (family, [one["area"][family][kind] for one in found])
        for kind in ("lut", "dsp") for family in ("ecp5", "xilinx7")]
    assert [(label, x, pytest.approx(y)) for label, x, y in drawn] == [
        (f"predictor, {family}", [1, 2], y) for family, y in values]


def test_a_core_that_is_not_placed_leaves_the_others(programs, folder, tmp_path, monkeypatch):
    placed = estimate.place

    def place(work, *rest):
        if (work / "lanes").read_text() == "4":
            raise fail("E344", "exceeded its time limit", where="--limit",
                       value="not finished after 3 minutes")
        return placed(work, *rest)

    monkeypatch.setattr(estimate, "place", place)
    options = (folder, "--core", "predictor", "--lanes", "2,4", "--plot", tmp_path / "lanes.svg")
    result = run(*options)
    assert result.exit_code == EXIT_BAD_INPUT
    assert "predictor, 4 lanes: --limit: E344" in result.stderr
    assert "103.2" in result.stdout
    found = json.loads((answer := run(*options, "--json")).stdout)
    assert answer.exit_code == EXIT_BAD_INPUT
    assert [one["problems"] for one in found["estimates"]] == [[], ["E344"]]
    assert [error["code"] for error in found["errors"]] == ["E344"]
    assert found["estimates"][1]["placement"] is None
    assert found["estimates"][1]["area"]["ecp5"]["lut"] > 0
    assert (tmp_path / "lanes.svg").is_file()


def test_clocks_that_differ_are_results_that_differ(programs, folder, monkeypatch, require_simulator):
    require_simulator("icarus")
    monkeypatch.setattr("kerncast.hw.rtl.clocks.count_clocks", lambda *words: 7)
    result = run(folder, "--core", "predictor", "--simulate", "icarus", "--json")
    assert result.exit_code == EXIT_DIFFERENT
    assert json.loads(result.stdout)["mismatches"] == 1


def test_an_interruption_leaves_what_was_found_and_no_folder(programs, folder, monkeypatch):
    placed = estimate.place

    def place(work, *rest):
        if (work / "lanes").read_text() == "2":
            raise KeyboardInterrupt
        return placed(work, *rest)

    monkeypatch.setattr(estimate, "place", place)
    result = run(folder, "--core", "predictor", "--lanes", "1,2")
    assert result.exit_code == EXIT_INTERRUPTED
    assert "102.2" in result.stdout
    assert "interrupted" in result.stderr
    assert list(programs.iterdir()) == []


def test_a_core_that_is_not_synthesised_leaves_the_others(programs, folder, tmp_path, monkeypatch):
    synthesised = estimate.synthesise

    def synthesise(sources, top, family, work, parameters, limit):
        if (parameters["LANES"], family.id) == (2, "ecp5"):
            raise fail("E344", "yosys exceeded its time limit", where="--limit", value=f"{limit:g} s")
        return synthesised(sources, top, family, work, parameters, limit)

    monkeypatch.setattr(estimate, "synthesise", synthesise)
    options = (folder, "--core", "predictor", "--lanes", "1,2,4", "--family", "all", "--limit", "1")
    result = run(*options, "--plot", tmp_path / "lanes.svg")
    assert result.exit_code == EXIT_BAD_INPUT
    assert "102.2" in result.stdout and "105.2" in result.stdout
    assert "predictor, 2 lanes: --limit: E344" in result.stderr and "60 s" in result.stderr
    found = json.loads(run(*options, "--json").stdout)["estimates"]
    assert [list(one["area"]) for one in found] == [["ecp5", "ice40", "xilinx7"], ["ice40", "xilinx7"],
                                                    ["ecp5", "ice40", "xilinx7"]]
    assert [one["problems"] for one in found] == [[], ["E344"], []]


def test_lanes_of_a_core_that_has_one_are_refused_before_the_work(programs, tmp_path):
    generate(make("band16"), tmp_path / "band")
    result = run(tmp_path / "band", "--core", "solver", "--lanes", "1,2")
    assert result.exit_code == EXIT_BAD_INPUT
    assert "the solver core of this plan supports only one lane" in result.stderr
    assert result.stdout == ""


def test_a_limit_that_no_clock_counts_is_refused(folder):
    assert run(folder, "--limit", "inf").exit_code == EXIT_BAD_INPUT


def test_an_unknown_simulator_is_refused_with_those_there_are(folder):
    result = run(folder, "--simulate", "vcs")
    assert result.exit_code == EXIT_BAD_INPUT
    assert "--simulate: E420" in result.stderr
    assert "icarus, verilator" in result.stderr


@pytest.mark.parametrize(("name", "code"), [("lanes.txt", "E254"), ("none/lanes.svg", "E191"),
                                            ("a.svg", "E191")])
def test_a_picture_that_cannot_be_written_is_refused_before_the_work(folder, tmp_path, monkeypatch, name,
                                                                     code):
    monkeypatch.setattr(estimate, "find_tools", lambda names: pytest.fail("the work has begun"))
    (tmp_path / "a.svg").mkdir()
    result = run(folder, "--plot", tmp_path / name)
    assert result.exit_code == EXIT_BAD_INPUT
    assert code in result.stderr
    assert "--plot" in result.stderr


def test_cores_that_were_not_placed_are_drawn_without_speed(programs, folder, tmp_path):
    plain, placed = tmp_path / "a.svg", tmp_path / "b.svg"
    assert run(folder, "--core", "predictor", "--seeds", "0", "--plot", plain).exit_code == 0
    assert run(folder, "--core", "predictor", "--plot", placed).exit_code == 0
    assert ["samples per second" in file.read_text() for file in (plain, placed)] == [False, True]


def stand_in(monkeypatch, tmp_path, code):
    """A program written in Python, in place of yosys."""
    (tmp_path / "stand_in.py").write_text(code)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("YOWASP_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setitem(synthesis._PROGRAMS, "yosys", ("stand-in", "stand_in", "run"))
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def test_a_program_that_takes_too_long_is_ended(monkeypatch, tmp_path):
    work = stand_in(monkeypatch, tmp_path, "import signal\ndef run(words): signal.pause()\n")
    with pytest.raises(KerncastError, match="E344") as caught:
        synthesis.run_program("yosys", [], work, limit=0.3)
    problem, = caught.value.problems
    assert problem.where == "--limit"
    assert "0.005 minutes" in problem.value


def test_temporary_files_of_a_program_are_removed_with_the_folder(monkeypatch, tmp_path):
    work = stand_in(monkeypatch, tmp_path, "import tempfile\ndef run(words): tempfile.mkdtemp(prefix='t')\n")
    synthesis.run_program("yosys", [], work)
    assert [path.name[0] for path in work.iterdir()] == ["t"]
