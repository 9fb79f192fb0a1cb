"""lab.sweep: results in one SQLite file of the run folder, a row a point, whole at any moment.

Table ``points``: ``key`` (hash of the point's spec and samples), ``inputs`` and ``measures`` (JSON by name),
``status``, ``code`` and ``message`` of a refusal, ``plan`` (hash), ``words`` (digest of the model's words).
Table ``meta``: ``name`` and ``value`` (JSON).  Rows are written as they come, each set in a transaction, so
that a killed process loses the points under way and nothing else.  A file that cannot be read is left as it
is.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, TypeVar

from ...sim.errors import KerncastError, fail
from .evaluate import Point

#: The file in the run folder, also the mark of such a folder.
DATABASE = "sweep.db"
SCHEMA = 1

_TABLES = """
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS points (key TEXT PRIMARY KEY, inputs TEXT NOT NULL, status TEXT NOT NULL,
    code TEXT NOT NULL, message TEXT NOT NULL, plan TEXT NOT NULL, words TEXT NOT NULL,
    measures TEXT NOT NULL);
"""
_COLUMNS = "key, inputs, status, code, message, plan, words, measures"
_LOCKED_SECONDS = 30.0
T = TypeVar("T")


class Store:
    """The results of one run folder.

    Parameters
    ----------
    folder : Path
    new : bool
        Whether to begin one where there is none.

    Raises
    ------
    KerncastError
        E365 where there is none, E366 where it cannot be read.
    """

    def __init__(self, folder: Path, *, new: bool = False) -> None:
        self.path = folder / DATABASE
        if not new and not self.path.is_file():
            raise fail("E365", "this folder holds no sweep", where=str(folder),
                       allowed=f"a folder with {DATABASE}", remedy="run kerncast sweep SPEC -o FOLDER first")
        self._db = self._told(lambda: sqlite3.connect(self.path, timeout=_LOCKED_SECONDS))
        try:
            self._told(self._open)
        except KerncastError:
            self._db.close()
            raise

    def _open(self) -> None:
        found = self._db.execute("PRAGMA quick_check").fetchone()
        if found != ("ok",):
            raise sqlite3.DatabaseError(str(found and found[0]))
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=NORMAL")
        with self._db:
            self._db.executescript(_TABLES)
        if self.meta("schema") is None:
            self.put(schema=SCHEMA)
        if self.meta("schema") != SCHEMA:
            raise sqlite3.DatabaseError(f"written by another version, schema {self.meta('schema')}")

    def _told(self, do: Callable[[], T]) -> T:
        """What `do` gives; E366 where the file is damaged."""
        try:
            return do()
        except sqlite3.OperationalError as error:
            if "locked" not in str(error):
                raise self._damaged(error) from error
            raise fail("E366", "the results are locked by another sweep", where=str(self.path), value=error,
                       allowed="one sweep at a time in a folder", remedy="wait for it, or name another -o"
                       ) from error
        except (sqlite3.Error, ValueError, TypeError, KeyError) as error:  # not SQLite, or not ours
            raise self._damaged(error) from error

    def _damaged(self, error: Exception) -> KerncastError:
        return fail("E366", "the results cannot be read", where=str(self.path), value=error,
                    allowed="a file that kerncast sweep wrote",
                    remedy="nothing was changed: move the file away, or name another -o")

    def meta(self, name: str) -> Any:
        """What was kept under a name; None where nothing was."""
        def read() -> Any:
            row = self._db.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
            return None if row is None else json.loads(row[0])
        return self._told(read)

    def put(self, **values: Any) -> None:
        """Keep values under names."""
        def write() -> None:
            with self._db:
                self._db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)",
                                     [(name, json.dumps(value)) for name, value in values.items()])
        self._told(write)

    def add(self, points: Iterable[Point]) -> None:
        """Keep points, in one transaction; what was there under the same key is replaced."""
        def write() -> None:
            with self._db:
                self._db.executemany(
                    f"INSERT OR REPLACE INTO points ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                    [(p.key, json.dumps(p.inputs), p.status, p.code, p.message, p.plan, p.words,
                      json.dumps(p.measures, sort_keys=True)) for p in points])
        self._told(write)

    def points(self) -> dict[str, Point]:
        """All points by their keys, in the order of these."""
        return self._told(lambda: {point.key: point for point in self._rows()})

    def _rows(self) -> Iterator[Point]:
        for row in self._db.execute(f"SELECT {_COLUMNS} FROM points ORDER BY key"):
            key, inputs, status, code, message, plan, words, measures = row
            yield Point(key, json.loads(inputs), status, code, message, plan, words, json.loads(measures))

    def close(self) -> None:
        """Close the file."""
        self._db.close()


@contextmanager
def opened(folder: Path, *, new: bool = False) -> Iterator[Store]:
    """A store that is closed at the end."""
    with closing(Store(folder, new=new)) as store:
        yield store
