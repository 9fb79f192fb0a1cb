"""FuseSoC and edalize read the generated .core files: testbenches in two simulators, lint of the wrapper."""

import os
import sys

import pytest

from kerncast.hw.rtl.simulators import find_simulator, simulator_environment

from .conftest import make
from .test_testbench import execute, vectors_of, write


@pytest.fixture
def fusesoc(require_simulator, tmp_path):
    """``fusesoc(case, target, tool, core)``: run a target of a core, with a home of its own."""
    pytest.importorskip("fusesoc", reason="skipped (fusesoc is not installed)")

    def work(case, target, tool, core):
        require_simulator(tool)
        plan = make(case)
        rtl = write(tmp_path, plan, vectors_of(plan))
        homes = dict.fromkeys(("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"), str(tmp_path))
        command = ["run", f"--target={target}", f"--tool={tool}", f"kerncast:{plan.name}:{core}"]
        script = "import sys; from fusesoc.main import main; sys.exit(main())"
        with simulator_environment(find_simulator(tool)):
            return execute(tmp_path, sys.executable, "-c", script, f"--cores-root={rtl}", *command,
                           env=os.environ | homes)

    return work


@pytest.mark.parametrize(("tool", "case", "core"), [
    ("icarus", "grid16", "trainer"), ("icarus", "gains16", "learner"), ("verilator", "gains16", "predictor")])
def test_fusesoc_builds_a_testbench_and_it_passes(fusesoc, tool, case, core):
    done = fusesoc(case, "sim", tool, f"{core}_tb")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "PASS" in done.stdout + done.stderr


@pytest.mark.parametrize(("case", "core"), [("grid16", "trainer"), ("gains16", "learner")])
def test_fusesoc_finds_no_fault_in_the_wrapper_by_verilator(fusesoc, case, core):
    done = fusesoc(case, "lint", "verilator", core)
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    assert "%Warning" not in said, said
