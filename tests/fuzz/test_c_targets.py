"""Generated C under any saved state, with sanitizers, and counted inputs that a search resumes from."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from kerncast.codegen.generate import generate
from kerncast.sim.plan import Plan

from .counted import LOOP, RUNS, search_to_the_end, searched
from .models import MODELS, plan_of, taught

HERE = Path(__file__).parent
PREDICT = "(void)CALL(_model_predict)(&model, x, f)"
CLASSIFY = "(void)CALL(_model_classify)(&model, x, &label, f)"
#: What a model does with a sample; targets of any bytes.
UPDATES = {
    "one": "(void)CALL({update})(&model, x, (CALL(_target_t))(53 * i + x[0]), f)",
    "several": "CALL(_target_t) y[OUTPUTS] = {{ (CALL(_target_t))(53 * i), (CALL(_target_t))x[0] }}; "
    "(void)CALL({update})(&model, x, y, f)",
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
QUICK = 20_000


def corpus(name: str) -> bytes:
    """Return a dozen states after more and more samples, each with its length before it."""
    found = b""
    for count in range(1, 13):
        state = bytes([count % 4 | 1]) + taught(name, count).save()
        found += len(state).to_bytes(2, "little") + state
    return found


def calls(plan: Plan) -> str:
    """Return what is called of an accepted state, in C."""
    lines = [PREDICT]
    if plan.decision:
        lines += ["uint8_t label", CLASSIFY]
    if plan.learns:
        update = "_rls_update" if plan.second_order else "_lms_update"
        lines += [
            "for (int32_t i = 0; i < 4; i++) { "
            + UPDATES["one" if plan.targets == 1 else "several"].format(update=update)
            + "; x[0] = (IN_T)(x[0] ^ (IN_T)i); }"
        ]
    return "do { " + "; ".join(lines) + "; } while (0)"


def built(name: str, folder: Path) -> Path:
    """Compile the target of a model, and write its corpus; return the program."""
    plan = plan_of(name)
    generate(plan, folder / "made")
    (folder / "corpus").write_bytes(corpus(name))
    sources = [HERE / "fuzz_state.c", LOOP, *sorted((folder / "made").glob("*.c"))]
    command = [
        "gcc",
        *FLAGS,
        f"-DMODEL={name}",
        f"-DBYTES={name.upper()}_SAVED_STATE_BYTES",
        f"-DCOLUMNS={plan.sizes['D']}",
        f"-DOUTPUTS={plan.outputs}",
        f"-DCALLS={calls(plan)}",
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
