"""Generated C equals the model for specs that nobody thought of, with words at the rails.

Hypothesis draws the spec, its formats and the data, and shrinks one that fails; the report shows it as
the file that one would write.
"""

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.vendor.pretty import pretty

from kerncast.codegen.build.host import HostBackend
from kerncast.codegen.generate import generate
from kerncast.sim.model import open_model
from kerncast.sim.replay.vectors import Vectors, make_vectors, replay, usual_calls
from kerncast.sim.spec import Spec


def _load_random_cases():
    """The generator of specs that the property tests use."""
    path = Path(__file__).resolve().parents[1] / "property" / "random_cases.py"
    spec = importlib.util.spec_from_file_location("random_cases_of_host", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


random_cases = _load_random_cases()
COMPILERS = {"gcc": "sudo apt-get install -y gcc libc6-dev", "clang": "sudo apt-get install -y clang"}
LEVELS = ("-O0", "-O1", "-O2", "-O3", "-Os")
EVERY_BUILD = tuple(product(COMPILERS, LEVELS))
SANITIZED = "-O1 -fsanitize=address,undefined -fno-sanitize-recover=all"
#: Variants of the Toeplitz trainer; to those of every model come the ones that the model alone has.
VARIANTS = (*random_cases.VARIANTS, {"solver": "lookahead"}, {"solver": "lookahead_f32"})


@st.composite
def cases(draw):
    """A spec of any algorithm with raw data; formats, words and all choices by Hypothesis."""
    return random_cases.any_case(draw(st.randoms(use_true_random=False)), 40, (-6, 1), VARIANTS)


@st.composite
def builds(draw):
    """Each compiler, with one of the levels."""
    random = draw(st.randoms(use_true_random=False))
    return [(compiler, random.choice(LEVELS)) for compiler in COMPILERS]


def vectors_of(case) -> Vectors:
    """Calls with the case's data, and what the model answers."""
    return make_vectors(open_model(case.plan),
                        usual_calls(case.plan, case.x_raw, case.y_raw, case.x_test, passes=2))


def compare(ledger, case, builds) -> None:
    """The words of a spec, built by each of the compilers with its flag."""
    with tempfile.TemporaryDirectory() as folder:
        vectors, source = vectors_of(case), Path(folder, "c")
        generate(case.plan, source, vectors=vectors)
        for compiler, level in builds:
            backend = HostBackend(case.plan, source, compiler=compiler, flags=(level,))
            found = replay(backend, vectors)
            backend.close()
            assert found.first == ""
            ledger.record(backend=backend.name, words=found.words, mismatches=found.mismatches,
                          case="random specs")


def sanitize(ledger, case) -> None:
    """The words of a spec under ASan and UBSan, in a process of its own."""
    runtime = subprocess.check_output(["gcc", "-print-file-name=libasan.so"], text=True).strip()
    environment = os.environ | {"LD_PRELOAD": runtime, "ASAN_OPTIONS": "detect_leaks=0"}
    program = Path(__file__).parent / "replay_program.py"
    with tempfile.TemporaryDirectory() as folder:
        generate(case.plan, Path(folder, "c"), vectors=vectors_of(case))
        done = subprocess.run([sys.executable, program, "gcc", SANITIZED, Path(folder, "c")],
                              capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    ((words, mismatches),) = json.loads(done.stdout).values()
    ledger.record(backend="host:gcc:asan,ubsan", words=words, mismatches=mismatches, case="random specs")


@pytest.fixture(autouse=True, scope="module")
def compilers(require_tool):
    """Both are needed."""
    for name, remedy in COMPILERS.items():
        require_tool(name, remedy)


@settings(max_examples=10)
@given(case=cases(), builds=builds())
def test_generated_c_equals_model_for_random_specs(ledger, case, builds):
    compare(ledger, case, builds)


@settings(max_examples=2)
@given(case=cases())
def test_sanitizers_find_nothing_in_random_specs(ledger, case):
    sanitize(ledger, case)


@pytest.mark.campaign
@pytest.mark.parametrize("part", range(10))
@settings(max_examples=32)
@given(case=cases())
def test_random_specs_agree_at_every_level_and_under_sanitizers(ledger, part, case):
    """Parts, so that there is something to see in between; 300 specs and more in all."""
    compare(ledger, case, EVERY_BUILD)
    sanitize(ledger, case)


@given(case=cases())
def test_a_random_spec_is_shown_as_the_file_that_repeats_it(case):
    assert Spec.from_text(repr(case)) == case.spec
    assert pretty(case).strip() == repr(case).strip()
