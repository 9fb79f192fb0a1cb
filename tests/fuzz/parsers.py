"""Every parser of foreign input: what it is given, and how it is called; an input is one call of it."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from kerncast.sim.data.predictor_file import read_model

from . import calls
from .edits import as_json, blobs, drawn_edits, texts, trees
from .seeds import (
    HTTP,
    MODELS,
    READING,
    RESULTS,
    SPECS,
    TABLES,
    archives,
    checkpoint,
    generated,
    images,
    recorded,
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


def _either(*parts: Callable[[random.Random], Any]) -> Callable[[random.Random], tuple[int, Any]]:
    """Draw one of the parts, and say which."""

    def drawn(chance: random.Random) -> tuple[int, Any]:
        which = chance.randrange(len(parts))
        return which, parts[which](chance)

    return drawn


def _headers() -> Callable[[random.Random], bytes]:
    """Draw the header of an array of NumPy, on one line."""
    npy = "{'descr': '<f8', 'fortran_order': False, 'shape': (4,), }\n"
    edited = texts(
        [
            npy,
            npy.replace("4,", "4, 1"),
            npy.replace("<f8", "|O"),
            npy.replace("<f8", "<U7"),
            npy.replace("4", "-4"),
            npy.replace("4", "4000000000000"),
            npy.replace("'<f8'", "[('a', '<f8')]"),
        ]
    )
    return lambda chance: edited(chance).replace(b"\n", b"") + b"\n"


@cache
def parsers() -> dict[str, Parser]:
    """Return every parser by its name."""
    plan, vectors = small()
    plan_tree, vector_tree = json.loads(plan.to_json()), json.loads(vectors.to_json())
    manifest, bundles = generated()
    head, lines = recorded()
    return {
        "toml": Parser(texts(SPECS), calls.read_spec),
        "edited_spec": Parser(_tuple(texts(SPECS), _below(256)), calls.edit_spec),
        "sweep_table": Parser(texts(SPECS[1:2]), calls.read_sweep_table),
        "csv": Parser(
            _tuple(_below(2), texts(["x0,y\n1,2\n3,4\n5,-6\n", "y\n1\n2\n", "x0;y\n1,5;2\n"])),
            calls.read_csv,
        ),
        "table": Parser(_tuple(_below(2), _half(READING), _half(TABLES)), calls.read_table),
        "npz": Parser(_either(_tuple(_headers(), _bytes(64)), blobs(archives())), calls.read_npz),
        "wav": Parser(
            blobs([wav(16, 1), wav(8, 2), wav(24, 1), wav(32, 2)]),
            calls.read_samples("a.wav"),
        ),
        "libsvm": Parser(
            texts(["1 1:2 3:4\n-1 2:5 # c\n", "0.5 qid:1 1:1e3\n"]), calls.read_samples("a.svm")
        ),
        "model": Parser(trees(MODELS), lambda tree, _: read_model(as_json(tree), "m.json")),
        "plan": Parser(trees([plan_tree]), calls.read_plan),
        "vectors": Parser(trees([vector_tree]), calls.read_vectors),
        "manifest": Parser(trees([manifest]), calls.read_manifest),
        "bundle": Parser(_either(_tuple(trees([manifest]), _below(256)), blobs(bundles)), calls.read_bundle),
        "sweep_database": Parser(
            _tuple(drawn_edits, _below(256), _below(256), _below(2)), calls.read_database
        ),
        "checkpoint": Parser(blobs([checkpoint()]), calls.read_checkpoint),
        "frames": Parser(
            _tuple(_below(len(calls.OPCODES)), _pieces(3), _below(65_536), _bytes(80)), calls.read_frames
        ),
        "saved_state": Parser(
            _tuple(_below(3), _either(*(blobs([image]) for _, image in images()))), calls.read_state
        ),
        "recording": Parser(_tuple(trees([head]), trees([lines])), calls.read_recording),
        "http": Parser(texts(HTTP), calls.serve),
        "results": Parser(trees([RESULTS, {"examples": [RESULTS]}]), calls.read_results),
    }
