"""The same spec and data give the same plan hash and the same bytes, whatever the machine looks like."""

import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from kerncast.codegen.generate import render_all
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
PROGRAM = """
import hashlib, json, sys
from pathlib import Path
from kerncast.codegen.generate import generate
from kerncast.lab.workflow import plan_and_vectors
from kerncast.sim.spec import Spec
examples, out = Path(sys.argv[1]), Path(sys.argv[2])
found = {}
for name in ("ecg", "digits"):
    plan, vectors = plan_and_vectors(Spec.load(examples / f"{name}.toml"), examples)
    generate(plan, out / name, "cortex-m4", vectors=vectors)
    found[name] = plan.hash
    for path in sorted((out / name).rglob("*")):
        if path.is_file():
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            found[path.relative_to(out).as_posix()] = digest
print(json.dumps(found))
"""


def run(folder: Path, **environment: str) -> dict[str, str]:
    folder.mkdir()
    done = subprocess.run([sys.executable, "-c", PROGRAM, EXAMPLES, folder / "out"], cwd=folder, text=True,
                          capture_output=True, check=False, env={**os.environ, **environment})
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_two_processes_that_share_nothing_write_the_same_bytes(tmp_path):
    first = run(tmp_path / "one", PYTHONHASHSEED="1", TZ="Pacific/Auckland", LC_ALL="C", HOME=str(tmp_path))
    second = run(tmp_path / "a folder with spaces", PYTHONHASHSEED="2", TZ="America/Caracas",
                 LC_ALL="C.UTF-8", PYTHONUTF8="1", COLUMNS="40")
    assert len(first) > 40
    assert first == second


@pytest.mark.parametrize("name", ["ecg", "digits"])
def test_no_generated_file_holds_a_path_or_a_date(name):
    files, manifest = render_all(make_plan(EXAMPLES / f"{name}.toml"), None, None)
    files["manifest.json"] = manifest.to_json()
    for name, text in files.items():
        assert str(EXAMPLES.parent) not in text
        assert not re.search(r"(?<![\w.$*])/(usr|home|root|tmp|var|opt|Users|work)/", text)
        dated = re.sub("1970-01-01T00:00:00Z", "", text)  # SPDX asks for a time: always this one
        found = re.search(r"\b20\d\d-\d\d-\d\d|\d\d:\d\d:\d\d|\bJan(uary)? \d", dated)
        assert found is None or name == "LICENSE", name


def test_where_a_spec_was_read_from_does_not_matter(tmp_path):
    text = (EXAMPLES / "ecg.toml").read_text(encoding="utf-8")
    (tmp_path / "other.toml").write_text("# a comment more\n" + text, encoding="utf-8")
    one, two = (make_plan(path) for path in (EXAMPLES / "ecg.toml", tmp_path / "other.toml"))
    three = make_plan(Spec.from_text(text))
    assert one.to_json() == two.to_json() == three.to_json()


def test_hash_in_the_banner_and_in_the_tables_is_the_plans():
    plan = make_plan(EXAMPLES / "ecg.toml")
    files, _ = render_all(plan, None, None)
    hash_bytes = re.search(r"plan_hash\[32\] = \{([^}]*)\}", files["ecg_tables.c"])
    assert hash_bytes is not None
    assert bytes(int(b, 16) for b in re.findall(r"0x(..)", hash_bytes[1])).hex() == plan.hash
    assert all(f"Plan {plan.hash}" in text for name, text in files.items()
               if re.fullmatch(r"ecg\w*\.[ch]", name))
    assert hashlib.sha256(json.dumps(plan.decisions(), sort_keys=True, separators=(",", ":")).encode()
                          ).hexdigest() == plan.hash
