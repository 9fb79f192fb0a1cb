"""The generated SystemVerilog testbench replays the vectors without Python, and notices a wrong beat."""

import os
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
import yaml
from typer.testing import CliRunner

from kerncast.cli.main import app
from kerncast.codegen.rtl import CORES, render_rtl
from kerncast.hw.rtl.simulators import find_simulator, simulator_environment
from kerncast.sim.model import open_model
from kerncast.sim.planner import make_plan
from kerncast.sim.replay.vectors import make_vectors
from kerncast.sim.spec import Spec

from .conftest import SPECS, make, places, raw_inputs
from .learner_cases import choices

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
CORES_OF = {"gains16": ("predictor", "learner"), "corners16": ("predictor", "learner"),
            "angles32": ("predictor", "learner"), "powers16": ("predictor",),
            "labels16": ("predictor", "learner"), "sides32": ("predictor", "learner"),
            "values24": ("predictor", "learner"), "sorts16": ("predictor",),
            "waves16": ("learner",),
            "grid16": ("fitted", "predictor", "solver", "trainer"),
            "means24": ("predictor", "solver", "trainer"),
            "bias16": ("fitted", "predictor", "solver", "trainer"),
            "band16": ("fitted", "predictor", "solver", "trainer"),
            "geometric16": ("fitted", "predictor", "solver", "trainer"),
            "ranged16": ("predictor", "solver"),
            "signals16": ("fitted", "predictor", "solver")}


def vectors_of(plan, updates=14):
    """Vectors with a training, or with updates, and predictions after it."""
    if plan.learns:
        x = raw_inputs(plan, updates, 1)
        calls = [("update", x, raw_targets(plan, updates)), ("predict", raw_inputs(plan, 5, 3), None)]
    else:
        x = None if plan.options.get("scheme") == "uniform" else places(plan, plan.sizes["n"], 1)
        calls = [("train", x, raw_targets(plan, plan.sizes["n"])), ("predict", raw_inputs(plan, 5, 3), None)]
    return make_vectors(open_model(plan), calls)


def raw_targets(plan, count):
    """Targets of the whole range: the same numbers for any format."""
    if plan.decision:
        return np.arange(count) % len(plan.class_names)
    y, values = plan.signals["y_raw"].format, count * plan.targets
    words = raw_inputs(plan, values * plan.sizes["D"], 2).ravel()[:values] % (y.hi - y.lo) + y.lo
    return words.reshape(count, -1) if plan.targets > 1 else words


def write(folder, plan, vectors):
    for name, text in render_rtl(plan, vectors).items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return folder / "rtl"


def built(rtl, top):
    """Compile a testbench by the command of its own header."""
    command = next(line for line in (rtl / f"{top}_tb.sv").read_text().splitlines() if "$ iverilog" in line)
    done = execute(rtl, *command.split("$ ")[1].split())
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def run(rtl, top, *options):
    return execute(rtl, "vvp", f"{top}_tb", *options)


def execute(rtl, *command, env=None):
    return subprocess.run(command, cwd=rtl, capture_output=True, text=True, check=False, env=env)


@pytest.mark.covering(case=choices)
@pytest.mark.parametrize("case", CORES_OF)
def test_every_core_passes_its_own_testbench_with_and_without_stalls(require_simulator, ledger, tmp_path,
                                                                        case):
    require_simulator("icarus")
    plan = make(case)
    rtl = write(tmp_path, plan, vectors_of(plan))
    found = sorted(path.stem for path in rtl.glob("*_tb.sv"))
    assert found == sorted(f"{plan.name}_{core}_tb" for core in CORES_OF[case])
    for core in CORES_OF[case]:
        top = f"{plan.name}_{core}"
        built(rtl, top)
        for options in ((), ("+stall=100",)):
            done = run(rtl, top, *options)
            assert done.returncode == 0, done.stdout + done.stderr
            last = done.stdout.strip().splitlines()[-1]
            assert last.startswith("PASS: ")
            ledger.record(backend="rtl:icarus", words=int(last.split()[1]), mismatches=0,
                          case=f"{case} {core} in its SystemVerilog testbench")


@pytest.mark.campaign
@pytest.mark.parametrize("simulator", ["icarus", "verilator"])
# The other examples have a linear part, or classes.
@pytest.mark.parametrize("example", ["digits", "ecg", "equaliser"])
def test_every_example_passes_the_testbenches_of_its_folder(require_simulator, ledger, tmp_path, example,
                                                            simulator):
    require_simulator(simulator)
    made = CliRunner().invoke(app, ["gen", str(EXAMPLES / f"{example}.toml"), "-o", str(tmp_path)])
    assert made.exit_code == 0, made.output
    found = sorted(path.stem for path in (tmp_path / "rtl").glob("*_tb.sv"))
    assert found
    for bench in found:
        top = bench.removesuffix("_tb")
        if simulator == "icarus":
            built(tmp_path / "rtl", top)
            done = run(tmp_path / "rtl", top, "+stall=64")
        else:
            verilated(tmp_path / "rtl", top)
            done = execute(tmp_path / "rtl", f"obj_dir/V{bench}", "+stall=64")
        assert done.returncode == 0, done.stdout + done.stderr
        passed = next(line for line in done.stdout.splitlines() if line.startswith("PASS"))
        ledger.record(backend=f"rtl:{simulator}", words=int(passed.split()[1]), mismatches=0,
                      case=f"{example}: {bench}")


def test_a_whole_replay_ends_with_the_state_of_the_learner(tmp_path):
    plan = make("gains16")
    rtl = write(tmp_path, plan, vectors_of(plan))
    text = (rtl / f"{plan.name}_learner_tb_m_axis_state.mem").read_text()
    assert len(re.findall("_0[01]_01_", text)) == 2, "the last beats of two frames"


@pytest.mark.parametrize(("case", "core", "stream"), [
    ("gains16", "predictor", "m_axis_f"), ("gains16", "learner", "m_axis_state"),
    ("grid16", "trainer", "m_axis_model"), ("means24", "solver", "m_axis_alpha")])
def test_a_beat_that_differs_fails_and_is_named(require_simulator, tmp_path, case, core, stream):
    require_simulator("icarus")
    plan = make(case)
    rtl = write(tmp_path, plan, vectors_of(plan))
    top = f"{plan.name}_{core}"
    memory = rtl / f"{top}_tb_{stream}.mem"
    lines = memory.read_text().splitlines()
    lines[3] = lines[3][:-1] + ("0" if lines[3][-1] != "0" else "1")
    memory.write_text("\n".join(lines) + "\n")
    built(rtl, top)
    done = run(rtl, top)
    assert done.returncode != 0
    assert f"{memory.name}: beat 2:" in done.stdout
    assert "FAIL: 1 beats differ" in done.stdout
    assert "PASS" not in done.stdout


def test_a_sample_of_the_wrong_length_fails(require_simulator, tmp_path):
    require_simulator("icarus")
    plan = make("gains16")
    rtl = write(tmp_path, plan, vectors_of(plan))
    memory = rtl / "gains_predictor_tb_s_axis_x.mem"
    memory.write_text(memory.read_text().replace("_00_00_", "_00_01_", 1))
    built(rtl, "gains_predictor")
    done = run(rtl, "gains_predictor")
    assert done.returncode != 0
    assert "FAIL: the core reports an error of a frame" in done.stdout


def test_verilator_takes_the_testbench_by_its_header(require_simulator, ledger, tmp_path):
    require_simulator("verilator")
    plan = make("grid16")
    rtl = write(tmp_path, plan, vectors_of(plan))
    top = f"{plan.name}_trainer"
    verilated(rtl, top, "-MAKEFLAGS", "OPT_FAST=-O0 OPT_SLOW=-O0 OPT_GLOBAL=-O0")
    done = execute(rtl, f"obj_dir/V{top}_tb", "+stall=64")
    assert done.returncode == 0, done.stdout
    passed = next(line for line in done.stdout.splitlines() if line.startswith("PASS"))
    ledger.record(backend="rtl:verilator", words=int(passed.split()[1]), mismatches=0,
                  case="trainer in its SystemVerilog testbench")


def verilated(rtl, top, *options):
    """Compile a testbench with Verilator by the command of its own header."""
    text = (rtl / f"{top}_tb.sv").read_text().replace(" \\\n//  ", "")
    command = next(line for line in text.splitlines() if "$ verilator" in line).split("$ ")[1].split()
    done = execute(rtl, *command, *options, env=verilator_environment())
    assert done.returncode == 0, done.stderr[-2000:]


def verilator_environment():
    """Environment in which ``verilator`` is the one that the other tests use."""
    with simulator_environment(find_simulator("verilator")):
        return dict(os.environ)


def test_the_fusesoc_core_lists_the_files_of_the_testbench(tmp_path):
    plan = make("grid16")
    rtl = write(tmp_path, plan, vectors_of(plan))
    core = yaml.safe_load((rtl / "grid_trainer_tb.core").read_text())
    listed = [next(iter(entry)) if isinstance(entry, dict) else entry
              for entry in core["filesets"]["testbench"]["files"]]
    written = {path.name for path in rtl.iterdir() if "_tb_" in path.name or "_tb." in path.name}
    assert {name for name in listed if name.startswith("grid")} | {"grid_trainer_tb.core"} == {
        name for name in written if name.startswith("grid_trainer")}
    assert core["filesets"]["testbench"]["depend"] == [
        yaml.safe_load((rtl / "grid_trainer.core").read_text())["name"]]


def test_vectors_without_a_call_of_a_core_give_it_no_testbench():
    plan = make_plan(Spec.from_text(SPECS["gains16"], "gains16.toml"))
    vectors = make_vectors(open_model(plan), [("update", raw_inputs(plan, 3, 1), raw_targets(plan, 3))])
    names = [name for name in render_rtl(plan, vectors) if name.endswith("_tb.sv")]
    assert names == ["rtl/gains_learner_tb.sv"]
    assert not any("tb" in name.split("_")[-1] for name in render_rtl(plan))
    assert {core.name for core in CORES} == {"predictor", "learner", "solver", "trainer"}
