"""Generated C under any saved state, with sanitizers, and counted inputs that a search resumes from."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from kerncast.codegen.generate import generate
from kerncast.sim.model import open_model
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec

from .counted import LOOP, RUNS, search_to_the_end, searched
from .seeds import SPEC

HERE = Path(__file__).parent
LEARNER = """model = {name = "learner", algorithm = "kernel_lms"}
input = {word = "s8f0", columns = 2}
output = {word = "s8f0"}
kernel = {sigma = 30.0}
online = {budget = 6, eta = 0.5}
"""
#: The specs, and what is called of a state that is accepted.
MODELS = {
    "small": (SPEC, "do { small_out_t f; (void)small_model_predict(&model, x, &f); } while (0)"),
    "learner": (
        LEARNER,
        "do { learner_out_t f; for (int i = 0; i < 4; i++) { "
        "(void)learner_lms_update(&model, x, (learner_target_t)(20 * i), &f); } } while (0)",
    ),
}
FLAGS = [
    "-std=c99",
    "-O2",
    "-g",
    "-Wall",
    "-Wextra",
    "-fno-sanitize-recover=all",
    "-fsanitize=address,undefined",
]
QUICK = 100_000


def corpus(plan: Plan) -> bytes:
    """Return a dozen states after more and more samples, each with its length before it."""
    model, chance, found = open_model(plan), np.random.default_rng(1), b""
    for count in range(1, 13):
        if plan.learns:
            model.update(chance.integers(-128, 128, (count, 2)), chance.integers(-128, 128, count))
        else:
            model.train(None, chance.integers(-128, 128, plan.sizes["n"]))
        state = b"\1" + model.save()
        found += len(state).to_bytes(2, "little") + state
    return found


def built(name: str, folder: Path) -> Path:
    """Compile the target of a model, and write its corpus; return the program."""
    text, calls = MODELS[name]
    plan = make_plan(Spec.from_text(text, f"{name}.toml"))
    generate(plan, folder / "made")
    (folder / "corpus").write_bytes(corpus(plan))
    sources = [HERE / "fuzz_state.c", LOOP, *sorted((folder / "made").glob("*.c"))]
    command = [
        "gcc",
        *FLAGS,
        f"-DMODEL={name}",
        f"-DBYTES={name.upper()}_SAVED_STATE_BYTES",
        f"-DCOLUMNS={plan.sizes['D']}",
        f"-DCALLS={calls}",
        "-include",
        f"{name}.h",
        f"-I{folder / 'made'}",
        f"-I{folder / 'made' / 'rt'}",
        *map(str, sources),
        "-o",
        "fuzz",
    ]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "fuzz"


@pytest.mark.parametrize("name", MODELS)
def test_no_saved_state_makes_generated_code_misbehave(
    name: str, tmp_path: Path, require_tool: Callable[[str, str], str]
) -> None:
    require_tool("gcc", "apt-get install gcc")
    program = built(name, tmp_path)
    assert searched(program, tmp_path / "corpus", 0, QUICK) == QUICK


@pytest.mark.campaign
@pytest.mark.parametrize("name", MODELS)
def test_a_hundred_million_saved_states_misbehave_nowhere(
    name: str, tmp_path: Path, require_tool: Callable[[str, str], str]
) -> None:
    require_tool("gcc", "apt-get install gcc")
    program = built(name, tmp_path)
    assert search_to_the_end(f"states-{name}", program, tmp_path / "corpus") == RUNS
