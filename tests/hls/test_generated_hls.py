"""What is generated as HLS C++: when, from what, how wide, with which factors, and what is refused."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kerncast.codegen.generate import generate, render_all
from kerncast.codegen.hls import CORES, DIALECTS, render_hls, sources
from kerncast.codegen.hls.cores import MOST_COLUMNS
from kerncast.hw.backends import check_name, open_backend
from kerncast.hw.hls.headers import header_folder
from kerncast.hw.hls.simulation import COMPILERS, cpp_compiler
from kerncast.sim.errors import EXIT_TOOL_MISSING, KerncastError
from kerncast.sim.model import open_model
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.replay.vectors import make_vectors
from kerncast.sim.spec import Spec

from .conftest import SPECS, make

BOTH = sorted(DIALECTS)


def tables(**more: dict[str, object]) -> Plan:
    """A small plan with other tables."""
    usual = {"model": {"name": "t", "algorithm": "toeplitz_rls"}, "input": {"word": "u8f0"},
             "output": {"word": "s8f0"}, "kernel": {"sigma": 3.0},
             "toeplitz": {"n": 8, "lambda": 0.1, "scheme": "uniform"}}
    return make_plan(Spec(**{name: table for name, table in (usual | more).items() if table is not None}))


# ---- when ----
def test_gen_writes_the_dialects_that_the_spec_requests_and_no_other(tmp_path):
    asked = tables(hls={"dialects": ["catapult"]})
    generate(asked, tmp_path)
    assert (tmp_path / "hls" / "catapult" / "t_trainer.cpp").is_file()
    assert not (tmp_path / "hls" / "vitis").exists()
    generate(tables(), tmp_path)
    assert not (tmp_path / "hls").exists()


def test_hls_options_change_no_decision():
    plans = [tables(), tables(hls={}), tables(hls={"lanes": 4, "clock": 5.0})]
    assert len({plan.hash for plan in plans}) == 1
    assert Plan.from_json(plans[2].to_json()).evidence["hls"]["lanes"] == 4


@pytest.mark.parametrize("dialect", BOTH)
@pytest.mark.parametrize("case", sorted(SPECS))
def test_same_plan_same_bytes_laid_out_for_reading(case, dialect):
    files = render_hls(make(case), dialect)
    assert files == render_hls(make(case), dialect)
    for name, text in files.items():
        lines = text.splitlines()
        assert [line for line in lines if line != line.rstrip() or "\t" in line] == [], name
        assert "\n\n\n" not in text and text.endswith("\n") and not text.endswith("\n\n"), name
        if name.endswith(("pp", "tcl", "cfg")):
            assert [line for line in lines if len(line) > 110] == [], name


def test_every_file_that_is_named_is_there():
    for case in SPECS:
        for dialect in BOTH:
            files = {Path(name).name: text for name, text in render_hls(make(case), dialect).items()}
            named = {word for text in files.values() for word in re.findall(r'#include "(\S+)"', text)}
            named |= {*sources(make(case)), "prim.hpp", "dialect.hpp"}
            named |= {word for text in files.values() for word in re.findall(r"_file=(\S+\.[ch]pp)", text)}
            assert named <= set(files)


# ---- how wide, with which factors ----
def test_types_are_as_wide_as_the_plan_requires():
    plan = tables(input={"word": "u6f0"}, kernel={"sigma": 2.0})
    text = render_hls(plan, "vitis")["hls/vitis/t_plan.hpp"]
    widths = {name: width for width, name in re.findall(r"typedef kc::(\w+<\d+>) (\w+);", text)}
    assert widths["raw_t"] == "uint<6>"
    assert widths["x_t"] == "uint<6>"
    assert widths["distance_t"] == f"uint<{(63 * 63).bit_length()}>"
    assert widths["sum_t"] == "sint<35>"  # eight products of 16 bits by 16
    assert "<64>" not in " ".join(widths.values())


@pytest.mark.parametrize(("dialect", "pragma"), [
    ("vitis", "#pragma HLS UNROLL factor=4"), ("catapult", "#pragma hls_unroll 4")])
def test_lanes_become_pragmas(dialect, pragma):
    text = render_hls(tables(hls={"lanes": 4}), dialect)[f"hls/{dialect}/t_levinson.hpp"]
    assert text.count(f"{pragma}\n") == 7  # sums, a, and x, and what rotates their words
    alone = render_hls(tables(), dialect)[f"hls/{dialect}/t_levinson.hpp"]
    assert not re.search(r"UNROLL factor|hls_unroll", alone)


def test_a_row_starts_as_often_as_its_lanes_allow():
    plan = tables(model={"name": "t", "algorithm": "kernel_lms"}, input={"word": "s8f0", "columns": 10},
                  toeplitz=None, online={"budget": 8, "eta": 0.5}, hls={"lanes": 4})
    vitis = render_hls(plan, "vitis")
    assert "#pragma HLS PIPELINE II=3\n" in vitis["hls/vitis/t_lms.hpp"]
    assert "ARRAY_PARTITION variable=s.centers type=cyclic factor=4 dim=2" in vitis["hls/vitis/t_learner.cpp"]
    assert "#pragma HLS INTERFACE axis port=s_axis_x\n" in vitis["hls/vitis/t_learner.cpp"]
    assert "#pragma HLS INTERFACE s_axilite port=command bundle=control\n" in vitis["hls/vitis/t_learner.cpp"]
    catapult = render_hls(plan, "catapult")
    assert "#pragma hls_pipeline_init_interval 3\n" in catapult["hls/catapult/t_lms.hpp"]
    assert "#pragma hls_design top\nvoid t_learner(" in catapult["hls/catapult/t_learner.cpp"]
    assert not any("#pragma HLS" in text for name, text in catapult.items() if not name.endswith("prim.hpp"))


def test_a_pipelined_iteration_reads_no_address_chosen_by_the_one_before():
    found = []
    for case, file in (("learner16", "lms"), ("grid16", "levinson"), ("band16", "banded")):
        text = render_hls(make(case), "catapult")[f"hls/catapult/{case}_{file}.hpp"]
        for loop in re.findall(r"init_interval \d+\n(.*?\n    }\n)", text, re.DOTALL):
            turn = re.search(r"for \(int (\w+)", loop)[1]
            found += [(turn, place) for place in re.findall(r"\b[st]\.\w+\[([^]]+)\]", loop)]
    assert len(found) > 16
    assert [place for turn, place in found if turn not in re.findall(r"\w+", place)] == []


#: Label, condition and pragmas of a loop.
LOOP = re.compile(r"^ *(?:(\w+): )?(?:for|while) \((?:[^;\n]*; )?([^;\n]*?)(?:; .*)?\) \{(?: //.*)?\n"
                  r"((?:#pragma.*\n)*)", re.MULTILINE)
#: Bounds that the tool knows: constants of the plan.
CONSTANT = re.compile(r"\w+ < (columns|vectors|lanes|kernel_degree|outputs|answer_words|\d+)")


@pytest.mark.parametrize("case", sorted(SPECS))
def test_every_loop_has_a_label_and_a_bound_for_the_reports(case):
    files = render_hls(make(case), "vitis")
    loops = [(name, *found) for name, text in files.items() if re.search(r"/\w+\.[ch]pp$", name)
             and not name.endswith(("_tb.cpp", "prim.hpp", "dialect.hpp")) for found in LOOP.findall(text)]
    assert len(loops) > 5
    for name, label, condition, pragmas in loops:
        assert label, (name, condition)
        bounded = CONSTANT.fullmatch(condition) or re.search(r"TRIPCOUNT min=\d+ max=\d+\n", pragmas)
        assert bounded, (name, label)


def test_every_lane_reads_one_memory_that_no_other_lane_reads():
    text = render_hls(tables(hls={"lanes": 4}), "vitis")["hls/vitis/t_levinson.hpp"]
    for name in ("read_window", "write_window", "dot", "update_a", "update_x"):
        body = re.search(rf" {name}\(.*?\n}}\n", text, re.DOTALL)[0]
        loop = body[body.index("for ("):body.rindex("\n    }")]
        unrolled = set(re.findall(r"for \(int (\w+) = 0; \w+ < lanes; \w+\+\+\) \{\n"
                                  r"#pragma HLS UNROLL factor=4\n", loop))
        memories = re.findall(r"\]\[([^]]+)\]", loop)
        assert memories, name
        assert set(memories) <= unrolled, name
    assert "ARRAY_PARTITION variable=s.a type=complete dim=2" in render_hls(
        tables(hls={"lanes": 4}), "vitis")["hls/vitis/t_trainer.cpp"]


def test_the_banded_factor_is_a_table_with_one_memory_per_lane():
    toeplitz = {"n": 60, "lambda": 0.1, "scheme": "uniform", "solver": "banded"}
    plan = tables(toeplitz=toeplitz, hls={"lanes": 4})
    files, band = render_hls(plan, "vitis"), plan.integer("band")
    text = files["hls/vitis/t_banded.hpp"]
    table = re.search(r"table_factor\[.*?\n};\n", text, re.DOTALL)[0]
    rows = [list(map(int, row.split(", "))) for row in re.findall(r"\{(-?\d+(?:, -?\d+)*)\}", table)]
    columns = np.array(rows).reshape(plan.integer("rows"), -1)
    assert columns[:, :band].ravel().tolist() == list(plan.tables["factor"].values)
    assert columns.shape[1] == -(-band // 4) * 4 and not columns[:, band:].any()
    assert "ARRAY_PARTITION variable=table_factor type=complete dim=2\n" in text
    sums = text[text.index("sum_t band_sum("):text.index("uint<6> excess_bits(")]
    assert set(re.findall(r"\]\[([^]]+)\]", sums)) == {"lane"}
    assert not any("levinson" in name or "levinson_t" in text for name, text in files.items())


def with_interface(case: str, interface: str) -> Plan:
    plan = make(case)
    return replace(plan, evidence={**plan.evidence, "hls": {"interface": interface}})


CORE_FILES = {"learner16": ("predictor", "learner"), "grid16": ("predictor", "solver", "trainer"),
              "band16": ("predictor", "solver", "trainer")}


@pytest.mark.parametrize("case", CORE_FILES)
def test_a_core_is_three_processes_with_channels_between_them(case):
    for dialect in BOTH:
        for core in CORE_FILES[case]:
            text = render_hls(with_interface(case, "stream"), dialect)[f"hls/{dialect}/{case}_{core}.cpp"]
            top = text[text.index(f"void {case}_{core}("):]
            calls = re.findall(r"^    (\w+)\(", top, re.MULTILINE)
            assert len(calls) == 3
            assert len(re.findall(r"kc::stream<.*> \w+;", top)) >= 2
            assert ("#pragma HLS DATAFLOW\n" in top) == (dialect == "vitis")
            for call in calls:
                start = "#pragma hls_design\n" if dialect == "catapult" else "\n"
                assert f"{start}void {call}(" in text


@pytest.mark.parametrize(("word", "beat_bits", "per_beat"), [
    (16, None, 1), (16, 64, 4), (24, 128, 4), (32, 32, 1)])
def test_a_beat_has_as_many_values_as_fit(word, beat_bits, per_beat):
    plan = tables(numbers={"word": word}, hls={"beat_bits": beat_bits})
    text = render_hls(plan, "vitis")["hls/vitis/t_plan.hpp"]
    room, per = (int(re.search(rf"const int word_{name} = (\d+);", text)[1]) for name in ("room", "per_beat"))
    assert (room * per, per) == (beat_bits or word, per_beat)


def test_reset_empties_the_model_and_the_dictionary():
    files = render_hls(make("learner16"), "vitis")
    for core, variable in (("predictor", "held"), ("learner", "count")):
        text = files[f"hls/vitis/learner16_{core}.cpp"]
        assert re.search(rf"static int {variable} = 0;.*\n#pragma HLS RESET variable={variable}\n", text)
        statics = re.findall(r"static (\w+) (\w+)", text)
        assert [name for kind, name in statics if kind == "int"] == [variable]  # the others are memories


@pytest.mark.parametrize("case", CORE_FILES)
def test_a_free_running_core_has_no_registers(case):
    for core in CORE_FILES[case]:
        usual, text = (render_hls(with_interface(case, name), "vitis")[f"hls/vitis/{case}_{core}.cpp"]
                       for name in ("stream", "free_running"))
        assert ("s_axilite port=return" in usual, "ap_ctrl_none" in usual) == (True, False)
        assert "#pragma HLS INTERFACE ap_ctrl_none port=return\n" in text
        assert "s_axilite" not in text
        arguments = text[text.index(f"void {case}_{core}("):].partition(")")[0]
        streams = arguments.count("kc::stream<")
        assert arguments.count(",") == streams == text.count("INTERFACE axis")  # and the errors
        assert "#pragma HLS INTERFACE ap_vld port=errors\n" in text


def test_arrays_in_memory_are_for_vitis_alone(tmp_path):
    text = render_hls(with_interface("grid16", "memory"), "vitis")["hls/vitis/grid16_trainer.cpp"]
    assert re.findall(r"m_axi port=(\w+)", text) == ["y", "model", "status"]
    assert "INTERFACE axis" not in text
    with pytest.raises(KerncastError, match="E311") as caught:
        generate(tables(hls={"interface": "memory"}), tmp_path / "out")
    [problem] = caught.value.problems
    assert (problem.where, problem.allowed) == ("[hls] dialects", "vitis")


@pytest.mark.parametrize("case", ["learner16", "bias16", "powers16"])
def test_only_macros_of_the_model_are_in_capitals(case):
    for name, text in render_hls(make(case), "vitis").items():
        if name.endswith("pp"):
            code = re.sub(r"/\*.*?\*/|//[^\n]*|\"[^\"\n]*\"|#pragma[^\n]*", "", text, flags=re.DOTALL)
            own = ("KERNCAST_", f"{case.upper()}_")
            capitals = re.findall(r"\b[A-Z][A-Z0-9_]+\b", code)
            assert [word for word in capitals if not word.startswith(own)] == []


@pytest.mark.parametrize("interface", ["stream", "memory"])
def test_scripts_claim_no_simulation_that_they_do_not_run(interface):
    plan = with_interface("grid16", interface)
    for vectors in (None, make_vectors(open_model(plan), [])):
        files = render_hls(plan, "vitis", vectors)
        script, config = files["hls/vitis/run_hls.tcl"], files["hls/vitis/trainer_hls_config.cfg"]
        for claim, step in (("to simulate" if vectors is None else "C simulation", "csynth"),
                            ("csim csynth", "csim_design"), ("co-simulation", "cosim_design")):
            assert (claim in script) == (step in script)
        assert ("--csim" in config) == ("tb.file" in config) == (vectors is not None)
    assert "runs no C simulation" in render_hls(plan, "catapult")["hls/catapult/directives.tcl"]


def test_projects_name_device_clock_and_top():
    plan = tables(hls={"part": "xcku040-ffva1156-2-e", "clock": 4.0})
    files = render_hls(plan, "vitis")
    assert "set_part xcku040-ffva1156-2-e\n" in files["hls/vitis/run_hls.tcl"].replace("    ", "")
    config = files["hls/vitis/trainer_hls_config.cfg"]
    assert "part=xcku040-ffva1156-2-e\n" in config
    assert "clock=4.0ns\n" in config
    assert "syn.top=t_trainer\n" in config
    assert "CLOCK_PERIOD 4.0" in render_hls(plan, "catapult")["hls/catapult/directives.tcl"]


# ---- what is refused ----
@pytest.mark.parametrize(("where", "more"), [
    ("[toeplitz] candidates", {"toeplitz": {"n": 64, "lambda": 0.1, "scheme": "uniform", "solver": "banded",
                                            "candidates": [[3.0, 0.2]]}}),
    ("[input] columns", {"input": {"word": "u8f0", "columns": MOST_COLUMNS + 1},
                         "toeplitz": {"n": 8, "lambda": 0.1, "scheme": "diagonal_mean"}}),
    ("[online] reduction", {"model": {"name": "t", "algorithm": "kernel_lms"}, "toeplitz": None,
                            "online": {"budget": 8, "eta": 0.5, "reduction": "klms_f32"}}),
    ("[online] budget", {"model": {"name": "t", "algorithm": "kernel_lms"}, "toeplitz": None,
                         "input": {"word": "u8f0", "columns": 200}, "online": {"budget": 9999, "eta": 0.5}})])
def test_a_plan_without_a_core_is_refused_with_the_limit(where, more, tmp_path):
    plan = tables(**more, hls={})
    with pytest.raises(KerncastError, match="E311") as caught:
        generate(plan, tmp_path / "out")
    [problem] = caught.value.problems
    assert (problem.where, bool(problem.allowed)) == (where, True)
    assert not (tmp_path / "out").exists()
    with pytest.raises(KerncastError, match="E311"):
        open_backend(plan, "hls:vitis", state={})
    assert not any(name.startswith("hls/") for name in render_all(tables(**more), None, None)[0])


@pytest.mark.parametrize(("key", "value"), [
    ("lanes", 0), ("lanes", 65), ("beat_bits", 48), ("dialects", []), ("dialects", ["intel"]),
    ("clock", 0.0), ("part", "a b")])
def test_a_wrong_value_of_hls_is_refused_with_what_is_allowed(key, value):
    with pytest.raises(KerncastError) as caught:
        tables(hls={key: value})
    [problem] = caught.value.problems
    assert problem.where == f"[hls] {key}"
    assert key in problem.message
    assert problem.allowed
    assert "choose one of the allowed values" not in problem.remedy


def test_the_readme_states_which_core_is_missing_and_why():
    text = render_hls(make("means32"), "vitis")["hls/vitis/README.md"]
    assert "no trainer: `[toeplitz] scheme` is diagonal_mean_biased, allowed is uniform" in text
    assert {core.name for core in CORES} == {"predictor", "learner", "solver", "trainer", "stream"}


def test_an_unknown_dialect_is_refused():
    for name in ("hls", "hls:intel"):
        with pytest.raises(KerncastError, match="E420"):
            check_name(name)


def test_missing_headers_are_named_with_what_brings_them(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    for dialect in DIALECTS.values():
        monkeypatch.delenv(dialect.variable, raising=False)
        with pytest.raises(KerncastError, match="E501") as caught:
            header_folder(dialect.name)
        assert caught.value.exit_code == EXIT_TOOL_MISSING
        assert "pip install --no-deps hls4ml" in str(caught.value)
        assert dialect.variable in str(caught.value)


def test_headers_of_one_s_own_are_taken(monkeypatch, tmp_path):
    monkeypatch.setenv("KERNCAST_AP_TYPES", str(tmp_path))
    with pytest.raises(KerncastError, match="KERNCAST_AP_TYPES"):
        header_folder("vitis")
    (tmp_path / "ap_int.h").write_text("")
    assert header_folder("vitis") == tmp_path


def test_a_missing_compiler_is_named_with_what_brings_it(monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    for name in ("auto", *COMPILERS):
        with pytest.raises(KerncastError, match="E511") as caught:
            cpp_compiler(name)
        assert caught.value.exit_code == EXIT_TOOL_MISSING
        assert "install" in str(caught.value)


def test_a_program_that_ends_early_is_reported(backend):
    opened = backend(make("grid16"), "catapult")
    with pytest.raises(KerncastError, match="E435"):
        opened._bench.call("no_such_call 1")
    with pytest.raises(KerncastError, match="E431"):
        opened.update(*[open_model(make("grid16")).state()["alpha"]] * 2)
    opened.close()
