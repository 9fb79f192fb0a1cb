"""How each parser of foreign input is called: with one input, and a folder of its own.

A call may return, or raise :class:`KerncastError`. Anything else would end the command with 70.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import socket
import sqlite3
import zipfile
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from kerncast.codegen.c.frozen import freeze
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
from kerncast.sim.data.samples import load_samples
from kerncast.sim.data.words_csv import read_words
from kerncast.sim.errors import KerncastError, Problem
from kerncast.sim.formats import Format
from kerncast.sim.model import open_model
from kerncast.sim.plan import Plan
from kerncast.sim.reference.first_row.checkpoint import load
from kerncast.sim.replay.saved_state import check_image
from kerncast.sim.replay.vectors import Vectors
from kerncast.sim.spec import Data, Spec
from kerncast.sim.spec.edit import edited

from .edits import Edit, as_json, edited_tree
from .seeds import METHODS, SPEC, array, database, images, rows, small

_READING = (
    SPEC.replace('"uniform"', '"diagonal_mean"')
    .replace('"u8f0"', '"u8f0"\ncolumns = 2')
    .replace("n = 12", "n = 2")
    + '[data]\nfile = "a.csv"\n'
).encode()
#: Changes of a spec, as `kerncast fit` makes them.
CHANGES: list[tuple[str, str, Any]] = [
    ("kernel", "sigma", 2.5),
    ("online", "quantise", 0.5),
    ("online", "eta", None),
    ("numbers", "word", 24),
    ("toeplitz", "lambda", 0.25),
    ("sweep", "", None),
    ("data", "missing", "drop"),
]


def _written(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


# ---- one function a parser ----
def read_spec(data: bytes, folder: Path) -> None:
    Spec.load(_written(folder, "a.toml", data))


def edit_spec(given: tuple[bytes, int], folder: Path) -> None:
    """Change a value in the text of a spec, as `kerncast fit -o` does, and write the spec as a new text."""
    data, which = given
    path = _written(folder, "a.toml", data)
    spec = Spec.load(path)
    with contextlib.suppress(KerncastError):
        table, key, value = CHANGES[which % len(CHANGES)]
        Spec.from_text(edited(path.read_text(encoding="utf-8-sig"), {(table, key): value}))
    assert Spec.from_text(spec.to_toml()) == spec


def read_sweep_table(data: bytes, folder: Path) -> None:
    make_settings(Spec.load(_written(folder, "a.toml", data)), folder)


def read_table(given: tuple[int, bytes, bytes], folder: Path) -> None:
    """Read a table as keys of [data] of any text state, or look at it as `kerncast init` does."""
    looked, keys, data = given
    path = _written(folder, "a.csv", data)
    if looked:
        inspect_file(path, Data(file=str(path)))
    else:
        load_dataset(Spec.load(_written(folder, "a.toml", _READING + keys)), folder)


def read_csv(given: tuple[int, bytes], folder: Path) -> None:
    """Read counts, or samples with labels."""
    counts, data = given
    path = _written(folder, "a.csv", data)
    problems: list[Problem] = []
    if counts:
        read_words(path, {"x0": Format(False, 8, 0), "y": Format(True, 16, 0)}, problems)
    else:
        load_samples(path, labels="any")


def read_samples(name: str) -> Callable[[bytes, Path], object]:
    return lambda data, folder: load_samples(_written(folder, name, data))


def read_npz(given: tuple[int, Any], folder: Path) -> None:
    """Put an .npy header of any text before data of any bytes, or read an archive of any bytes."""
    which, data = given
    if which == 0:
        header, body = data
        store = io.BytesIO()
        with zipfile.ZipFile(store, "w") as file:
            file.writestr("X.npy", array(4, 2))
            file.writestr(
                "y.npy", b"\x93NUMPY\x01\x00" + (len(header) & 0xFFFF).to_bytes(2, "little") + header + body
            )
        data = store.getvalue()
    load_samples(_written(folder, "a.npz", data))


def read_plan(tree: Any, _: Path) -> None:
    if isinstance(tree, dict) and isinstance(tree.get("decisions"), dict):  # with the hash that it calls for
        text = json.dumps(tree["decisions"], sort_keys=True, separators=(",", ":"))
        tree = tree | {"hash": hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()}
    Plan.from_json(as_json(tree))


def read_vectors(tree: Any, _: Path) -> None:
    plan, _own = small()
    Vectors.from_json(as_json(tree)).check(plan, "vectors.json")


def read_manifest(tree: Any, folder: Path) -> None:
    (folder / "manifest.json").write_text(as_json(tree))
    found = Manifest.read(folder)
    if found is not None:
        found.check_version("manifest")


def read_bundle(given: tuple[int, Any], folder: Path) -> None:
    """A bundle whose manifest is a tree, or whose bytes were edited."""
    edited_bytes, data = given
    path = folder / "a.zip"
    if edited_bytes:
        path.write_bytes(data)
    else:
        tree, which = data
        with zipfile.ZipFile(path, "w", METHODS[which % 16 if which % 16 < len(METHODS) else 0]) as file:
            file.writestr("manifest.json", as_json(tree))
            named = isinstance(tree, dict) and isinstance(tree.get("files"), dict)
            for name in list(tree["files"])[:4] if named else ["x"]:
                with contextlib.suppress(ValueError, IndexError):  # names that zipfile does not write
                    file.writestr(name, "x")
            file.writestr("verified.json", as_json({"versions": tree if which % 3 == 0 else {}}))
    with _opened(path, lambda text: None):
        pass


def read_database(given: tuple[list[Edit], int, int, int], folder: Path) -> None:
    """A database whose rows have right digests, and values of any kind; read, or rescued."""
    edits, which, column, rescued = given
    meta, points = rows()
    for ending in ("-wal", "-shm"):
        (folder / f"sweep.db{ending}").unlink(missing_ok=True)
    path = _written(folder, "sweep.db", database())
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        if which % 5 < len(meta):
            name, value = meta[which % 5]
            row = with_digest(name, as_json(edited_tree(json.loads(value), edits)))
            db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?, ?)", row)
        else:
            at = (1, 7)[column % 2]
            for point in points:
                row = (*point[:at], as_json(edited_tree(json.loads(point[at]), edits)), *point[at + 1 :])
                marks = ", ".join("?" * (len(row) + 1))
                db.execute(f"INSERT OR REPLACE INTO points VALUES ({marks})", with_digest(*row))
    if rescued:
        _rescue(folder, lambda text: None)
    else:
        run = open_run(folder)
        assert run.front is not None and run.best is not run


#: The calls of a client that parse a reply.
OPCODES = ("HELLO", "COUNTERS", "STACK", "TRACE", "SAVE", "RESTORE", "READ")


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


def read_frames(given: tuple[int, list[bytes], int, bytes], _: Path) -> None:
    """A reply with a right checksum and any payload, and any bytes behind it."""
    which, raw, sequence, payload = given
    opcode = OPCODES[which]
    line = _Line([encode_reply(opcode, (sequence + 1) % SEQUENCES, "OK", payload), *raw])
    client = HilClient(line, clock=lambda: line.now)
    client._requests._sequence = sequence
    {
        "HELLO": client.start,
        "COUNTERS": client.counters,
        "STACK": client.stack,
        "TRACE": lambda: client.trace(0),
        "SAVE": client.save,
        "RESTORE": client.restore,
        "READ": lambda: client.request("READ", region=1, offset=0, count=4),
    }[opcode]()


def read_state(given: tuple[int, tuple[int, bytes]], _: Path) -> None:
    """A state of one of the models: as it is, with a right checksum, or with a right header too."""
    kind, (which, data) = given
    plan, whole = images()[which]
    if kind == 2:
        data = whole[:48] + data[48 : len(whole)].ljust(len(whole) - 48, b"\0")
    if kind:
        data = data[:-4] + zlib.crc32(data[:-4]).to_bytes(4, "little")
    found = check_image(plan, data)[0]
    model = open_model(plan)
    try:
        model.restore(data)
    except KerncastError:
        assert found
        return
    assert not found
    if data == model.save() or data[48:-4] == model.save()[48:-4]:
        freeze(plan, data) if data[6] % 8 == 0 else None
    model.predict(np.arange(2 * plan.sizes["D"]).reshape(2, -1))


def read_recording(given: tuple[Any, list[Any]], folder: Path) -> None:
    head, lines = given
    path = folder / "a.rec"
    told = lines if isinstance(lines, list) else [lines]
    path.write_text("".join(f"{as_json(line)}\n" for line in (head, *told)))
    load_recording(path, trusted=True)


def read_results(tree: Any, folder: Path) -> None:
    path = folder / "r.json"
    path.write_text(as_json(tree))
    agreement(folder, [path])


#: What every reply of `kerncast explore` contains.
HEADERS = (b"\r\nX-Content-Type-Options: nosniff", b"\r\nX-Frame-Options: DENY", b"frame-ancestors 'none'")


class _Session:
    """A session that answers anything, so that only the server is under test."""

    def point(self, asked: dict[str, Any]) -> dict[str, Any]:
        return {"asked": len(asked)}

    design = program = point


@cache
def _server() -> Server:
    return Server(_Session(), "<p>page</p>")  # type: ignore[arg-type]


def serve(data: bytes, _: Path) -> None:
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
            _check_reply(line.recv(4096))


def _check_reply(answer: bytes) -> None:
    """Require of a reply, if there is one, a status and the headers that keep it harmless."""
    head = answer.partition(b"\r\n\r\n")[0]
    assert not answer or (head.startswith(b"HTTP/1.1 ") and all(part in head for part in HEADERS)), answer


def read_checkpoint(data: bytes, folder: Path) -> None:
    """A checkpoint of a row."""
    load(_written(folder, "a.npz", data), "key", 8, 4)
