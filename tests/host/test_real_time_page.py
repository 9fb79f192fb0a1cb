"""The page on interrupts and tasks: its C compiles, and its program learns a signal sample by sample."""

import re
import subprocess
from pathlib import Path

import cffi
import numpy as np

import kerncast
from kerncast.sim.data.windows import latest_first
from kerncast.sim.model import open_model

from .test_delay_line import GCC, SIGNAL, learner

PAGE = Path(kerncast.__file__).resolve().parent / "docs" / "real-time.md"
PROGRAM = """#include "tapped.h"
void on_sample(tapped_in_t sample);
void start(void);
int coefficient(int i);
{block}
void start(void) {{ tapped_model_init(&model); }}
int coefficient(int i) {{ return model.alpha[i]; }}
"""


def test_the_program_of_the_page_learns_as_the_model_does_on_windows(require_tool, tmp_path):
    require_tool("gcc", GCC)
    plan = learner("nt", 16)
    kerncast.generate(plan, tmp_path)
    block, = re.findall(r"```c\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "program.c").write_text(PROGRAM.format(block=block))
    command = ["gcc", "-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-fPIC", "-shared", "-I.",
               *(path.name for path in tmp_path.glob("*.c")), "-o", "program.so"]
    subprocess.run(command, cwd=tmp_path, check=True)
    ffi = cffi.FFI()
    ffi.cdef("void start(void); void on_sample(int16_t sample); int coefficient(int i);")
    program, model = ffi.dlopen(str(tmp_path / "program.so")), open_model(plan)
    program.start()
    for sample in SIGNAL.tolist():
        program.on_sample(sample)
    model.update(latest_first(SIGNAL[:-1], 16), SIGNAL[16:])
    alpha = model.state()["alpha"]
    assert [program.coefficient(i) for i in range(len(alpha))] == alpha.tolist()
    assert np.count_nonzero(alpha) > 0
