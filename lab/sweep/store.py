"""lab.sweep: store the results of a sweep in an SQLite file, one row per point.

The table ``points`` contains ``key`` (hash of the point's spec and samples), ``inputs`` and ``measures``
(JSON), ``status``, ``code`` and ``message`` (of the first error), ``plan`` (hash), and ``words`` (digest of
the results of the integer model). The table ``meta`` contains ``name`` and ``value`` (JSON). In both tables,
the last column ``digest`` protects the row, because SQLite does not detect altered values.

The file is always consistent. Each batch of finished points is written in one transaction. Therefore, if the
process is killed, only the points in progress are lost. A file that cannot be read is not changed;
:mod:`.upkeep` recovers its valid rows.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
#: The same, as SQLite returns them.
_OURS = {" ".join(text.split()) for text in _TABLES.replace(" IF NOT EXISTS", "").split(";")}
META = "name, value, digest"
POINTS = "key, inputs, status, code, message, plan, words, measures, digest"
_LOCKED_SECONDS = 30.0
#: What SQLite reports if the system refuses a write, and what is found is whole.
_REFUSED = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM,
            sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_FSYNC, sqlite3.SQLITE_IOERR_SHMSIZE}
T = TypeVar("T")


def with_digest(*values: str) -> tuple[str, ...]:
    """Return the values of a row, followed by their digest."""
    return (*values, hashlib.sha256(json.dumps(values).encode()).hexdigest()[:32])


def is_intact(row: Sequence[object]) -> bool:
    """Report whether the values of a row match its digest."""
    return all(isinstance(value, str) for value in row) and tuple(row) == with_digest(*map(str, row[:-1]))


def point_of(row: Sequence[str]) -> Point:
    """Return the point of a valid row."""
    key, written, status, code, message, plan, words, measured, _ = row
    inputs, measures = parse_json(written), parse_json(measured)
    if not isinstance(inputs, dict) or not all(isinstance(v, (int, float, str)) for v in inputs.values()) \
            or not is_numbers(measures):
        raise ValueError("a point has values of the wrong type")
    return Point(key, inputs, status, code, message, plan, words,
                 {current_name(name): value for name, value in measures.items()})


def is_numbers(values: object) -> bool:
    """Report whether `values` is a dictionary of numbers in the range of float.

    Infinity is allowed, NaN is not.
    """
    return isinstance(values, dict) and all(
        (isinstance(v, (int, float)) and not isinstance(v, bool) and abs(v) <= sys.float_info.max)
        or v in (float("inf"), -float("inf")) for v in values.values())


def in_use(path: Path, error: Exception) -> KerncastError:
    """Return error E377: another process is using the folder."""
    return fail("E377", "another sweep is running in this folder", where=str(path), value=error,
                allowed="one sweep per folder at a time",
                remedy="wait until the other sweep ends, or name another folder with -o")


def check_settings(held: Mapping[str, Any]) -> None:
    """Raise ValueError if stored settings have values of the wrong type."""
    wanted: dict[str, tuple[type, ...]] = {"text": (str,), "name": (str,), "most": (bool,),
                                           "number": (int, float), "above_float": (bool,)}
    wrong = [name for name in held["objectives"] if not isinstance(name, str)]
    wrong += [c for c in held["constraints"] if c.keys() != wanted.keys()
              or not all(isinstance(c[name], kind) for name, kind in wanted.items())]
    wrong += [key for key, values in held["axes"]
              if not isinstance(key, str) or not all(isinstance(v, (int, float, str)) for v in values)]
    wrong += [held[name] for name in ("trials", "seed") if not isinstance(held[name], (int, type(None)))]
    if wrong or not isinstance(held["base_dir"], str) or not is_numbers(held["baseline"]):
        raise ValueError(f"a value of the wrong type: {wrong[:1] or 'base_dir or baseline'}")


def check_tables(db: sqlite3.Connection) -> None:
    """Raise sqlite3.DatabaseError if a file contains more than a sweep's tables.

    SQLite computes the views, triggers, checks and generated columns of a file when it reads or writes rows.
    In a forged file they may have no end.
    """
    for kind, name, text in db.execute("SELECT type, name, sql FROM sqlite_master"):
        automatic = kind == "index" and text is None  # of a primary key
        if not automatic and " ".join(str(text).split()) not in _OURS:
            raise sqlite3.DatabaseError(f"kerncast sweep did not create the {kind} {name}")


class Store:
    """Store for the results of a sweep, in its folder.

    Parameters
    ----------
    folder : Path
    new : bool
        Whether to create the store if it does not exist.

    Raises
    ------
    KerncastError
        E365 if the store does not exist, E366 if it cannot be read, E377 if another process is writing to it.
    """

    def __init__(self, folder: Path, *, new: bool = False) -> None:
        self.path = folder / DATABASE
        if not new and not self.path.is_file():
            raise fail("E365", "the folder contains no sweep", where=str(folder),
                       allowed=f"a folder with {DATABASE}", remedy="run: kerncast sweep SPEC -o FOLDER")
        if self.path.is_symlink():  # SQLite would write to another place
            raise self.damaged("a link")
        self._db = self._told(lambda: sqlite3.connect(self.path, timeout=_LOCKED_SECONDS))
        try:
            self._told(self._open)
        except KerncastError:
            self._db.close()
            raise

    def _open(self) -> None:
        if self._db.execute("PRAGMA table_info(meta)").fetchall() and not self._db.execute(
                "SELECT 1 FROM pragma_table_info('points') WHERE name = 'digest'").fetchone():
            raise fail("E366", "the results are from an earlier version of kerncast", where=str(self.path),
                       value="rows without digests", allowed=f"rows of schema {SCHEMA}",
                       remedy="name another folder with -o, to compute the points again")
        check_tables(self._db)
        found = self._db.execute("PRAGMA integrity_check").fetchone()
        if found != ("ok",):
            raise sqlite3.DatabaseError(str(found and found[0]))
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=NORMAL")
        with self._db:
            self._db.executescript(_TABLES)
        if self.meta("schema") is None:
            self.put(schema=SCHEMA)
        if self.meta("schema") != SCHEMA:
            raise sqlite3.DatabaseError(
                f"written by another version of kerncast, with schema {self.meta('schema')}")

    def _told(self, do: Callable[[], T]) -> T:
        """Call `do`, and return its result; convert errors of SQLite.

        Raises E366 if the file is damaged, E191 if it cannot be written, and E377 if it is in use.
        """
        try:
            return do()
        except sqlite3.OperationalError as error:
            code = getattr(error, "sqlite_errorcode", 0)
            if _REFUSED & {code, code & 0xFF}:  # its low byte is the kind
                raise fail("E191", "the results cannot be written", where=str(self.path), value=error,
                           allowed="a folder with free space that you may write to",
                           remedy="free some space, then run the same command again: it resumes") from error
            if "locked" not in str(error):
                raise self.damaged(error) from error
            raise in_use(self.path, error) from error
        except KerncastError:
            raise
        except (sqlite3.Error, ValueError, TypeError, KeyError) as error:  # not SQLite, or not ours
            raise self.damaged(error) from error

    def damaged(self, what: object) -> KerncastError:
        """Return error E366: the file is damaged or was changed."""
        return fail("E366", "the results are damaged", where=str(self.path), value=what,
                    allowed="an unchanged file that kerncast sweep wrote",
                    remedy="run the same kerncast sweep again: it keeps every valid result and computes the "
                           "others. If none is valid, move the file away, or name another folder with -o")

    def meta(self, name: str) -> Any:
        """Return the value of a name in the table ``meta``; None if there is none."""
        def read() -> Any:
            row = self._db.execute(f"SELECT {META} FROM meta WHERE name = ?", (name,)).fetchone()
            if row is not None and not is_intact(row):
                raise self.damaged(f"the row of {name} in meta was changed")
            return None if row is None else parse_json(row[1])
        return self._told(read)

    def put(self, **values: Any) -> None:
        """Store values by name in the table ``meta``."""
        def write() -> None:
            with self._db:
                self._db.executemany(f"INSERT OR REPLACE INTO meta ({META}) VALUES (?, ?, ?)",
                                     [with_digest(name, json.dumps(value)) for name, value in values.items()])
        self._told(write)

    def add(self, points: Iterable[Point]) -> None:
        """Store points in one transaction; points with the same key are replaced."""
        def write() -> None:
            with self._db:
                self._db.executemany(
                    f"INSERT OR REPLACE INTO points ({POINTS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    [with_digest(p.key, json.dumps(p.inputs), p.status, p.code, p.message, p.plan, p.words,
                            json.dumps(p.measures, sort_keys=True)) for p in points])
        self._told(write)

    def points(self) -> dict[str, Point]:
        """Return all points by key, in key order; raise E366 if any is damaged."""
        def read() -> dict[str, Point]:
            rows = self._db.execute(f"SELECT {POINTS} FROM points ORDER BY key").fetchall()
            kept = [row for row in rows if is_intact(row)]
            if len(kept) < len(rows):
                raise self.damaged(f"{len(rows) - len(kept):,} of {len(rows):,} points were changed; "
                                   f"{len(kept):,} are valid")
            return {row[0]: point_of(row) for row in rows}
        return self._told(read)

    def close(self) -> None:
        """Close the database file."""
        self._db.close()


@contextmanager
def opened(folder: Path, *, new: bool = False) -> Iterator[Store]:
    """Open a store, and close it at the end of the block."""
    with closing(Store(folder, new=new)) as store:
        yield store
