"""Generated C equals the model for specs that nobody thought of, with words at the rails."""

import importlib.util
import json
import os
import subprocess
import sys
from itertools import product
from pathlib import Path
from random import Random

import pytest

from kerncast.codegen.generate import generate
from kerncast.codegen.host import HostBackend
from kerncast.sim.vectors import make_vectors, replay, usual_calls


@pytest.fixture(scope="module")
def random_cases():
    """The generator of specs that the property tests use."""
    path = Path(__file__).resolve().parents[1] / "property" / "random_cases.py"
    spec = importlib.util.spec_from_file_location("random_cases_of_host", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


LEVELS = ("-O0", "-O1", "-O2", "-O3", "-Os")
REMEDY = {"gcc": "sudo apt-get install -y gcc libc6-dev", "clang": "sudo apt-get install -y clang"}
SANITIZED = "-O1 -fsanitize=address,undefined -fno-sanitize-recover=all"


def draw(random_cases, seed: int):
    """A spec of one of the algorithms, with data; and its vectors."""
    random = Random(seed)
    word, rounding = random.choice((16, 24, 32)), random.choice(random_cases.ROUNDINGS)
    if seed % 3 == 1:
        case = random_cases.online_case(random, word, rounding, 60)
    elif seed % 3 == 2:
        case = random_cases.cg_case(random, random.choice((16, 24, 32)), rounding, 40, (-6, 1))
    else:
        variants = (*random_cases.VARIANTS, {"solver": "lookahead"}, {"solver": "lookahead_f32"})
        case = random_cases.toeplitz_case(random, word, rounding, 40, (-6, 1), variants)
    calls = usual_calls(case.plan, case.x_raw, case.y_raw, case.x_test, passes=2)
    return case, make_vectors(case.plan, calls)


def compare(random_cases, ledger, folder, seed: int, builds) -> None:
    """The words of a random spec, built by each of the compilers with its flag."""
    case, vectors = draw(random_cases, seed)
    generate(case.plan, folder, vectors=vectors)
    for compiler, level in builds:
        backend = HostBackend(case.plan, folder, compiler=compiler, flags=(level,))
        found = replay(backend, vectors)
        backend.close()
        assert found.first == "", f"seed {seed}: {case}"
        ledger.record(backend=backend.name, words=found.words, mismatches=found.mismatches,
                      case="random specs")


def sanitize(random_cases, ledger, folder, seed: int) -> None:
    """The words of a random spec under ASan and UBSan, in a process of its own."""
    case, vectors = draw(random_cases, seed)
    generate(case.plan, folder, vectors=vectors)
    runtime = subprocess.check_output(["gcc", "-print-file-name=libasan.so"], text=True).strip()
    environment = os.environ | {"LD_PRELOAD": runtime, "ASAN_OPTIONS": "detect_leaks=0"}
    program = Path(__file__).parent / "replay_program.py"
    done = subprocess.run([sys.executable, program, "gcc", SANITIZED, folder], capture_output=True, text=True,
                          check=False, env=environment)
    assert done.returncode == 0, f"seed {seed}: {case}\n{done.stderr[-3000:]}"
    ((words, mismatches),) = json.loads(done.stdout).values()
    ledger.record(backend="host:gcc:asan,ubsan", words=words, mismatches=mismatches, case="random specs")


@pytest.fixture(autouse=True)
def compilers(require_tool):
    """Both are needed."""
    for name, remedy in REMEDY.items():
        require_tool(name, remedy)


@pytest.mark.parametrize("seed", range(20))
def test_generated_c_equals_model_for_random_specs(random_cases, ledger, tmp_path, seed):
    builds = [("gcc", LEVELS[seed % 5]), ("clang", LEVELS[(seed + 2) % 5])]
    compare(random_cases, ledger, tmp_path / "c", seed, builds)


@pytest.mark.parametrize("seed", range(3))
def test_sanitizers_find_nothing_in_random_specs(random_cases, ledger, tmp_path, seed):
    sanitize(random_cases, ledger, tmp_path / "c", seed)


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(100, 400))
def test_random_specs_agree_at_every_level_and_under_sanitizers(random_cases, ledger, tmp_path, seed):
    compare(random_cases, ledger, tmp_path / "c", seed, list(product(REMEDY, LEVELS)))
    sanitize(random_cases, ledger, tmp_path / "s", seed)
