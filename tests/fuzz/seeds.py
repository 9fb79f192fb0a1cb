"""Good inputs of every parser, which the edits start from."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import sqlite3
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from kerncast.codegen.generate import generate
from kerncast.lab.sweep import make_settings, run_sweep
from kerncast.lab.sweep.store import opened, with_digest
from kerncast.sim.model import open_model
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.reference.first_row.checkpoint import SumsState, save
from kerncast.sim.replay.vectors import Vectors, make_vectors
from kerncast.sim.spec import Spec

from .models import MODELS as STATES
from .models import plan_of, taught

#: The small spec of the tests, without its data.
SPEC = (Path(__file__).parents[1] / "small.toml").read_text(encoding="utf-8").partition("[data]")[0]

LEARNER = """model = {name = "learner", algorithm = "kernel_lms"}
input = {word = "s8f0", columns = 2, offset = [0, 3], gain = [1.0, 0.5]}
output = {word = "s8f0", unit = "mV"}
kernel = {type = "laplacian", sigma = 20.0}
online = {budget = 4, eta = 0.5}
numbers = {word = 24, formats = {alpha = "s24f20"}, casts = {f = "wrap"}}
[sweep]
grid = {"numbers.word" = [16, 24], "kernel.sigma" = "1..4/3"}
objectives = ["error", "ram"]
constraints = ["ram <= 8 kB", "error <= float + 1"]
"""


RLS = """[model]
name = "rls"   # comment
algorithm = "online_kernel_rls"
[input]
word = "s8f0"
delay = 3
unit = "m/s^2"
[output]
word = "s8f0"
unit = "mV"
[kernel]
sigma = 20.0
[rls]
features = 10
forgetting = 0.99
ridge = 1e-3
linear = false
steps = 4
seed = 1
"""
CLASSES = """[model]
name = "classes"
algorithm = "kernel_lms"
[input]
word = "s8f0"
delay = 4
[output]
classes = ["idle", "walk", 3]
min_margin = 0.25
[kernel]
sigma = 20.0
[online]
budget = 4
eta = 0.5
# quantise = 0.8   # an example
reduction = "nt"
[data]
file = "a.csv"
target_column = "c"
ranges = {x = [-1, 1]}
rows = "1..100"
"""
LINEAR = """model = {name = "linear", algorithm = "kernel_lms"}
input = {word = "s8f0", columns = 2, unit = ["V", "°C"]}
output = {word = "s8f0", outputs = 1}
kernel = {sigma = 20.0}
[online]
budget = 4
eta = 0.5
quantise = 0.7
linear = "rls"
linear_forgetting = 0.99
linear_ridge = 0.5
joint = false
last_errors = 3
"""
#: A spec of each algorithm that can be read without its files; the second has a sweep.
SPECS = [SPEC, LEARNER, RLS.replace("delay", "columns"), CLASSES, LINEAR]


#: Keys of [data] that state how to read a table, and tables.
READING = [
    """target_column = "c"
inputs = ["a", 1]
time = "t"
decimal = ","
separator = ";"
rows = "2..6"
missing = "drop"
classes = ["idle", "run"]
""",
    """target_column = 2
ranges = {a = [-1.5, 2.5], b = [0, 10], c = [0, 100]}
rows = 3
missing = "refuse"
""",
]
TABLES = [
    "t;a;b;c\n0,0;1,5;2;idle\n0,1;2,5;3;run\n0,2;NA;4;walk\n0,3;1;;idle\n",
    "a,b,c\n0.5,1,2\n1e-1,3,4\n-1,NaN,6\n2,7,8\n",
    "\n".join(["t,y", *(f"2026-01-01T00:00:{i:02},{i * i}" for i in range(9)), ""]),
]


MODELS: list[dict[str, Any]] = [
    {
        "format": "kerncast model 1",
        "origin": "SVC",
        "kernel": {"type": "gaussian", "sigma": 1.0},
        "classes": ["a", "b"],
        "scale": [1.0, 2.0],
        "bias": 0.5,
        "alpha": [1.0, -2.0],
        "vectors": [[1.0, 2.0], [3.0, 4.0]],
    },
    {
        "format": "kerncast model 2",
        "origin": "SVC",
        "kernel": {"type": "polynomial", "degree": 2, "gamma": 0.5, "coef0": 1.0},
        "classes": ["a", "b", 3],
        "decision": "vote",
        "groups": [1, 1, 1],
        "scale": [1.0],
        "bias": [0.5, 0.25, -1],
        "alpha": [[1.0, -2.0], [0.5, 1.5], [1, 2]],
        "vectors": [[1.0], [3.0], [4.0]],
    },
]


@cache
def small() -> tuple[Plan, Vectors]:
    """Return a plan with a trained model's vectors."""
    plan = make_plan(Spec.from_text(f'{SPEC}[numbers]\nexp_table = "small"\n', "small.toml"))
    y = np.arange(-6, 6)
    return plan, make_vectors(
        open_model(plan), [("train", None, y), ("predict", np.arange(4)[:, None], None)]
    )


def array(*shape: int) -> bytes:
    store = io.BytesIO()
    np.save(store, np.arange(float(np.prod(shape))).reshape(shape))
    return store.getvalue()


#: How a member of a ZIP file may be compressed; kerncast refuses all but the first two.
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)


def zipped(members: dict[str, bytes | str], *methods: int) -> bytes:
    """Return a ZIP file whose members are compressed by the methods in turn."""
    store = io.BytesIO()
    with zipfile.ZipFile(store, "w") as file:
        for at, (name, data) in enumerate(members.items()):
            file.writestr(name, data, methods[at % len(methods)])
    return store.getvalue()


def archives() -> list[bytes]:
    """Return NPZ files, one per method of compression, and one whose members differ in it."""
    members: dict[str, bytes | str] = {"X.npy": array(4, 2), "y.npy": array(4)}
    return [*(zipped(members, method) for method in METHODS), zipped(members, *METHODS[1:3])]


def wav(bits: int, channels: int) -> bytes:
    data = bytes(range(64)) * 2
    size = bits // 8 * channels
    fmt = b"".join(
        n.to_bytes(w, "little")
        for n, w in ((1, 2), (channels, 2), (8000, 4), (8000 * size, 4), (size, 2), (bits, 2))
    )
    chunks = b"fmt " + len(fmt).to_bytes(4, "little") + fmt + b"data" + len(data).to_bytes(4, "little") + data
    return b"RIFF" + (len(chunks) + 4).to_bytes(4, "little") + b"WAVE" + chunks


@cache
def generated() -> tuple[dict[str, Any], list[bytes]]:
    """Return the manifest of a folder, and bundles."""
    import tempfile

    with tempfile.TemporaryDirectory() as made:
        generate(small()[0], Path(made) / "out")
        manifest = json.loads((Path(made) / "out" / "manifest.json").read_text())
    held = {"files": {"a.c": hashlib.sha256(b"x").hexdigest()}}
    members: dict[str, bytes | str] = {
        "manifest.json": json.dumps(manifest | held),
        "a.c": "x",
        "verified.json": '{"versions": {}}',
    }
    bundles = [*(zipped(members, method) for method in METHODS), zipped(members, *METHODS)]
    files = dict(list(manifest["files"].items())[:3])
    return manifest | {"files": files}, bundles


@cache
def rows() -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    import tempfile

    text = SPEC + '[data]\nfile = "small.csv"\n'
    with tempfile.TemporaryDirectory() as made:
        (Path(made) / "small.csv").write_text(
            "\n".join(["y", *(str((7 * i * i) % 100 - 50) for i in range(12)), ""])
        )
        settings = make_settings(Spec.from_text(text), Path(made), grid=["sigma=2,3"])
        run_sweep(settings, Path(made) / "run")
        with contextlib.closing(sqlite3.connect(Path(made) / "run" / "sweep.db")) as db:
            return (
                db.execute("SELECT name, value FROM meta").fetchall(),
                db.execute(
                    "SELECT key, inputs, status, code, message, plan, words, measures FROM points"
                ).fetchall(),
            )


@cache
def database() -> bytes:
    """Return a database of a sweep, to write values into."""
    import tempfile

    meta, points = rows()
    with tempfile.TemporaryDirectory() as made:
        path = Path(made) / "sweep.db"
        with opened(Path(made), new=True):
            pass
        with contextlib.closing(sqlite3.connect(path)) as db, db:
            digested = [with_digest(*row) for row in meta]
            db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?, ?)", digested)
            marks = ", ".join("?" * 9)
            db.executemany(f"INSERT INTO points VALUES ({marks})", [with_digest(*row) for row in points])
        return path.read_bytes()


@cache
def images() -> list[tuple[Plan, bytes]]:
    """Return a plan of each algorithm, with a saved state of its model."""
    return [(plan_of(name), taught(name, 9).save()) for name in STATES]


@cache
def checkpoint() -> bytes:
    import tempfile

    with tempfile.TemporaryDirectory() as made:
        save(Path(made) / "a.npz", "key", SumsState(1, np.array([4.0, 2, 2, 1, 1, 1, 0, 0])))
        return (Path(made) / "a.npz").read_bytes()


@cache
def recorded() -> tuple[dict[str, Any], list[Any]]:
    plan, vectors = small()
    return (
        {
            "recording": 1,
            "target": "host",
            "backend": "host",
            "board": None,
            "compiler": None,
            "firmware": None,
            "origin": None,
            "plan": json.loads(plan.to_json()),
        },
        [
            *(call.as_dict("answered") for call in vectors.calls),
            {"state": {name: np.asarray(value).tolist() for name, value in vectors.state.items()}},
        ],
    )


HTTP = [
    "GET /TOKEN/ HTTP/1.1\r\nHost: HOST\r\n\r\n",
    "POST /point HTTP/1.1\r\nHost: HOST\r\nX-Kerncast-Token: TOKEN\r\nContent-Type: application/json\r\n"
    'Content-Length: 25\r\n\r\n{"number": 1, "inputs": {}}',
]


RESULTS = {
    "plan": "0" * 64,
    "backends": [
        {
            "backend": "host",
            "words": 10,
            "mismatches": 0,
            "first": "",
            "costs": {"flash": 1, "counts": {"train": 5}},
        }
    ],
}
