"""The spec as JSON Schema: what it takes and refuses is what a spec takes and refuses."""

import json
import tomllib
from pathlib import Path

import fastjsonschema
import pytest
from typer.testing import CliRunner

import kerncast
from kerncast.cli.main import app
from kerncast.sim.errors import KerncastError
from kerncast.sim.spec import Spec
from kerncast.sim.spec.keys import TABLES, keys
from kerncast.sim.spec.schema import spec_schema

ROOT = Path(kerncast.__file__).resolve().parent
EXAMPLES = sorted((ROOT / "examples").glob("*.toml"))
PLAIN = {"model": {"name": "a", "algorithm": "kernel_cg"}, "input": {"word": "s16f-8", "columns": 2},
         "output": {"word": "s12f0"}, "kernel": {"sigma": 2}, "cg": {"n": 8, "lambda": 0.1}}


@pytest.fixture(scope="module")
def check():
    return fastjsonschema.compile(spec_schema())


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_is_a_spec_by_the_schema(check, path):
    check(tomllib.loads(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("changed", [
    {"input": {"word": "u8f0", "columns": 2, "offset": [1, 2], "gain": [0.5, 2]}},
    {"kernel": {"type": "linear"}}, {"kernel": {"type": "polynomial", "degree": 2, "gamma": 1, "coef0": 0}},
    {"numbers": {"word": 24, "casts": {"f": "floor wrap"}}}, {"data": {"file": "a.csv"}},
    {"model": {"name": "a", "algorithm": "kernel_predictor"}, "cg": None,
     "predictor": {"file": "a.json", "sha256": "0" * 64}}])
def test_the_schema_accepts_what_a_spec_accepts(check, changed):
    values = {name: table for name, table in (PLAIN | changed).items() if table is not None}
    Spec(**values)
    check(values)


@pytest.mark.parametrize("changed", [
    {"modle": {}}, {"input": {"word": "q15"}}, {"input": {"word": "s16f8", "columns": 0}},
    {"input": {"word": "s16f8", "offset": "1"}}, {"input": {"word": "s16f8", "gain": -1.0}},
    {"kernel": {}}, {"kernel": {"type": "linear", "sigma": 1.0}}, {"kernel": {"type": "cosine"}},
    {"cg": {"n": 8}}, {"cg": {"n": 8, "lambda": 0.1, "stepz": 4}}, {"numbers": {"word": 12}},
    {"model": {"name": "A b", "algorithm": "kernel_cg"}}, {"toeplitz": {"n": 2, "lambda": 1}},
    {"model": {"name": "a", "algorithm": "kernel_lms"}}, {"predictor": {"file": "x", "sha256": "12"}}])
def test_the_schema_refuses_what_a_spec_refuses(check, changed):
    with pytest.raises(KerncastError):
        Spec(**PLAIN | changed)
    with pytest.raises(fastjsonschema.JsonSchemaException):
        check(PLAIN | changed)


def test_every_key_states_its_meaning_and_what_is_allowed():
    tables = spec_schema()["properties"]
    assert list(tables) == list(TABLES)
    for name, table in tables.items():
        assert list(table["properties"]) == list(keys(TABLES[name])) and table["description"]
        assert all("Allowed: " in key["description"] for key in table["properties"].values())
    assert tables["kernel"]["properties"]["type"]["enum"][:2] == ["gaussian", "laplacian"]


def test_the_command_prints_it():
    done = CliRunner().invoke(app, ["schema"])
    assert (done.exit_code, json.loads(done.stdout)) == (0, spec_schema())
