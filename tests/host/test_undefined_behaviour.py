"""Generated C does nothing that the language leaves undefined, on any input and any model structure."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

CAMPAIGN = os.environ.get("KERNCAST_CAMPAIGN") == "1"
#: Cases of a kind side by side: but in a campaign the two compilers take them in turn.
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


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_no_sanitizer_stops_generated_c(cases, require_tool, ledger, compiler):
    require_tool(compiler, REMEDY[compiler])
    program = Path(__file__).parent / "replay_program.py"
    names = NAMES if CAMPAIGN else NAMES[compiler == "clang"::2]
    names = names + (WRAPPED if compiler == "gcc" else [])
    folders = [str(cases(name).folder) for name in names]
    done = subprocess.run([sys.executable, program, compiler, CHECKS[compiler], *folders],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{compiler} stopped with {done.returncode}:\n{done.stderr[-3000:]}"
    found = json.loads(done.stdout)
    assert sorted(found) == sorted(names)
    for name, (words, mismatches) in found.items():
        ledger.record(backend=f"host:{compiler}:sanitized", words=words, mismatches=mismatches, case=name)
