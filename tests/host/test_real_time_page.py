"""The page on interrupts and tasks: its C compiles, and its program learns a signal sample by sample."""

import re
import subprocess
from pathlib import Path

import cffi
import numpy as np

import kerncast
from kerncast.sim.data.windows import latest_first, tapped
from kerncast.sim.model import open_model
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec

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


def blocks():
    return re.findall(r"```c\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def test_the_program_for_several_channels_learns_as_the_model_does(require_tool, tmp_path):
    require_tool("gcc", GCC)
    spec = re.search(r"```toml\n(\[input\]\n[^`]*channels[^`]*)```", PAGE.read_text(encoding="utf-8"))
    plan = make_plan(Spec.from_text(f"""
        [model]\nname = "tapped"\nalgorithm = "kernel_lms"\n{spec[1]}
        [output]\nword = "s12f0"\n[kernel]\nsigma = 4000.0
        [online]\nbudget = 9\neta = 0.3\nreduction = "nt"\nquantise = 0.8"""))
    kerncast.generate(plan, tmp_path)
    (tmp_path / "program.c").write_text(PROGRAM.format(
        block="static tapped_delay_t line;\nstatic tapped_model_t model;\n" + blocks()[1]).replace(
        "void on_sample(tapped_in_t sample)",
        "void on_reading(const tapped_in_t reading[TAPPED_DELAY_CHANNELS], tapped_target_t y)"))
    program = built(tmp_path, "void on_reading(const int16_t *reading, int16_t y);")
    program.start()
    readings = np.random.default_rng(4).integers(-2048, 2048, (300, 3))
    for row, y in zip(readings.tolist(), SIGNAL.tolist(), strict=True):
        program.on_reading(row, y)
    model, full = open_model(plan), plan.delay * plan.decimate
    model.update(tapped(readings, plan.delay, plan.decimate), SIGNAL[full - 1::plan.decimate])
    alpha = model.state()["alpha"]
    assert [program.coefficient(i) for i in range(len(alpha))] == alpha.tolist()
    assert np.count_nonzero(alpha) > 0


def built(folder, declaration):
    command = ["gcc", "-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-fPIC", "-shared", "-I.",
               *(path.name for path in folder.glob("*.c")), "-o", "program.so"]
    subprocess.run(command, cwd=folder, check=True)
    ffi = cffi.FFI()
    ffi.cdef(f"void start(void); {declaration} int coefficient(int i);")
    return ffi.dlopen(str(folder / "program.so"))


def test_the_program_of_the_page_learns_as_the_model_does_on_windows(require_tool, tmp_path):
    require_tool("gcc", GCC)
    plan = learner("nt", 16)
    kerncast.generate(plan, tmp_path)
    block, _ = blocks()
    (tmp_path / "program.c").write_text(PROGRAM.format(block=block))
    program, model = built(tmp_path, "void on_sample(int16_t sample);"), open_model(plan)
    program.start()
    for sample in SIGNAL.tolist():
        program.on_sample(sample)
    model.update(latest_first(SIGNAL[:-1], 16), SIGNAL[16:])
    alpha = model.state()["alpha"]
    assert [program.coefficient(i) for i in range(len(alpha))] == alpha.tolist()
    assert np.count_nonzero(alpha) > 0


MISALIGNED = """#include "tapped.h"
static union { tapped_model_t model; unsigned char bytes[sizeof(tapped_model_t) + 1]; } memory;
int main(void)
{
    tapped_in_t x[TAPPED_INPUT_DIM] = {0};
    tapped_out_t f = 0;

    return tapped_model_predict((const tapped_model_t *)&memory.bytes[AT], x, &f) == KC_NOT_TRAINED ? 0 : 1;
}
"""


def compiled(folder, *options):
    command = ["gcc", "-std=c99", *options, "-I.", *(path.name for path in folder.glob("*.c")), "-o", "main"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_the_options_of_the_page_find_a_misaligned_model(require_tool, tmp_path):
    require_tool("gcc", GCC)
    text = PAGE.read_text(encoding="utf-8")
    assert "-Wcast-align=strict" in text and "-fsanitize=alignment" in text
    kerncast.generate(learner("nt", 16), tmp_path)
    (tmp_path / "main.c").write_text(MISALIGNED)
    found = {}
    for at in (0, 1):
        built = compiled(tmp_path, f"-DAT={at}", "-fsanitize=alignment", "-fno-sanitize-recover=all")
        assert built.returncode == 0, built.stderr
        run = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=False)
        found[at] = (run.returncode, "misaligned address" in run.stderr)
    assert found[0] == (0, False) and found[1][0] != 0 and found[1][1]
    warned = compiled(tmp_path, "-DAT=1", "-Wcast-align=strict", "-Werror")
    assert "main.c" in warned.stderr and "cast-align" in warned.stderr
