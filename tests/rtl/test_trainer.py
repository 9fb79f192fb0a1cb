"""The trainer's core makes the model's words of raw targets, and the predictor takes them over a wire."""

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from kerncast.cli.main import app
from kerncast.codegen.rtl import PREDICTOR, SOLVER, TRAINER, generate_rtl, rtl_sources
from kerncast.codegen.rtl.frames import model_frame, sample_frames, target_frame
from kerncast.codegen.rtl.solver import MOST_SAMPLES, solver_cycles, solver_overhead
from kerncast.codegen.rtl.trainer import trainer_cycles
from kerncast.hw.backends import open_backend
from kerncast.hw.rtl.predictor_backend import outputs
from kerncast.hw.rtl.simulators import Simulation
from kerncast.hw.rtl.trainer_backend import training_script
from kerncast.sim.backend import Comparison
from kerncast.sim.errors import KerncastError
from kerncast.sim.model import open_model
from kerncast.sim.planner import make_plan
from kerncast.sim.reference import solve_toeplitz
from kerncast.sim.spec import Spec

from .conftest import LONG, make, raw_inputs
from .learner_cases import choices

#: The worked example: a trainer on the predictor's stream of models.
EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "rtl"


def targets(plan, seed):
    y = plan.signals["y_raw"].format
    return np.random.default_rng(seed).integers(y.lo, y.hi + 1, plan.sizes["n"])


def toeplitz(**options):
    return make_plan(Spec(
        model={"name": "t", "algorithm": "toeplitz_rls"}, input={"word": "u16f0"}, output={"word": "s12f0"},
        kernel={"sigma": 3.0}, toeplitz={"n": 8, "lam": 0.1, "scheme": "uniform"} | options))


def inputs(plan, seed):
    return None if plan.options["scheme"] == "uniform" else raw_inputs(plan, plan.sizes["n"], seed)


@pytest.mark.parametrize("case", ["means24", "bias16", *(pytest.param(case, marks=pytest.mark.campaign)
                                                         for case in ("grid16", "turns16", "bias24"))])
def test_the_back_end_trains_and_predicts_from_what_it_trained(require_simulator, ledger, tmp_path, case):
    require_simulator("icarus")
    plan = make(case)
    backend, model = open_backend(plan, "rtl:icarus", build_dir=tmp_path), open_model(plan)
    compared, x = Comparison(), raw_inputs(plan, 5, 2)
    assert "train" in backend.calls
    for seed in range(2):
        y = targets(plan, seed)
        given = inputs(plan, seed)
        compared.add("train", model.train(given, y), backend.train(given, y))
        compared.add("predict", model.predict(x), backend.predict(x))
    backend.close()
    ledger.record(backend=backend.name, words=compared.words, mismatches=compared.mismatches,
                  case=f"{case} trains")


@pytest.mark.covering(case=choices)
@pytest.mark.parametrize(("case", "simulator"), [
    ("grid16", "icarus"), ("means24", "icarus"), ("bias16", "icarus"), ("bias24", "icarus"),
    ("meanroots16", "icarus"),
    *(pytest.param(*case, marks=pytest.mark.campaign)
      for case in (("grid16", "verilator"), ("means24", "verilator"), ("bias24", "verilator"),
                   ("means32", "icarus")))])
def test_the_rtl_trainer_sends_the_model_s_frame_under_stalls_and_errors(require_simulator, ledger,
                                                                                tmp_path, case, simulator):
    require_simulator(simulator)
    plan = make(case)
    generate_rtl(plan, tmp_path)
    core = Simulation(rtl_sources(tmp_path, plan, TRAINER), f"{plan.name}_trainer", simulator,
                      tmp_path / "sim")
    script, wanted, model = [("watch",)], [], open_model(plan)
    for seed, (idle, pressure) in enumerate([(0.0, 0.0), (0.5, 0.0), (0.0, 0.6), (0.4, 0.4)]):
        y, x = targets(plan, seed), inputs(plan, seed)
        model.train(x, y)
        asked = training_script(plan, x, y)
        other = dict(training_script(plan, inputs(plan, 9), targets(plan, 9))[:-1])
        script += [("stall", idle, pressure, seed), *asked]
        wanted.append([0, *model_frame(plan, model.state())])
        if not seed:
            script.append(("spans",))
            wanted.append([trainer_cycles(plan)])
        for name, frame in asked[:-1]:  # each too short, or too long; what belongs to it goes with it
            wrong = {**other, name: [*frame[:-1 - seed], *frame * (seed % 2)]}
            script += [*list(wrong.items())[::-1 if seed > 1 else 1], *asked, ("errors",), ("clear_errors",),
                       ("errors",)]
            bad = [int(name == asked[k][0]) for k in range(len(asked) - 1)]
            wanted += [[0, *model_frame(plan, model.state())], bad, [0] * len(bad)]
    script += [*asked[:-1], ("cycles", 400), ("reset",), ("waiting",), *asked]
    wanted += [0, wanted[-3]]
    found = core.run(script, 50_000)
    assert len(found) == len(wanted)
    pairs = [pair for f, w in zip(found, wanted, strict=True)
             for pair in zip(*([v] if isinstance(v, int) else v for v in (f, w)), strict=True)]
    ledger.record(backend=f"rtl:{simulator}:trainer", words=len(pairs),
                  mismatches=sum(f != w for f, w in pairs), case=f"{case} trainer")


@pytest.mark.parametrize(("case", "simulator", "count"), [
    ("means24", "icarus", 92 if LONG else 52),
    *((case, "verilator", 106 if LONG else 52) for case in ("grid16", "bias16")),
    *(pytest.param(*case, marks=pytest.mark.campaign)
      for case in (("means24", "verilator", 9600), ("grid16", "icarus", 280)))])
def test_long_random_trainings_equal_the_model(require_simulator, ledger, tmp_path, case, simulator, count):
    require_simulator(simulator)
    start = int(np.random.default_rng(None if LONG else 1).integers(1 << 30))
    plan, chance, script, wanted = make(case), np.random.default_rng(start), [], []
    generate_rtl(plan, tmp_path)
    core = Simulation(rtl_sources(tmp_path, plan, TRAINER), f"{plan.name}_trainer", simulator,
                      tmp_path / "sim", long=LONG)
    model = open_model(plan)
    for k in range(count):
        x, y = inputs(plan, start + k), targets(plan, start + k)
        model.train(x, y)
        asked = training_script(plan, x, y)
        if k % 20 == 0:
            idle, pressure = chance.choice([0.0, 0.0, 0.3, 0.7], 2)
            script.append(("stall", float(idle), float(pressure), k))
        if k % 50 == 49:  # a reset at any clock of a training
            script += [*asked[:-1], ("cycles", int(chance.integers(1, 2 * trainer_cycles(plan)))), ("reset",)]
        script += asked
        wanted += [0, *model_frame(plan, model.state())]
    found = [word for frame in core.run(script, 50_000) for word in frame]
    ledger.record(backend=f"rtl:{simulator}:trainer", words=len(wanted),
                  case=f"{case} trainer from seed {start}",
                  mismatches=sum(f != w for f, w in zip(found, wanted, strict=True)))


def test_the_example_of_two_cores_trains_itself_and_predicts(require_simulator, ledger, tmp_path):
    require_simulator("icarus")
    plan = make_plan(Spec.load(EXAMPLE / "grid.toml"))
    generate_rtl(plan, tmp_path)
    x = raw_inputs(plan, 4, 1)
    files = [*rtl_sources(tmp_path, plan, TRAINER), *rtl_sources(tmp_path, plan, PREDICTOR)]
    sources = [*dict.fromkeys(files), EXAMPLE / "chip_predictor.sv"]
    said = sources[-1].read_text().split("&& iverilog ")[1].splitlines()[0].split()
    assert said[-1].endswith("/chip_predictor.sv")
    linted = subprocess.run(["iverilog", "-Wall", "-Wno-timescale", *said[:-1], sources[-1]],
                            cwd=tmp_path / "rtl", capture_output=True, text=True)
    assert (linted.returncode, linted.stdout, linted.stderr) == (0, "", "")
    core = Simulation(sources, "chip_predictor", "icarus", tmp_path / "sim")
    script, model, wanted = [], open_model(plan), []
    for seed in range(2):
        y = targets(plan, seed)
        model.train(None, y)
        wanted.append(model.predict(x))
        script += [("model", target_frame(plan, y)), ("cycles", 2 * solver_cycles(plan))]
        script += [operation for frame in sample_frames(plan, x)
                   for operation in (("sample", frame), ("answers", 1))]
    answers = [a for found in core.run([*script, ("errors",)], 20_000) for a in found]
    assert answers[-2:] == [0, 0]
    found, compared = outputs(plan, answers[:-2]), Comparison()
    compared.add("chain", {k: np.concatenate([w[k] for w in wanted]) for k in wanted[0]}, found)
    ledger.record(backend="rtl:icarus", words=compared.words, mismatches=compared.mismatches,
                  case="trainer and predictor")


def test_the_lines_of_the_example_print_what_the_integer_model_answers(require_simulator, ledger, tmp_path):
    require_simulator("icarus")
    bench, page = (EXAMPLE / "chip_predictor_tb.sv").read_text(), EXAMPLE.parents[1] / "docs" / "rtl.md"
    lines = re.findall(r"^//   (.*)$", bench, re.MULTILINE)
    assert "".join(f"    {line}\n" for line in lines) in page.read_text()
    shutil.copytree(EXAMPLE, tmp_path / "examples" / "rtl")
    made = CliRunner().invoke(app, [
        *(str(tmp_path / word) if "/" in word else word for word in lines[0].split()[1:])])
    assert made.exit_code == 0, made.output
    said = subprocess.run(["bash", "-ec", "\n".join(lines[1:])], cwd=tmp_path, capture_output=True, text=True,
                          check=True).stdout
    assert (tmp_path / "build" / "grid" / "rtl" / "chip.fst").stat().st_size > 1000
    rows = np.array(re.findall(r"x = +(\d+)  f = +(-?\d+) .* status (\d)", said), dtype=np.int64)
    plan = make_plan(Spec.load(EXAMPLE / "grid.toml"))
    model = open_model(plan)
    model.train(None, np.round(2048 + 2047 * np.sin(np.arange(8) * np.pi / 4)).astype(np.int64))
    compared = Comparison()
    compared.add("example", model.predict(rows[:, :1]), {"f": rows[:, 1], "status": rows[:, 2]})
    assert len(rows) == 16
    ledger.record(backend="rtl:icarus", words=compared.words, mismatches=compared.mismatches,
                  case="testbench of the example")


def test_a_trained_model_is_the_float_solution_within_the_certified_bound():
    plan = toeplitz()
    model, y = open_model(plan), targets(plan, 4)
    assert model.train(None, y)["status"][0] == 0
    state, frac, word = model.state(), plan.integer("alpha_frac"), plan.word
    r, lam = model.workspace()["r"] / 2.0 ** (word - 1), float(plan.options["lambda"])
    r[0] = 1.0
    y_words = np.asarray(model._targets(y)) / 2.0 ** (word - 2)
    exact = solve_toeplitz(r * (1 + lam), y_words).x
    unit = 2.0 ** (int(state["alpha_exp"][0]) - frac)
    assert np.linalg.norm(exact - state["alpha"] * unit) <= int(state["bound"][0]) * unit * (1 + 1e-9)


@pytest.mark.parametrize(("options", "key", "allowed"), [
    ({"solver": "schur"}, "solver", "levinson"), ({"solver": "lookahead"}, "solver", "levinson"),
    ({"refine": 1}, "refine", "refine = 0"), ({"bias": True, "refine": 1}, "refine", "refine = 0")])
def test_unsupported_options_of_the_solver_are_refused(options, key, allowed, tmp_path):
    plan = toeplitz(**options)
    with pytest.raises(KerncastError, match="E307") as caught:
        rtl_sources(tmp_path, plan, SOLVER)
    assert f"[toeplitz] {key}" in str(caught.value)
    assert allowed in str(caught.value)


def test_a_system_too_large_and_another_algorithm_are_refused(tmp_path):
    with pytest.raises(KerncastError, match="E306") as caught:
        rtl_sources(tmp_path, toeplitz(n=MOST_SAMPLES + 1), SOLVER)
    assert str(MOST_SAMPLES) in str(caught.value)
    with pytest.raises(KerncastError, match=r"(?s)algorithm.*E307"):
        rtl_sources(tmp_path, make("gains16"), SOLVER)
    assert SOLVER.fits(make("means24"))
    assert TRAINER.fits(make("means24"))


def test_the_generated_readme_states_the_clocks():
    plan = make("grid16")
    text = SOLVER.render(plan)["README.md"]
    assert all(f"| {lanes} | {solver_cycles(plan, lanes)} | {solver_overhead(plan, lanes)} |" in text
               for lanes in (1, 2, 4))
