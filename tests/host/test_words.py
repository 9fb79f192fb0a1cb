"""Generated C equals the integer model, word for word, whatever the compiler does with it."""

import os
import subprocess
import tomllib
from pathlib import Path

import numpy as np
import pytest

from kerncast.codegen.build.compilers import WARNINGS
from kerncast.codegen.build.host import HostBackend
from kerncast.sim.backend import STATUSES
from kerncast.sim.replay.vectors import replay
from kerncast.sim.statuses import DeviceStatus

from .conftest import choices

NAMES = list(tomllib.loads((Path(__file__).parent / "cases.toml").read_text(encoding="utf-8")))
REMEDY = {"gcc": "sudo apt-get install -y gcc libc6-dev", "clang": "sudo apt-get install -y clang",
          "python:ziglang": "python -m pip install ziglang"}
LEVELS = ("-O0", "-O1", "-O2", "-O3", "-Os")
#: Each algorithm, solver and scheme, with its options: these meet all the levels that people ship.
THOROUGH = ("grid16", "grid24_refine_bias", "grid32_static_rail", "grid16_casts", "mean32_varied",
            "biased16_varied", "periodic32", "schur24_varied", "lookahead24_indefinite", "lookahead24_f32",
            "cg32_varied", "cg24_polynomial", "lms16_ties", "lms32_ties_decay", "lms32_fmklms_limits",
            "lms32_newest_fast", "band16", "band16_bias", "rls16")
CAMPAIGN = os.environ.get("KERNCAST_CAMPAIGN") == "1"


def levels(name: str, compiler: str) -> tuple[str, ...]:
    """The levels of a case: the other cases take turns, two compilers two levels apart, but in a campaign."""
    if CAMPAIGN:
        return LEVELS
    if name in THOROUGH:
        return ("-O0", "-O2") if compiler == "clang" else ("-O2", "-Os")
    return (LEVELS[(NAMES.index(name) + 2 * (compiler == "clang")) % len(LEVELS)],)


def test_the_thorough_cases_have_every_algorithm_solver_scheme_and_scaling(cases):
    options = ("solver", "scheme", "scaling")

    def kind(name: str) -> set[str]:
        plan = cases(name).plan
        return {plan.algorithm} | {f"{key} {plan.options.get(key)}" for key in options}

    assert set().union(*map(kind, THOROUGH)) == set().union(*map(kind, NAMES))


@pytest.mark.parametrize("name", NAMES)
def test_the_model_returns_the_statuses_that_the_case_is_made_for(cases, name):
    case = cases(name)
    learnt = [call.expected["status"] for call in case.vectors.calls if call.name != "predict"]
    met = {STATUSES[status] for status in np.concatenate(learnt)}
    assert met == set(case.meets)
    before = case.vectors.calls[0].expected
    assert set(before["status"]) == {DeviceStatus.NOT_TRAINED}
    assert not before["f"].any()


# Each name counts, because each case is made for a corner of its own.
@pytest.mark.covering(("compiler", "built_at"))
@pytest.mark.parametrize(("name", "compiler", "built_at"), [
    pytest.param(name, compiler, levels(name, compiler), id=f"{name}-{compiler}")
    for name in NAMES for compiler in ("gcc", "clang")])
def test_generated_c_equals_model_at_every_optimisation_level(
        cases, require_tool, ledger, name, compiler, built_at):
    require_tool(compiler, REMEDY[compiler])
    case = cases(name)
    for i, level in enumerate(built_at):
        # the first of two levels file by file, as people build it; all others as one unit, which is faster
        backend = HostBackend(case.plan, case.folder, compiler=compiler, flags=(level,),
                              together=name not in THOROUGH or i > 0)
        found = replay(backend, case.vectors)
        size = backend.ffi.sizeof(backend.model[0])
        backend.close()
        assert size == case.plan.state_bytes
        assert found.first == ""
        ledger.record(backend=f"host:{compiler}:{level}", words=found.words, mismatches=found.mismatches,
                      case=name)


@pytest.mark.covering(name=choices)
@pytest.mark.parametrize("name", [name for name in NAMES if name not in THOROUGH])
def test_each_file_by_itself_has_no_warning(cases, require_tool, name):
    """The thorough cases are built file by file; a compiler that only reads is faster."""
    require_tool("gcc", REMEDY["gcc"])
    folder = cases(name).folder
    files = sorted(path.name for path in folder.glob("*.c"))
    done = subprocess.run(["gcc", "-std=c99", *WARNINGS, "-fsyntax-only", "-I.", "-Irt", *files], cwd=folder,
                          capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
