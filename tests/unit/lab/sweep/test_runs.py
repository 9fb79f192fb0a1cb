"""Runs of a sweep: the same points whoever computes them, kept whatever happens."""

import csv
import json
import signal
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import kerncast
from kerncast.cli.main import app
from kerncast.cli.sweep import _confirmed
from kerncast.lab.compare.ledger import Row
from kerncast.lab.sweep import confirm, evaluate, executors, make_settings, open_run, run_sweep, search
from kerncast.lab.sweep.export import export
from kerncast.lab.sweep.front import neighbours
from kerncast.sim.data import load_dataset
from kerncast.sim.diagnostics.simulate import simulate
from kerncast.sim.errors import KerncastError
from kerncast.sim.planner import make_plan
from kerncast.sim.reference.first_row import cluster
from kerncast.sim.spec import Spec

ECG = (Path(kerncast.__file__).parent / "examples" / "ecg.toml").read_text().replace("n = 256", "n = 96")
GRID = ["numbers.word=16,24,32", "refine=0,1", "sigma=2..4/3", "toeplitz.lam=0.001..1/3"]
LIMITS = ["alpha_error <= 1e-4", "ram <= 8 kB"]
STREAM = """
[model]
name = "stream"
algorithm = "kernel_lms"
[input]
word = "s12f8"
columns = 2
[output]
word = "s12f8"
[kernel]
sigma = 0.7
[online]
budget = 8
eta = 0.5
[data]
file = "stream.csv"
"""


def codes(error):
    return [problem.code for problem in error.value.problems]


def settings(tmp_path, *grid, text=ECG, **asked):
    if text is ECG:
        asked = {"constraints": LIMITS} | asked
    return make_settings(Spec.from_text(text), tmp_path, grid=grid or GRID, **asked)


@pytest.fixture
def stream(tmp_path):
    source = np.random.default_rng(5)
    x = source.integers(-1500, 1500, size=(150, 2))
    y = np.clip(x[:, 0] // 2 + source.integers(-40, 40, size=150), -2000, 2000)
    rows = "\n".join(",".join(map(str, row)) for row in np.column_stack([x, y]))
    (tmp_path / "stream.csv").write_text("x0,x1,y\n" + rows + "\n")
    return tmp_path


@pytest.fixture(scope="module")
def serial(tmp_path_factory):
    folder = tmp_path_factory.mktemp("serial")
    return run_sweep(settings(folder), folder / "run")


# ---- points ----
def test_a_point_is_what_plan_and_model_give_for_its_spec(serial, tmp_path):
    wanted = {"toeplitz.refine": 1, "numbers.word": 24}
    point = next(p for p in serial.points if wanted.items() <= p.inputs.items())
    spec = serial.spec(point)
    data = load_dataset(spec, tmp_path)
    plan = make_plan(spec, data.x_raw, data.y_raw)
    result = simulate(plan, None, data.y_raw)
    assert (point.plan, point.status) == (plan.hash, result.status)
    assert point.measures["ram"] == plan.ram_bytes
    rms = float(np.sqrt(np.mean((result.f - data.clean) ** 2)))
    assert point.measures["rms"] == rms and point.measures["error"] == 100 * rms / float(np.std(data.clean))


def test_points_refused_by_spec_or_planner_are_results_counted_by_code(serial):
    assert len(serial.points) == 54
    refused = [p for p in serial.points if p.code]
    assert {p.code for p in refused} == {"E113"} and len(refused) == 9  # no words beyond 32 bits to refine to
    assert all(p.status == "refused" and not p.measures for p in refused)


def test_float64_is_computed_once_for_each_problem_that_differs_in_it(tmp_path, monkeypatch):
    made = []

    class Counted(evaluate.FloatReference):
        def __init__(self, plan):
            made.append(plan.hash)
            super().__init__(plan)

    monkeypatch.setattr(evaluate, "FloatReference", Counted)
    evaluate.clear_float_cache()
    asked = settings(tmp_path, "numbers.word=16,24,32", "refine=0,1", "sigma=2,5", "scaling=block,static",
                     constraints=["ram <= 8 kB"], objectives=["excess", "alpha_error", "ram"])
    run = run_sweep(asked, tmp_path / "run")
    assert len(made) == 3  # two widths, and the spec as written
    assert all({"float_error", "excess", "alpha_error"} <= {*p.measures} for p in run.points if p.answers)


def test_an_online_learner_is_judged_by_each_sample_before_it_is_learned(stream):
    run = run_sweep(settings(stream, "online.budget=4,8", text=STREAM), stream / "run")
    point = next(p for p in run.points if p.inputs == {"online.budget": 8})
    data = load_dataset(run.spec(point), stream)
    plan = make_plan(run.spec(point), data.x_raw, data.y_raw)
    f = evaluate.fit_backend(evaluate.open_model(plan), plan, data.x_raw, data.y_raw)["f"]
    assert point.measures["rms"] == np.sqrt(np.mean((evaluate.y_values(plan, f) - data.y_raw / 256) ** 2))


def test_samples_follow_the_word_of_a_sensor_that_is_swept(stream):
    asked = settings(stream, "output.word=s12f8,s9f5", "input.word=s12f8,s10f6", text=STREAM)
    whole = load_dataset(Spec.from_text(STREAM), stream)
    _, data = asked.evaluator.spec_and_data({"output.word": "s9f5", "input.word": "s10f6"})
    np.testing.assert_array_equal(data.y_raw, np.clip((whole.y_raw + 4) >> 3, -256, 255))
    np.testing.assert_array_equal(data.x_raw, np.clip((whole.x_raw + 2) >> 2, -512, 511))
    moved = settings(stream, "output.word=u12f0,u10f-2").space
    assert moved.spec({"output.word": "u10f-2"}).output.offset == 512


# ---- whoever computes ----
def test_processes_and_a_cluster_give_the_rows_of_one_process(serial, tmp_path):
    from distributed import LocalCluster

    asked = settings(tmp_path)
    two = run_sweep(asked, tmp_path / "two", jobs=2)
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as local:
        cluster = run_sweep(asked, tmp_path / "cluster", scheduler=local.scheduler_address)
    assert serial.points == two.points == cluster.points
    assert [p.key for p in serial.front] == [p.key for p in two.front]


@pytest.mark.parametrize("parts", [1, 2, 8, 16, 40])
def test_points_are_cut_into_small_chunks_that_employ_every_worker(parts):
    for count in (1, 5, search.BATCH, 500):
        points = [{"n": i} for i in range(count)]
        chunks = executors.cut(points, parts)
        assert [p for chunk in chunks for p in chunk] == points
        assert max(map(len, chunks)) <= -(-count // parts) and max(map(len, chunks)) <= executors.CHUNK
    assert len(executors.cut([{}] * search.BATCH, parts)) >= min(parts, search.BATCH)


def test_a_search_tries_the_same_points_on_any_number_of_workers(stream, monkeypatch):
    asked = settings(stream, "online.budget=2..40/20", "eta=0.1..1.5/20", "numbers.word=16,24",
                     "numbers.rounding=floor,half_up", text=STREAM, trials=64, seed=7)
    monkeypatch.setattr(search, "_STARTS", 16)
    one = run_sweep(asked, stream / "one")
    again = run_sweep(asked, stream / "again", jobs=2)
    assert one.points == again.points and 48 < len(one.points) <= 64 < asked.space.size
    fewer = run_sweep(replace(asked, trials=20), stream / "fewer")  # a search that stops amid its descent
    assert 15 < len(fewer.points) <= 20
    best, evaluator = one.best, asked.evaluator
    around = [evaluator.point(inputs) for inputs in neighbours(one.space, best.inputs)]
    assert all(one.misses(p) or p.measures["ram"] >= best.measures["ram"] for p in around)

    def never(*_):
        raise AssertionError("this point is known")

    monkeypatch.setattr(evaluate.Evaluator, "point", never)
    assert run_sweep(asked, stream / "one").points == one.points
    assert run_sweep(replace(asked, trials=20), stream / "one").points == one.points
    assert run_sweep(replace(asked, trials=20), stream / "fewer").points == fewer.points


def test_a_silent_cluster_is_reported_and_results_are_kept(serial, tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "_PATIENCE", 0.3)
    run_sweep(settings(tmp_path, "sigma=2,3"), tmp_path / "run")
    with pytest.raises(KerncastError) as error:
        run_sweep(settings(tmp_path, "sigma=2,3,4"), tmp_path / "run", scheduler="tcp://127.0.0.1:9")
    assert codes(error) == ["E262"]
    assert len(open_run(tmp_path / "run").points) == 2


def test_a_wrong_scheduler_is_reported_before_anything_runs_or_is_written(serial, tmp_path, monkeypatch):
    monkeypatch.setattr(evaluate.Evaluator, "point", lambda *_: pytest.fail("a point was evaluated"))
    with pytest.raises(KerncastError) as error:
        run_sweep(settings(tmp_path, "sigma=2,3"), tmp_path / "run", scheduler="tcp://127.0.0.1:9")
    assert codes(error) == ["E262"] and not (tmp_path / "run").exists()


# ---- whatever happens ----
KILLED = """
import os, signal, sys
from pathlib import Path
from kerncast.lab.sweep import make_settings, run_sweep
from kerncast.sim.spec import Spec
def progress(done, total):
    if done == 20:
        os.kill(os.getpid(), signal.SIGKILL)
text, folder, *grid = sys.argv[1:]
asked = make_settings(Spec.from_text(text), Path("."), grid=grid[:4], constraints=grid[4:])
run_sweep(asked, Path(folder), progress=progress)
"""


def test_a_killed_sweep_keeps_its_results_and_resumes_to_the_same_points(serial, tmp_path, monkeypatch):
    words = [ECG, str(tmp_path / "run"), *GRID, *LIMITS]
    done = subprocess.run([sys.executable, "-c", KILLED, *words], check=False)
    assert done.returncode == -signal.SIGKILL
    assert len(open_run(tmp_path / "run").points) == 20
    evaluated = []
    point = evaluate.Evaluator.point
    monkeypatch.setattr(evaluate.Evaluator, "point",
                        lambda self, inputs: evaluated.append(inputs) or point(self, inputs))
    assert run_sweep(settings(tmp_path), tmp_path / "run").points == serial.points
    assert len(evaluated) == 54 - 20


def test_an_interrupted_run_resumes(serial, tmp_path):
    def stop(done, total):
        if done == 7:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_sweep(settings(tmp_path), tmp_path / "run", progress=stop)
    assert len(open_run(tmp_path / "run").points) == 7
    assert run_sweep(settings(tmp_path), tmp_path / "run").points == serial.points


@pytest.mark.parametrize("damage", ["noise", "cut", "another"])
def test_damaged_results_are_reported_and_left_unchanged(serial, tmp_path, damage):
    run_sweep(settings(tmp_path, "sigma=2,3"), tmp_path / "run")
    path = tmp_path / "run" / "sweep.db"
    if damage == "another":
        with sqlite3.connect(path) as other:
            other.execute("UPDATE points SET measures = 'no JSON'")
        other.close()
    else:
        whole = path.read_bytes()
        path.write_bytes(b"noise" * 999 if damage == "noise" else whole[:len(whole) // 2])
    before = path.read_bytes()
    for do in (lambda: open_run(tmp_path / "run"),
               lambda: run_sweep(settings(tmp_path, "sigma=2,3"), tmp_path / "run")):
        with pytest.raises(KerncastError) as error:
            do()
        assert codes(error) == ["E366"] and path.read_bytes() == before
    assert "move" in str(error.value) and "again" not in str(error.value)  # it was run again


def test_a_folder_of_another_spec_or_program_is_refused(tmp_path):
    run_sweep(settings(tmp_path, "sigma=2,3"), tmp_path / "run")
    with pytest.raises(KerncastError) as error:
        run_sweep(settings(tmp_path, "sigma=2", text=ECG.replace("0.1", "0.2")), tmp_path / "run")
    assert codes(error) == ["E367"]
    for folder, code in ((tmp_path, "E302"), (tmp_path / "none", "E365")):
        with pytest.raises(KerncastError) as error:
            run_sweep(settings(tmp_path, "sigma=2"), folder) if code == "E302" else open_run(folder)
        assert codes(error) == [code]


@pytest.mark.parametrize(("module", "asked", "jobs"), [("joblib", {}, 2), ("optuna", {"trials": 3}, 1)])
def test_a_missing_extra_is_named_with_its_command(tmp_path, monkeypatch, module, asked, jobs):
    def absent(name):
        raise ImportError(name)

    monkeypatch.setattr(search if asked else executors, "import_module", absent)
    with pytest.raises(KerncastError) as error:
        run_sweep(settings(tmp_path, "sigma=2,3,4,5", **asked), tmp_path / "run", jobs=jobs)
    assert error.value.exit_code == 3 and f"pip install {module}" in str(error.value)
    assert not (tmp_path / "run").exists()


# ---- answers ----
def test_what_binds_the_best_design_is_what_a_cheaper_value_breaks(serial):
    best, evaluator = serial.best, serial.settings.evaluator
    assert not serial.misses(best)
    assert all(p.measures["ram"] >= best.measures["ram"] for p in serial.points
               if p.answers and not serial.misses(p))
    assert {step.key for step in serial.why} >= {"output.word", "numbers.word"}
    assert all(step.broken for step in serial.why if step.key == "numbers.word")
    for step in serial.why:
        point = evaluator.point({**best.inputs, step.key: step.after})
        assert point.words == step.point.words
        assert {m.constraint.text for m in step.broken} == {m.constraint.text for m in serial.misses(point)}


def test_a_table_of_all_points_can_be_written(serial, tmp_path):
    import pyarrow.parquet

    for name in ("points.csv", "points.parquet"):
        export(serial, tmp_path / name)
    rows = list(csv.DictReader((tmp_path / "points.csv").open()))
    table = pyarrow.parquet.read_table(tmp_path / "points.parquet").to_pylist()
    assert [r["key"] for r in rows] == [r["key"] for r in table] == [p.key for p in serial.points]
    assert [r["ram"] for r in table] == [p.measures.get("ram") for p in serial.points]
    with pytest.raises(KerncastError, match="E254"):
        export(serial, tmp_path / "points.xls")


def command(tmp_path, *words, text=ECG):
    (tmp_path / "ecg.toml").write_text(text)
    return CliRunner().invoke(app, ["sweep", str(tmp_path / "ecg.toml"), "-o", str(tmp_path / "run"), *words])


def test_an_empty_set_of_designs_names_the_binding_limit_and_keeps_points(tmp_path):
    words = ["--grid", "numbers.word=16,24", "--constraint", "ram <= 100 B", "--constraint", "error <= 90 %"]
    shown = command(tmp_path, *words)
    least = min(p.measures["ram"] for p in open_run(tmp_path / "run").points)
    assert shown.exit_code == 2
    assert "E370: no design satisfies every limit: ram <= 100 B binds" in shown.output
    assert f"missed by {least - 100:,.0f} B" in shown.output
    told = json.loads(command(tmp_path, *words, "--json").stdout)
    assert told["best"] is None and told["errors"][0]["code"] == "E370" and told["points"] == 2


def test_counts_from_the_board_are_reported_in_their_unit(tmp_path):
    rows = (Row("host", 9, 0), Row("emu:arduino-uno:simavr", 9, 0, costs={
        "unit": "cycles", "counts": {"train": None, "predict": 1234}}))  # which overran, and which did not
    told = _confirmed(confirm.Confirmation(rows, tmp_path))
    assert told.endswith("counted on the board: predict 1,234 cycles")


@pytest.mark.parametrize("altered", [False, True])
def test_the_best_design_is_confirmed_word_for_word_or_the_exit_is_1(tmp_path, monkeypatch, altered):
    if altered:  # what the compiled code answers is not what the vectors hold
        def wrong(*given):
            vectors = confirm_vectors(*given)
            vectors.calls[-1].expected["f"][3] += 1
            return vectors

        confirm_vectors = confirm.make_vectors
        monkeypatch.setattr(confirm, "make_vectors", wrong)
    done = command(tmp_path, "--grid", "numbers.word=16,24", "--confirm", "--json")
    told = json.loads(done.stdout)
    names = [row["backend"].split(":")[0] for row in told["confirmed"]["backends"]]
    assert names == ["host", "emu"] and told["confirmed"]["words"] > 100
    assert (done.exit_code, told["mismatches"]) == ((1, 2) if altered else (0, 0))
    assert Spec.load(tmp_path / "run" / "best.toml") == open_run(tmp_path / "run").spec(
        open_run(tmp_path / "run").best)
    answers = tmp_path / "run" / "confirmed.json"
    command(tmp_path, "--grid", "numbers.word=16,24")
    assert answers.exists()  # of the same design
    answers.write_text(answers.read_text().replace(told["best"]["plan"], "0" * 64))
    command(tmp_path, "--grid", "numbers.word=16,24")
    assert not answers.exists()
