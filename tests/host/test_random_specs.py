"""Generated C equals the model for specs that nobody thought of, with words at the rails."""

import importlib.util
import sys
from pathlib import Path
from random import Random

import pytest

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


def compare(random_cases, ledger, seed: int) -> None:
    random = Random(seed)
    word, rounding = random.choice((16, 24, 32)), random.choice(random_cases.ROUNDINGS)
    if seed % 3 == 1:
        case = random_cases.online_case(random, word, rounding, 60)
    elif seed % 3 == 2:
        case = random_cases.cg_case(random, random.choice((16, 24, 32)), rounding, 40, (-6, 1))
    else:
        case = random_cases.toeplitz_case(random, word, rounding, 40, (-6, 1))
    vectors = make_vectors(case.plan, usual_calls(case.plan, case.x_raw, case.y_raw, case.x_test, passes=2))
    backend = HostBackend(case.plan, compiler="gcc", flags=(random.choice(("-O1", "-O2", "-O3", "-Os")),))
    found = replay(backend, vectors)
    backend.close()
    assert found.first == "", f"seed {seed}: {case}"
    ledger.record(backend=backend.name, words=found.words, mismatches=found.mismatches, case="random specs")


@pytest.mark.parametrize("seed", range(12))
def test_generated_c_equals_model_for_random_specs(random_cases, ledger, require_tool, seed):
    require_tool("gcc", "sudo apt-get install -y gcc libc6-dev")
    compare(random_cases, ledger, seed)


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(100, 1100))
def test_generated_c_equals_model_for_a_thousand_random_specs(random_cases, ledger, require_tool, seed):
    require_tool("gcc", "sudo apt-get install -y gcc libc6-dev")
    compare(random_cases, ledger, seed)
