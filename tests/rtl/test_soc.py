"""The example of a system on a chip trains through the driver, by interrupt, and equals the model."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "soc"
NEEDS = (("riscv64-unknown-elf-gcc", "sudo apt-get install -y gcc-riscv64-unknown-elf"),
         ("python:pythondata_cpu_picorv32", "python -m pip install pythondata-cpu-picorv32"))


@pytest.fixture
def simulated(require_simulator, require_tool, tmp_path):
    """``simulated(simulator)``: the lines that the script of the example prints."""

    def simulate(simulator):
        require_simulator(simulator)
        for need in NEEDS:
            require_tool(*need)
        option = ["--icarus"] if simulator == "icarus" else []
        command = [sys.executable, EXAMPLE / "run.py", "-o", tmp_path / "soc", *option]
        done = subprocess.run(command, capture_output=True, text=True, check=False,
                              env={**os.environ, "KERNCAST_ENGINE": "python"})
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout.splitlines()

    return simulate


@pytest.mark.parametrize("simulator", ["verilator", pytest.param("icarus", marks=pytest.mark.campaign)])
def test_a_processor_trains_through_the_driver_by_interrupt(simulated, ledger, simulator):
    lines = simulated(simulator)
    page = (ROOT / "docs" / "rtl.md").read_text(encoding="utf-8")
    for line in lines:
        values, mismatches = map(int, re.search(r"(\d+) values compared, (\d+) mismatches", line).groups())
        ledger.record(backend=f"rtl:{simulator}", words=values, mismatches=mismatches,
                      case=f"system on a chip, {line.split(':')[0]}")
        assert re.sub(r"\d+ clocks", "... clocks", line) in page
    assert [line.split(":")[0] for line in lines] == ["train", "learn"]
