"""lab.sweep: lock the results of a running sweep, and recover damaged results.

The lock is that of SQLite on a separate, empty file. It is released when the process ends, even if it is
killed. Processes that only read the results do not wait for it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

from ...sim._json import parse_json
from ...sim.errors import KerncastError, fail
from .evaluate import Point
from .store import DATABASE, META, POINTS, Store, check_tables, in_use, is_intact, opened, point_of

#: The file that a sweep locks.
LOCK = "sweep.lock"


@contextmanager
def open_for_writing(folder: Path, report: Callable[[str], None]) -> Iterator[Store]:
    """Open the results in a folder for writing by one sweep.

    Parameters
    ----------
    folder : Path
        An existing folder.
    report : callable
        Callback for a message if results were damaged. It states how many were recovered, and where the
        damaged file is.

    Raises
    ------
    KerncastError
        E377 if another sweep is using the folder, E366 if all results are damaged.
    """
    path = folder / LOCK
    if path.is_symlink() or (path.exists() and not (path.is_file() and path.stat().st_size == 0)):
        raise _not_a_lock(path)
    with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as lock:
        try:
            lock.execute("PRAGMA journal_mode = MEMORY")  # no additional file
            lock.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            raise in_use(folder, error) from None
        _rescue(folder, report)
        with opened(folder, new=True) as store:
            yield store


def _not_a_lock(path: Path) -> KerncastError:
    """Return error E366: the lock file is not the one that kerncast sweep wrote."""
    return fail("E366", "the lock file of the results is not a regular, empty file", where=str(path),
                allowed="the empty file that kerncast sweep wrote",
                remedy="move it away, then run the same kerncast sweep again")


def _rescue(folder: Path, report: Callable[[str], None]) -> None:
    """Move the valid rows of a damaged file to a new file, and keep the damaged one."""
    path = folder / DATABASE
    if not path.is_file():
        return
    try:
        with opened(folder) as store:
            for name in ("identity", "settings"):
                store.meta(name)
            store.points()
        return
    except KerncastError as error:
        (problem,) = error.problems
        if problem.code != "E366":
            raise
        identity, points = _sound_rows(path)
        if identity is None or not points:
            remedy = f"no stored result is valid: move {path} away, or name another folder with -o"
            raise KerncastError([replace(problem, remedy=remedy)]) from None
    aside = next(at for n in count(1) if not (at := folder / f"damaged-{n}.db").exists())
    for ending in ("", "-wal", "-shm"):
        with suppress(FileNotFoundError):
            path.with_name(path.name + ending).rename(aside.with_name(aside.name + ending))
    with opened(folder, new=True) as store:
        store.put(identity=identity)
        store.add(points)
    report(f"{path} was damaged. Its {len(points):,} valid points are kept, and the others are computed "
           f"again; the damaged file is now {aside}")


def _sound_rows(path: Path) -> tuple[Any, list[Point]]:
    """Return the identity of the sweep and the points of valid rows in a damaged file.

    The identity is None if it was lost.
    """
    rows: dict[str, Point] = {}
    identity = None
    with closing(sqlite3.connect(path)) as db:
        db.text_factory = lambda found: found.decode("utf-8", "replace")
        try:
            check_tables(db)
        except sqlite3.Error:  # without its tables, no row can be read
            return None, []
        with suppress(sqlite3.Error, ValueError):
            identity = next((parse_json(row[1]) for row in db.execute(f"SELECT {META} FROM meta NOT INDEXED")
                             if row[0] == "identity" and is_intact(row)), None)
        for order in ("ASC", "DESC"):  # what cannot be read may lie between
            with suppress(sqlite3.Error, ValueError, TypeError):
                for row in db.execute(f"SELECT {POINTS} FROM points NOT INDEXED ORDER BY rowid {order}"):
                    if is_intact(row):
                        rows[row[0]] = point_of(row)
    return identity, list(rows.values())
