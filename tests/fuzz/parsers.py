"""Every parser of foreign input with its seeds: what it is given, and how it is called.

A call may return, or raise :class:`KerncastError`. Anything else would end the command with 70.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import random
import socket
import sqlite3
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from kerncast.codegen.manifest import Manifest
from kerncast.hw.hil.client import HilClient
from kerncast.hw.hil.protocol import SEQUENCES, encode_reply
from kerncast.lab.compare.recording import load_recording
from kerncast.lab.compare.verification import _opened
from kerncast.lab.explore.server import Server
from kerncast.lab.report.agreement import agreement
from kerncast.lab.sweep import make_settings, open_run
from kerncast.lab.sweep.store import with_digest
from kerncast.lab.sweep.upkeep import _rescue
from kerncast.sim.data import load_dataset
from kerncast.sim.data.inspection import inspect_file
from kerncast.sim.data.predictor_file import read_model
from kerncast.sim.data.samples import load_samples
from kerncast.sim.data.words_csv import read_words
from kerncast.sim.errors import KerncastError, Problem
from kerncast.sim.formats import Format
from kerncast.sim.model import open_model
from kerncast.sim.plan import Plan
from kerncast.sim.replay.saved_state import check_image
from kerncast.sim.replay.vectors import Vectors
from kerncast.sim.spec import Data, Spec

from .edits import Edit, as_json, blobs, drawn_edits, edited_tree, texts, trees
from .seeds import (
    HTTP,
    LEARNER,
    MODEL,
    READING,
    RESULTS,
    SPEC,
    TABLES,
    archive,
    array,
    generated,
    image,
    recorded,
    rows,
    small,
    wav,
)


@dataclass(frozen=True)
class Parser:
    """A parser under test.

    Parameters
    ----------
    inputs : callable
        Draws an input from a generator of random numbers.
    call : callable
        Takes an input and a folder of its own.
    """

    inputs: Callable[[random.Random], Any]
    call: Callable[[Any, Path], object]


def _written(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


# ---- one function a parser ----
def _spec(data: bytes, folder: Path) -> None:
    Spec.load(_written(folder, "a.toml", data))


def _sweep_table(data: bytes, folder: Path) -> None:
    make_settings(Spec.load(_written(folder, "a.toml", data)), folder)


def _table(given: tuple[bytes, bytes], folder: Path) -> None:
    """Read a table as keys of [data] of any text state, and look at it as `kerncast init` does."""
    keys, data = given
    path = _written(folder, "a.csv", data)
    with contextlib.suppress(KerncastError):
        inspect_file(path, Data(file=str(path)))
    text = SPEC.replace('"uniform"', '"diagonal_mean"').replace('"u8f0"', '"u8f0"\ncolumns = 2')
    spec = f'{text.replace("n = 12", "n = 2")}[data]\nfile = "a.csv"\n'
    load_dataset(Spec.load(_written(folder, "a.toml", spec.encode() + keys)), folder)


def _csv(data: bytes, folder: Path) -> None:
    path = _written(folder, "a.csv", data)
    problems: list[Problem] = []
    read_words(path, {"x0": Format(False, 8, 0), "y": Format(True, 16, 0)}, problems)
    load_samples(path, labels="any")


def _samples(name: str) -> Callable[[bytes, Path], object]:
    return lambda data, folder: load_samples(_written(folder, name, data))


def _npz(members: tuple[bytes, bytes, bytes], folder: Path) -> None:
    """Put an .npy header of any text before data of any bytes."""
    header, body, archive = members
    store = io.BytesIO()
    with zipfile.ZipFile(store, "w") as file:
        file.writestr("X.npy", array())
        file.writestr(
            "y.npy", b"\x93NUMPY\x01\x00" + (len(header) & 0xFFFF).to_bytes(2, "little") + header + body
        )
    for data in (store.getvalue(), archive):
        with contextlib.suppress(KerncastError):
            load_samples(_written(folder, "a.npz", data))


def _plan(tree: Any, _: Path) -> None:
    if isinstance(tree, dict) and isinstance(
        tree.get("decisions"), dict
    ):  # with the hash that it calls for
        text = json.dumps(tree["decisions"], sort_keys=True, separators=(",", ":"))
        tree = tree | {"hash": hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()}
    Plan.from_json(as_json(tree))


def _vectors(tree: Any, _: Path) -> None:
    plan, _own = small()
    Vectors.from_json(as_json(tree)).check(plan, "vectors.json")


def _manifest(tree: Any, folder: Path) -> None:
    (folder / "manifest.json").write_text(as_json(tree))
    found = Manifest.read(folder)
    if found is not None:
        found.check_version("manifest")


def _bundle(given: tuple[Any, bytes, int], folder: Path) -> None:
    """A bundle whose manifest is a tree, or whose bytes were edited."""
    tree, archive, which = given
    path = folder / "a.zip"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("manifest.json", as_json(tree))
        names = (
            list(tree["files"]) if isinstance(tree, dict) and isinstance(tree.get("files"), dict) else ["x"]
        )
        for name in names[:4]:
            with contextlib.suppress(ValueError, IndexError):  # names that zipfile does not write
                file.writestr(name, "x")
        file.writestr("verified.json", as_json({"versions": tree if which % 3 == 0 else {}}))
    for data in (path.read_bytes(), archive):
        path.write_bytes(data)
        with contextlib.suppress(KerncastError), _opened(path, lambda text: None):
            pass


def _sweep(given: tuple[list[Edit], int, int], folder: Path) -> None:
    """A database whose rows have right digests, and values of any kind."""
    edits, which, column = given
    meta, points = rows()
    with contextlib.closing(sqlite3.connect(folder / "sweep.db")) as db, db:
        db.execute(
            "CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL, digest TEXT)"
        )
        db.execute(
            "CREATE TABLE IF NOT EXISTS points (key TEXT PRIMARY KEY, inputs TEXT, status TEXT, code TEXT, "
            "message TEXT, plan TEXT, words TEXT, measures TEXT, digest TEXT)"
        )
        db.execute("DELETE FROM meta")
        db.execute("DELETE FROM points")
        for i, (name, value) in enumerate(meta):
            if which % 5 == i:
                value = as_json(edited_tree(json.loads(value), edits))
            db.execute("INSERT INTO meta VALUES (?, ?, ?)", with_digest(name, value))
        for row in points:
            row = list(row)
            if which % 5 > 2:
                at = (1, 7)[column % 2]
                row[at] = as_json(edited_tree(json.loads(row[at]), edits))
            db.execute(
                "INSERT OR REPLACE INTO points VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", with_digest(*row)
            )
    with contextlib.suppress(KerncastError):
        run = open_run(folder)
        assert run.front is not None and run.best is not run
    _rescue(folder, lambda text: None)


class _Line:
    """A link that delivers some bytes and is silent from then on; its time passes while it is read."""

    announces, name = False, "fuzz"

    def __init__(self, pieces: list[bytes]) -> None:
        self.pieces, self.now = list(pieces), 0.0

    def read(self, timeout: float) -> bytes:
        self.now += max(timeout, 0.01)
        return self.pieces.pop(0) if self.pieces else b""

    def write(self, data: bytes) -> None:
        pass

    def close(self) -> None:
        pass


def _frames(given: tuple[list[bytes], int, bytes], _: Path) -> None:
    """Replies with a right checksum and any payload, and any bytes between them."""
    raw, sequence, payload = given
    for opcode in ("HELLO", "COUNTERS", "STACK", "TRACE", "SAVE", "RESTORE", "READ"):
        line = _Line([encode_reply(opcode, (sequence + 1) % SEQUENCES, "OK", payload), *raw])
        client = HilClient(line, clock=lambda line=line: line.now)
        client._requests._sequence = sequence
        call = {
            "HELLO": client.start,
            "COUNTERS": client.counters,
            "STACK": client.stack,
            "TRACE": lambda c=client: c.trace(0),
            "SAVE": client.save,
            "RESTORE": client.restore,
            "READ": lambda c=client: c.request("READ", region=1, offset=0, count=4),
        }[opcode]
        with contextlib.suppress(KerncastError):
            call()


def _state(data: bytes, _: Path) -> None:
    plan, whole = image()
    for given in (
        data,
        data[:-4] + zlib.crc32(data[:-4]).to_bytes(4, "little"),
        whole[:48] + data[48 : len(whole)].ljust(len(whole) - 48, b"\0")[:-4],
    ):
        given = given[:-4] + zlib.crc32(given[:-4]).to_bytes(4, "little")
        check_image(plan, given)
        model = open_model(plan)
        with contextlib.suppress(KerncastError):
            model.restore(given)
            model.predict(np.arange(2)[:, None])


def _recording(given: tuple[Any, list[Any]], folder: Path) -> None:
    head, lines = given
    path = folder / "a.rec"
    told = lines if isinstance(lines, list) else [lines]
    path.write_text("".join(f"{as_json(line)}\n" for line in (head, *told)))
    load_recording(path, trusted=True)


def _results(tree: Any, folder: Path) -> None:
    path = folder / "r.json"
    path.write_text(as_json(tree))
    agreement(folder, [path])


class _Session:
    """A session that answers anything, so that only the server is under test."""

    def point(self, asked: dict[str, Any]) -> dict[str, Any]:
        return {"asked": len(asked)}

    design = program = point


@cache
def _server() -> Server:
    return Server(_Session(), "<p>page</p>")  # type: ignore[arg-type]


def _http(data: bytes, _: Path) -> None:
    """Send bytes as a request with the token in place; the server answers, or closes the connection.

    The server's end of the connection is served in this thread: a thread and a connection of TCP cost more
    than a request.
    """
    server = _server()
    data = data.replace(b"TOKEN", server.token.encode()).replace(b"HOST", server.hosts[0].encode())
    line, end = socket.socketpair()
    with line, end:
        line.sendall(data)
        line.shutdown(socket.SHUT_WR)
        with contextlib.suppress(ConnectionError):
            server.finish_request(end, ("127.0.0.1", 1))
        end.close()
        with contextlib.suppress(ConnectionError):
            answer = line.recv(12)
            assert answer == b"" or answer.startswith((b"HTTP/1.", b"<!DOCTYPE", b"403 "))  # HTTP/0.9


def _tuple(*parts: Callable[[random.Random], Any]) -> Callable[[random.Random], tuple[Any, ...]]:
    """Draw one of each part."""
    return lambda chance: tuple(part(chance) for part in parts)


def _half(seeds: list[str]) -> Callable[[random.Random], bytes]:
    """Edit half of the texts: with two edited ones, few inputs get past the first."""
    edited = texts(seeds)
    return lambda chance: chance.choice(seeds).encode() if chance.getrandbits(1) else edited(chance)


def _below(limit: int) -> Callable[[random.Random], int]:
    return lambda chance: chance.randrange(limit)


def _bytes(limit: int) -> Callable[[random.Random], bytes]:
    """Draw up to `limit` bytes."""
    return lambda chance: chance.randbytes(chance.randrange(limit + 1))


def _pieces(limit: int) -> Callable[[random.Random], list[bytes]]:
    """Draw up to `limit` pieces of a stream."""
    return lambda chance: [chance.randbytes(chance.randrange(81)) for _ in range(chance.randrange(limit + 1))]


def parsers() -> dict[str, Parser]:
    """Return every parser by its name."""
    plan, vectors = small()
    plan_tree, vector_tree = json.loads(plan.to_json()), json.loads(vectors.to_json())
    manifest, bundle = generated()
    head, lines = recorded()
    npy = "{'descr': '<f8', 'fortran_order': False, 'shape': (4,), }\n"
    headers = [
        npy,
        npy.replace("4,", "4, 1"),
        npy.replace("<f8", "|O"),
        npy.replace("<f8", "<U7"),
        npy.replace("4", "-4"),
        npy.replace("4", "4000000000000"),
        npy.replace("'<f8'", "[('a', '<f8')]"),
    ]
    edited = texts(headers)

    def header(chance: random.Random) -> bytes:
        return edited(chance).replace(b"\n", b"") + b"\n"

    return {
        "toml": Parser(texts([SPEC, LEARNER]), _spec),
        "sweep_table": Parser(texts([LEARNER]), _sweep_table),
        "csv": Parser(texts(["x0,y\n1,2\n3,4\n5,-6\n", "y\n1\n2\n", "x0;y\n1,5;2\n"]), _csv),
        "table": Parser(_tuple(_half(READING), _half(TABLES)), _table),
        "npz": Parser(_tuple(header, _bytes(64), blobs([archive()])), _npz),
        "wav": Parser(
            blobs([wav(16, 1), wav(8, 2), wav(24, 1), wav(32, 2)]),
            _samples("a.wav"),
        ),
        "libsvm": Parser(texts(["1 1:2 3:4\n-1 2:5 # c\n", "0.5 qid:1 1:1e3\n"]), _samples("a.svm")),
        "model": Parser(trees([MODEL]), lambda tree, _: read_model(as_json(tree), "m.json")),
        "plan": Parser(trees([plan_tree]), _plan),
        "vectors": Parser(trees([vector_tree]), _vectors),
        "manifest": Parser(trees([manifest]), _manifest),
        "bundle": Parser(_tuple(trees([manifest]), blobs([bundle]), _below(256)), _bundle),
        "sweep_database": Parser(_tuple(drawn_edits, _below(256), _below(256)), _sweep),
        "frames": Parser(_tuple(_pieces(3), _below(65_536), _bytes(80)), _frames),
        "saved_state": Parser(blobs([image()[1]]), _state),
        "recording": Parser(_tuple(trees([head]), trees([lines])), _recording),
        "http": Parser(texts(HTTP), _http),
        "results": Parser(trees([RESULTS, {"examples": [RESULTS]}]), _results),
    }
