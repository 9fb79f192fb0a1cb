"""The C of every example compiles for AVR without a warning, even where the RAM of no AVR holds the model."""

import subprocess
from pathlib import Path

import pytest

from kerncast.codegen.generate import generate
from kerncast.lab.workflow import plan_and_vectors
from kerncast.sim.spec import Spec

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.mark.parametrize("name", sorted(path.stem for path in EXAMPLES.glob("*.toml")))
def test_an_example_compiles_for_avr_without_a_warning(name, tmp_path, require_tool):
    require_tool("avr-gcc", "sudo apt-get install -y gcc-avr avr-libc")
    source = EXAMPLES / f"{name}.toml"
    plan, _ = plan_and_vectors(Spec.load(source), EXAMPLES, vectors=False)
    generate(plan, tmp_path)
    flags = ["-mmcu=atmega2560", "-O2", "-std=c99", "-Wall", "-Wextra", "-Werror"]
    for file in sorted(tmp_path.glob("*.c")):
        done = subprocess.run(["avr-gcc", *flags, "-c", file.name, "-o", "object.o"], cwd=tmp_path,
                              capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
