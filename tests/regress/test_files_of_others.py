"""Results, sweeps, recordings and headers that others made or that meet in one program."""

import json
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from kerncast.lab.report.page import as_json
from kerncast.lab.sweep.store import POINTS, with_digest

from .forging import forged, sha

Run = Callable[..., tuple[int, str, str]]
DEEP = "[" * 100_000


# ---- two models in one program ----
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_two_public_headers_compile_in_one_c99_file(
    run: Run, spec: Path, tmp_path: Path, compiler: str, require_tool: Callable[[str, str], str]
) -> None:
    require_tool(compiler, f"apt-get install {compiler}")
    for name in ("a", "a_model"):
        (tmp_path / "m.toml").write_text(spec.read_text().replace('"small"', f'"{name}"'))
        assert run("gen", tmp_path / "m.toml", "-o", tmp_path / name)[0] == 0
    both = tmp_path / "both.c"
    both.write_text('#include "a/a.h"\n#include "a_model/a_model.h"\nint both(void) { return 0; }\n')
    done = subprocess.run(
        [compiler, "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", both],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


# ---- a report of foreign results ----
def test_results_that_nest_too_deeply_are_refused(run: Run, spec: Path, tmp_path: Path) -> None:
    (tmp_path / "deep.json").write_text(DEEP)
    code, _, errors = run("report", spec, "--results", tmp_path / "deep.json", "-o", tmp_path / "a.html")
    assert code == 2 and "E372" in errors and "deep.json" in errors
    assert not (tmp_path / "a.html").exists()


@pytest.mark.parametrize(
    ("column", "text"),
    [
        ("inputs", DEEP),
        ("inputs", "[]"),
        ("measures", DEEP),
        ("measures", "[]"),
        ("measures", '{"ram": "x"}'),
        ("measures", '{"ram": NaN}'),
    ],
    ids=["deep inputs", "list of inputs", "deep", "list", "text", "nan"],
)
def test_a_sweep_of_impossible_values_with_right_digests_is_refused(
    run: Run, spec: Path, tmp_path: Path, column: str, text: str
) -> None:
    assert run("sweep", spec, "--grid", "kernel.sigma=2,3", "-o", tmp_path / "run")[0] == 0
    with closing(sqlite3.connect(tmp_path / "run" / "sweep.db")) as db, db:
        for row in db.execute(f"SELECT {POINTS} FROM points").fetchall():
            values = [*row[:-1]]
            values[POINTS.split(", ").index(column)] = text
            marks = ", ".join("?" * len(row))
            db.execute(f"INSERT OR REPLACE INTO points VALUES ({marks})", with_digest(*values))
    code, _, errors = run("report", tmp_path / "run", "-o", tmp_path / "a.html")
    assert code == 2 and "E366" in errors
    assert not (tmp_path / "a.html").exists()


def test_an_infinite_measure_is_null_in_the_page() -> None:
    assert as_json({"points": [{"ram": float("inf")}, (float("nan"), 1.5)]}) == (
        '{"points":[{"ram":null},[null,1.5]]}'
    )


# ---- a recording ----
ATTACK = 'x */ extern int system(const char *); __attribute__((constructor)) static void tries(void) {{ ' \
    '(void)system("touch {0}"); }} /*'
FORGERIES: dict[str, Callable[[dict[str, Any], Path], None]] = {
    "comment": lambda plan, mark: plan["memory"][0].update(meaning=ATTACK.format(mark)),
    "name": lambda plan, mark: plan.update(name=f"../../../..{mark}"),
    "size": lambda plan, mark: plan["sizes"].update(n=10**9),
    "unit": lambda plan, mark: plan["units"].update(y="1/0"),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_plan_of_a_recording_is_never_built(
    run: Run, generated: Path, tmp_path: Path, forgery: str
) -> None:
    mark, path = tmp_path / "executed", tmp_path / "small.recording"
    assert run("hil", "record", generated, "--on", "model", "-o", path)[0] == 0
    head, *lines = path.read_text().split("\n")
    written = json.loads(head)
    decisions = written["plan"]["decisions"]
    FORGERIES[forgery](decisions, mark)
    text = json.dumps(decisions, sort_keys=True, separators=(",", ":"))
    written["plan"]["hash"] = sha(text.encode())
    path.write_text("\n".join([json.dumps(written), *lines]))
    code, _, errors = run("hil", "replay", path, "--on", "host")
    assert code == 2 and ("E212" in errors or "E214" in errors)
    assert not list(tmp_path.glob("executed*"))

# ---- a model elsewhere ----
MODEL = {
    "format": "kerncast model 1",
    "origin": "x",
    "kernel": {"type": "gaussian", "sigma": 20.0},
    "classes": [],
    "scale": [1.0],
    "bias": 0.5,
    "alpha": [1.0, -2.0],
    "vectors": [[3.0], [9.0]],
}
PREDICTOR = """model = {name = "m", algorithm = "kernel_predictor"}
input = {word = "u8f0"}
output = {word = "s8f0"}
kernel = {sigma = 20.0}
data = {file = "m.csv"}
predictor = {file = "FILE"}
"""


@pytest.fixture
def predictor(run: Run, tmp_path: Path) -> Path:
    """A folder generated from a spec whose model is in a subfolder."""
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "q.json").write_text(json.dumps(MODEL))
    (tmp_path / "m.csv").write_text("x0,y\n3,4\n5,6\n9,1\n")
    (tmp_path / "m.toml").write_text(PREDICTOR.replace("FILE", "models/q.json"))
    assert run("gen", tmp_path / "m.toml", "-o", tmp_path / "m")[0] == 0
    return tmp_path / "m"


def test_a_recording_contains_the_model_of_a_subfolder(run: Run, predictor: Path, tmp_path: Path) -> None:
    assert run("hil", "record", predictor, "--on", "model", "-o", tmp_path / "m.recording")[0] == 0
    assert run("hil", "replay", tmp_path / "m.recording", "--on", "model")[0] == 0
    assert run("verify", predictor, "--on", "model", "--flips", "0")[0] == 0


def test_what_is_verified_or_replayed_reads_no_other_model(
    run: Run, predictor: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "models" / "q.json"
    assert run("hil", "record", predictor, "--on", "model", "-o", tmp_path / "m.recording")[0] == 0
    forged(predictor, "spec.toml", lambda data: data.replace(b"models/q.json", str(elsewhere).encode()))
    text = (predictor / "spec.toml").read_text()
    code, _, errors = run("verify", predictor, "--on", "model", "--flips", "0")
    assert code == 2 and "E338" in errors and str(elsewhere) in errors
    head, *lines = (tmp_path / "m.recording").read_text().split("\n")
    for model in (json.dumps(MODEL), None):
        written = json.loads(head)
        written["origin"].update(spec=text, model=model)
        (tmp_path / "m.recording").write_text("\n".join([json.dumps(written), *lines]))
        code, _, errors = run("hil", "replay", tmp_path / "m.recording", "--on", "model")
        assert code == 2 and "E214" in errors and str(elsewhere) in errors
