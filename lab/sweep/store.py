"""lab.sweep: results in one SQLite file of the run folder, a row a point, whole at any moment.

Table ``points``: ``key`` (hash of the point's spec and samples), ``inputs`` and ``measures`` (JSON by name),
``status``, ``code`` and ``message`` of a refusal, ``plan`` (hash), ``words`` (digest of the model's words).
Table ``meta``: ``name`` and ``value`` (JSON).  Each row ends with a ``digest`` of what it holds, since SQLite
itself does not notice an altered word.  Rows are written as they come, each set in a transaction, so that a
killed process loses the points under way and nothing else.  A file that cannot be read is left as it is; see
:mod:`.upkeep` for what becomes of its sound rows.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, TypeVar

from ...sim._json import parse_json
from ...sim.errors import KerncastError, fail
from .evaluate import Point
from .measures import current_name

#: The file in the run folder, also the mark of such a folder.
DATABASE = "sweep.db"
SCHEMA = 2

_TABLES = """
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL, digest TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS points (key TEXT PRIMARY KEY, inputs TEXT NOT NULL, status TEXT NOT NULL,
    code TEXT NOT NULL, message TEXT NOT NULL, plan TEXT NOT NULL, words TEXT NOT NULL,
    measures TEXT NOT NULL, digest TEXT NOT NULL);
"""
META = "name, value, digest"
POINTS = "key, inputs, status, code, message, plan, words, measures, digest"
_LOCKED_SECONDS = 30.0
T = TypeVar("T")


def sealed(*values: str) -> tuple[str, ...]:
    """The values of a row and, at its end, their digest."""
    return (*values, hashlib.sha256(json.dumps(values).encode()).hexdigest()[:32])


def sound(row: Sequence[object]) -> bool:
    """Whether a row is as it was written."""
    return all(isinstance(value, str) for value in row) and tuple(row) == sealed(*map(str, row[:-1]))


def point_of(row: Sequence[str]) -> Point:
    """The point of a sound row."""
    key, inputs, status, code, message, plan, words, measures, _ = row
    return Point(key, dict(parse_json(inputs)), status, code, message, plan, words,
                 {current_name(name): value for name, value in parse_json(measures).items()})


def in_use(path: Path, error: Exception) -> KerncastError:
    """E377: another process is at work there."""
    return fail("E377", "another sweep is running in this folder", where=str(path), value=error,
                allowed="one sweep per folder at a time", remedy="wait until it ends, or name another -o")


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
        E365 where there is none, E366 where it cannot be read, E377 where another process writes it.
    """

    def __init__(self, folder: Path, *, new: bool = False) -> None:
        self.path = folder / DATABASE
        if not new and not self.path.is_file():
            raise fail("E365", "the folder holds no sweep", where=str(folder),
                       allowed=f"a folder with {DATABASE}", remedy="run: kerncast sweep SPEC -o FOLDER")
        self._db = self._told(lambda: sqlite3.connect(self.path, timeout=_LOCKED_SECONDS))
        try:
            self._told(self._open)
        except KerncastError:
            self._db.close()
            raise

    def _open(self) -> None:
        found = self._db.execute("PRAGMA integrity_check").fetchone()
        if found != ("ok",):
            raise sqlite3.DatabaseError(str(found and found[0]))
        if self._db.execute("PRAGMA table_info(meta)").fetchall() and not self._db.execute(
                "SELECT 1 FROM pragma_table_info('points') WHERE name = 'digest'").fetchone():
            raise fail("E366", "the results are from an earlier version of kerncast", where=str(self.path),
                       value="rows without digests", allowed=f"rows of schema {SCHEMA}",
                       remedy="name another -o, to compute the points again")
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
                raise self.damaged(error) from error
            raise in_use(self.path, error) from error
        except KerncastError:
            raise
        except (sqlite3.Error, ValueError, TypeError, KeyError) as error:  # not SQLite, or not ours
            raise self.damaged(error) from error

    def damaged(self, what: object) -> KerncastError:
        """E366: the file holds something else than was written."""
        return fail("E366", "the results are damaged", where=str(self.path), value=what,
                    allowed="an unchanged file of kerncast sweep",
                    remedy="run the same kerncast sweep again: it keeps every valid result and computes the "
                           "others. If none is valid, move the file away, or name another -o")

    def meta(self, name: str) -> Any:
        """What was kept under a name; None where nothing was."""
        def read() -> Any:
            row = self._db.execute(f"SELECT {META} FROM meta WHERE name = ?", (name,)).fetchone()
            if row is not None and not sound(row):
                raise self.damaged(f"the row of {name} in meta was changed")
            return None if row is None else parse_json(row[1])
        return self._told(read)

    def put(self, **values: Any) -> None:
        """Keep values under names."""
        def write() -> None:
            with self._db:
                self._db.executemany(f"INSERT OR REPLACE INTO meta ({META}) VALUES (?, ?, ?)",
                                     [sealed(name, json.dumps(value)) for name, value in values.items()])
        self._told(write)

    def add(self, points: Iterable[Point]) -> None:
        """Keep points, in one transaction; what was there under the same key is replaced."""
        def write() -> None:
            with self._db:
                self._db.executemany(
                    f"INSERT OR REPLACE INTO points ({POINTS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    [sealed(p.key, json.dumps(p.inputs), p.status, p.code, p.message, p.plan, p.words,
                            json.dumps(p.measures, sort_keys=True)) for p in points])
        self._told(write)

    def points(self) -> dict[str, Point]:
        """All points by their keys, in the order of these; E366 where any is not as it was written."""
        def read() -> dict[str, Point]:
            rows = self._db.execute(f"SELECT {POINTS} FROM points ORDER BY key").fetchall()
            kept = [row for row in rows if sound(row)]
            if len(kept) < len(rows):
                raise self.damaged(f"{len(rows) - len(kept):,} of {len(rows):,} points were changed, "
                                   f"{len(kept):,} are valid")
            return {row[0]: point_of(row) for row in rows}
        return self._told(read)

    def close(self) -> None:
        """Close the file."""
        self._db.close()


@contextmanager
def opened(folder: Path, *, new: bool = False) -> Iterator[Store]:
    """A store that is closed at the end."""
    with closing(Store(folder, new=new)) as store:
        yield store
