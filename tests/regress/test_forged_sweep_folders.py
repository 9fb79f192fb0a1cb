"""A folder of a sweep from elsewhere neither computes without end nor leads a sweep to other files."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

Run = Callable[..., tuple[int, str, str]]
ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT 'k' || x"
POINTS = "inputs, '' status, '' code, '' message, '' plan, '' words, '{}' measures, '' digest FROM c"
FORGERIES = {
    "points without end": ("DROP TABLE points", f"CREATE VIEW points AS {ENDLESS} key, '{{}}' {POINTS}"),
    "settings without end": (
        "DROP TABLE meta",
        f"CREATE VIEW meta AS {ENDLESS} name, '' value, '' digest FROM c",
    ),
    "a trigger": ("CREATE TRIGGER t AFTER INSERT ON points BEGIN DELETE FROM meta; END",),
    "a check": ("CREATE TABLE other (a CHECK(length(hex(zeroblob(400000000))) > 0))",),
    "an index": ("CREATE INDEX i ON points (length(hex(zeroblob(400000000))))",),
}


@pytest.fixture
def sweep(run: Run, spec: Path) -> tuple[str | Path, ...]:
    """A command whose folder contains the results of an earlier run of it."""
    command = ("sweep", spec, "--grid", "kernel.sigma=2,3", "-o", spec.parent / "run")
    assert run(*command)[0] == 0
    return command


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_database_of_other_tables_is_refused_unread(
    run: Run, sweep: tuple[str | Path, ...], tmp_path: Path, forgery: str
) -> None:
    with closing(sqlite3.connect(tmp_path / "run" / "sweep.db")) as db, db:
        for statement in FORGERIES[forgery]:
            db.execute(statement)
    for command in (sweep, ("report", tmp_path / "run", "-o", tmp_path / "a.html")):
        code, _, errors = run(*command)
        assert code == 2 and "E366" in errors and "kerncast sweep did not create" in errors
    assert not (tmp_path / "a.html").exists()


@pytest.mark.parametrize("name", ["sweep.db", "sweep.lock", "best.toml"])
def test_a_sweep_writes_through_no_link(
    run: Run, sweep: tuple[str | Path, ...], tmp_path: Path, name: str
) -> None:
    path, elsewhere = tmp_path / "run" / name, tmp_path / "elsewhere"
    path.unlink()
    path.symlink_to(elsewhere)
    code, _, errors = run(*sweep)
    assert code == 2 and ("E366" in errors or "E191" in errors) and name in errors
    assert path.is_symlink() and not elsewhere.exists()


def test_a_lock_of_other_contents_is_refused(
    run: Run, sweep: tuple[str | Path, ...], tmp_path: Path
) -> None:
    (tmp_path / "run" / "sweep.lock").write_text("this is not a lock " * 100)
    code, _, errors = run(*sweep)
    assert code == 2 and "E366" in errors and "sweep.lock" in errors
