"""Runs of ``kerncast init`` on a file, for the tests of the command."""

import json
import re
import shlex
from pathlib import Path

import numpy as np
from typer.testing import CliRunner

import kerncast
from kerncast.cli import main

RANDOM = np.random.default_rng(5)
A, B = RANDOM.normal(size=(2, 60)).round(3)
TABLE = "a,b,c\n" + "".join(f"{a},{b},{a * b:.4f}\n" for a, b in zip(A, B, strict=True))
SINE = [f"{np.sin(i / 5):.4f}" for i in range(60)]


def run(*arguments):
    result = CliRunner().invoke(main.app, [str(a) for a in arguments], prog_name="kerncast")
    return result.exit_code, result.stdout, result.stderr


def made(text, *options, name="d.csv"):
    """Write a file and run init; return the spec, the samples as every command reads them, and the report."""
    Path(name).write_bytes(text if isinstance(text, bytes) else text.encode())
    code, out, err = run("init", name, "--json", *options)
    assert code == 0, out + err
    answer = json.loads(out)
    spec = kerncast.Spec.load(answer["written"])
    assert run("check", answer["written"])[0] == 0
    return spec, kerncast.load_dataset(spec), answer["data"]


def refused(text, *options, name="d.csv"):
    """Write a file, run init, and return the one problem; nothing is written."""
    Path(name).write_bytes(text if isinstance(text, bytes) else text.encode())
    code, out, err = run("init", name, "--json", *options)
    assert code == 2, out + err
    (problem,) = json.loads(out)["errors"]
    assert not list(Path().glob("*.toml"))
    return problem


def remedy_of(problem):
    """The options that a remedy quotes."""
    found = re.search(r"(--[a-z-]+ (?:\"[^\"]*\"|[^\s;,]+))", problem["remedy"])
    return shlex.split(found[1])


def labels(names, count=60):
    return "a,b,label\n" + "".join(f"{A[i]},{B[i]},{names[i % len(names)]}\n" for i in range(count))


def timed(instants, header="time,value", separator=","):
    return header + "\n" + "".join(f"{t}{separator}{v}\n" for t, v in zip(instants, SINE, strict=False))
