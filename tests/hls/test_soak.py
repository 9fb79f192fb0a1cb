"""Long runs of every core in HLS C++, in C simulation, among bad frames."""

import subprocess

import numpy as np
import pytest

from kerncast.codegen.hls import VECTORS
from kerncast.codegen.hls.vectors import line, vectors_text
from kerncast.sim.model.statuses import BAD_ARGUMENT

from .conftest import make, vectors
from .test_cores import answered

VALUES = 200_000
#: Plan, dialect, about how many values to ask for, whether its frames may have a wrong length, and its cores.
CASES = [("learner16", "vitis", 520_000, False, {"learner", "predictor"}),
         ("learner24", "catapult", 520_000, True, {"learner", "predictor"}),
         ("grid16", "catapult", 800_000, True, {"trainer", "solver", "predictor"}),
         ("bias16", "vitis", 800_000, True, {"trainer", "solver", "predictor"}),
         ("bias32", "catapult", 800_000, True, {"solver", "predictor"})]
#: Calls whose only frame may be cut, and the error of that; the errors of a system whose y is cut.
CUT, CUT_ERROR, CUT_Y = ("predict", "ask", "learn", "train"), 1, 6


def with_bad_frames(text, chance):
    """Add frames of a wrong length, each refused without a change; return their number too."""
    lines, count = [], 0
    for row in text.splitlines():
        name, *words = row.partition("=")[0].split()
        if name in CUT and chance.random() < 0.02:
            longer = len(words) == 1 or chance.random() < 0.5
            lines.append(line(name, words * 2 if longer else words[:-1], [BAD_ARGUMENT, CUT_ERROR]))
            count += 1
        elif name == "solve" and chance.random() < 0.02:
            n = len(words) // 2
            cut = int(chance.integers(1, n))
            lines.append(line("solve_parts", [n, *words[:n], *words[n:n + cut]], [BAD_ARGUMENT, CUT_Y]))
            count += 1
        lines.append(row)
    return "".join(f"{row}\n" for row in lines), count


@pytest.mark.campaign
@pytest.mark.parametrize(("case", "dialect", "words", "may_be_bad", "cores"), CASES,
                         ids=[f"{case}-{dialect}" for case, dialect, *_ in CASES])
def test_200_000_values_of_each_core_equal_the_model(case, dialect, words, may_be_bad, cores, backend, ledger,
                                                     tmp_path):
    plan, seed = make(case), int(np.random.default_rng().integers(1 << 30))
    text, bad = vectors_text(plan, vectors(plan, words, seed)), 0
    found = answered(text)
    if may_be_bad:
        text, bad = with_bad_frames(text, np.random.default_rng(seed))
    file = tmp_path / VECTORS
    file.write_text(text)
    opened = backend(plan, dialect)
    opened.close()
    done = subprocess.run([opened.program, file], capture_output=True, text=True, check=False)
    total = found.total() + 2 * bad
    mismatches = 0 if f"{plan.name}: {total} words, 0 mismatches" in done.stderr else 1
    for core in sorted(cores):
        ledger.record(backend=opened.name, words=found[core], mismatches=mismatches,
                      case=f"{case} {core} from seed {seed}, {bad} bad frames")
    assert done.returncode == 0, done.stderr
    assert {core: found[core] for core in cores if found[core] < VALUES} == {}
    assert bad > 100 or not may_be_bad
