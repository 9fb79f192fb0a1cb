"""Generated C does nothing that the language leaves undefined, on any input and any model structure."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from covering import cover

from .conftest import choices

CAMPAIGN = os.environ.get("KERNCAST_CAMPAIGN") == "1"
#: Cases that both compilers can check.
NAMES = ["grid16", "grid32_floor", "mean32_varied", "biased32", "mean16_long_raw", "indefinite32",
         "schur16", "schur32_even", "lookahead24_indefinite", "lookahead32_singular",
         "lookahead24_f32", "lookahead32_near",
         "cg16", "cg24_rails", "cg32_varied", "cg16_singular", "periodic32", "cg32_polynomial",
         "lms16_ties", "lms32_ties_decay", "lms16_decay_varied", "lms32_rails", "lms16_saturated",
         "lms32_laplacian", "lms32_periodic", "rls32_varied", "lms16_bounded", "lms32_bounded"]
#: For gcc alone: rotations of the linear part, phases in 32 bits, a kernel of damaged memory, and the
#: rounding of the banded solver wrap unsigned words on purpose.
WRAPPED = ["lms16_linear_wide_varied", "lms16_last_errors", "lms24_last_errors", "lms32_last_errors", "rls16",
           "cg32_linear", "band16_lambda_range", "band32_lambda_range"]
CHECKS = {
    "gcc": "-O1 -fsanitize=undefined,float-cast-overflow -fno-sanitize-recover=all",
    # Beyond what is undefined: unsigned wrap-around, and conversions that lose bits.
    "clang": "-O1 -fsanitize=undefined,integer,implicit-conversion,local-bounds -fsanitize-trap=all",
}
REMEDY = {"gcc": "sudo apt-get install -y gcc libc6-dev", "clang": "sudo apt-get install -y clang"}


def checked_by(compiler):
    """In a campaign all cases; else a cover of all choices, which the two compilers take in turn."""
    own = NAMES + (WRAPPED if compiler == "gcc" else [])
    if CAMPAIGN:
        return own
    every = [(name, "gcc") for name in NAMES + WRAPPED] + [(name, "clang") for name in NAMES]
    chosen = [every[i] for i in cover([choices(name) | {by} for name, by in every])]
    return [name for name, by in chosen if by == compiler]


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_no_sanitizer_stops_generated_c(cases, require_tool, ledger, compiler):
    require_tool(compiler, REMEDY[compiler])
    program = Path(__file__).parent / "replay_program.py"
    names = checked_by(compiler)
    folders = [str(cases(name).folder) for name in names]
    done = subprocess.run([sys.executable, program, compiler, CHECKS[compiler], *folders],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{compiler} stopped with {done.returncode}:\n{done.stderr[-3000:]}"
    found = json.loads(done.stdout)
    assert sorted(found) == sorted(names)
    for name, (words, mismatches) in found.items():
        ledger.record(backend=f"host:{compiler}:sanitized", words=words, mismatches=mismatches, case=name)
