"""Results of a sweep that were damaged, and two sweeps at once: what is sound is kept, one is refused."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import kerncast
from kerncast.lab.sweep import evaluate, make_settings, open_run, run_sweep, store
from kerncast.sim.errors import KerncastError
from kerncast.sim.spec import Spec

ECG = (Path(kerncast.__file__).parent / "examples" / "ecg.toml").read_text().replace("n = 256", "n = 96")


def codes(error):
    return [problem.code for problem in error.value.problems]


def settings(tmp_path, *grid):
    return make_settings(Spec.from_text(ECG), tmp_path, grid=grid, constraints=["ram <= 8 kB"])


@pytest.fixture(scope="module")
def few(tmp_path_factory):
    folder = tmp_path_factory.mktemp("few")
    return run_sweep(settings(folder, "sigma=2,3"), folder / "run")


def damaged(path, *, sql=None, page=None):
    """Alter a file of results behind SQLite's back, or by SQL that does not renew the digests."""
    with closing(sqlite3.connect(path)) as db:
        with db:
            db.execute(sql or "SELECT 1")
        size = db.execute("PRAGMA page_size").fetchone()[0]
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        root = db.execute("SELECT rootpage FROM sqlite_master WHERE name = ?",
                          (page or "points",)).fetchone()[0]
    if page is not None:
        whole = bytearray(path.read_bytes())
        whole[(root - 1) * size:(root - 1) * size + 8] = b"no page "
        path.write_bytes(whole)


@pytest.mark.parametrize("how", [
    {"sql": "UPDATE points SET measures = '{\"ram\": 1}' WHERE rowid = 2"},
    {"sql": "UPDATE points SET status = 'OK?', inputs = '[1]' WHERE rowid = 2"},
    {"sql": "UPDATE meta SET value = '{}' WHERE name = 'settings'"},
    {"page": "sqlite_autoindex_points_1"}])
def test_intact_results_survive_damage_and_only_lost_ones_are_recomputed(tmp_path, monkeypatch, how):
    asked, folder, told, evaluated = settings(tmp_path, "sigma=2,3,4"), tmp_path / "run", [], []
    before = run_sweep(asked, folder).points
    damaged(folder / "sweep.db", **how)
    held = (folder / "sweep.db").read_bytes()
    with pytest.raises(KerncastError) as error:
        open_run(folder)
    assert codes(error) == ["E366"] and (folder / "sweep.db").read_bytes() == held
    point = evaluate.Evaluator.point
    monkeypatch.setattr(evaluate.Evaluator, "point",
                        lambda self, inputs: evaluated.append(inputs) or point(self, inputs))
    assert run_sweep(asked, folder, report=told.append).points == before == open_run(folder).points
    lost = "points" in how.get("sql", "")
    assert len(evaluated) == lost and f"{3 - lost} valid points are kept" in told[0]
    assert (folder / "damaged-1.db").read_bytes() == held


@pytest.mark.parametrize("value", ["[]", "{}", "[1]", '"text"', '{"base": [], "axes": 3}', "no JSON"])
@pytest.mark.parametrize("name", ["settings", "identity"])
def test_json_of_a_wrong_shape_is_damage_even_with_its_digest(few, tmp_path, name, value):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "sweep.db").write_bytes((few.folder / "sweep.db").read_bytes())
    with closing(sqlite3.connect(tmp_path / "run" / "sweep.db")) as db, db:
        db.execute("UPDATE meta SET value = ?, digest = ? WHERE name = ?",
                   (*store.with_digest(name, value)[1:], name))
    asked, folder = settings(tmp_path, "sigma=2,3"), tmp_path / "run"
    with pytest.raises(KerncastError) as error:
        open_run(folder) if name == "settings" else run_sweep(asked, folder)
    assert codes(error) == ["E366"]


def test_results_of_an_earlier_version_are_refused_as_such(tmp_path):
    with closing(sqlite3.connect(tmp_path / "sweep.db")) as db:
        db.executescript("CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);"
                         "CREATE TABLE points (key TEXT PRIMARY KEY, inputs TEXT NOT NULL);")
    for do in (lambda: open_run(tmp_path), lambda: run_sweep(settings(tmp_path, "sigma=2"), tmp_path)):
        with pytest.raises(KerncastError, match="from an earlier version") as error:
            do()
        assert codes(error) == ["E366"]


def test_a_second_sweep_at_once_in_a_folder_is_refused(tmp_path):
    refusals = []

    def begin_another(done, total):
        with pytest.raises(KerncastError) as error:
            run_sweep(settings(tmp_path, "sigma=5,6"), tmp_path / "run")
        refusals.extend(codes(error))
        assert len(open_run(tmp_path / "run").points) == done  # a reader need not wait

    first = run_sweep(settings(tmp_path, "sigma=2,3"), tmp_path / "run", progress=begin_another)
    assert refusals == ["E377"] * 2 and len(first.points) == 2
    assert len(run_sweep(settings(tmp_path, "sigma=5,6"), tmp_path / "run").points) == 2


@pytest.mark.parametrize(("table", "name", "value"), [
    ("meta", "settings", lambda held: held | {"objectives": [1]}),
    ("meta", "settings", lambda held: held | {"axes": [["kernel.sigma", [[]]]]}),
    ("meta", "settings", lambda held: held | {"baseline": {"error": "x"}}),
    ("meta", "settings", lambda held: held | {"baseline": {}, "constraints": [
        {"text": "error <= float", "name": "error", "most": True, "number": 0.0, "above_float": True}]}),
    ("points", "measures", lambda held: [1]), ("points", "measures", lambda held: held | {"ram": "x"}),
    ("points", "inputs", lambda held: held | {"kernel.sigma": []})])
def test_rows_with_right_digests_and_values_of_other_types_are_damage(few, tmp_path, table, name, value):
    folder = tmp_path / "forged"
    folder.mkdir()
    with closing(sqlite3.connect(few.folder / "sweep.db")) as db, \
            closing(sqlite3.connect(folder / "sweep.db")) as forged:
        db.backup(forged)
        columns = store.META if table == "meta" else store.POINTS
        at = 1 if table == "meta" else columns.split(", ").index(name)
        for row in forged.execute(f"SELECT {columns} FROM {table}").fetchall():
            if table == "points" or row[0] == name:
                changed = [*row[:-1]]
                changed[at] = json.dumps(value(json.loads(row[at])))
                marks = ", ".join("?" * len(row))
                forged.execute(f"INSERT OR REPLACE INTO {table} VALUES ({marks})",
                               store.with_digest(*changed))
        forged.commit()
    with pytest.raises(KerncastError) as error:
        open_run(folder)
    assert codes(error) == ["E366"]
