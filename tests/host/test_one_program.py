"""Models side by side in one program: in one file, as a jumbo build, in C++, behind hostile macros."""

import itertools
import subprocess
import tomllib
from pathlib import Path

import pytest

from kerncast.codegen.c.localise import localise
from kerncast.codegen.generate import render_c
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec

from . import test_classes as classes
from .conftest import CASES, spec_of

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
GCC = "sudo apt-get install -y gcc libc6-dev"
C99 = ("gcc", "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror", "-fsyntax-only", "-I.")
CXX17 = ("g++", "-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Wold-style-cast", "-Wconversion", "-Werror",
         "-fsyntax-only", "-I.")
#: What headers of systems and of products define before ours are read.
HOSTILE = "".join(f"#define {name} {value}\n" for name, value in {
    "near": "", "far": "", "min(a, b)": "((a) < (b) ? (a) : (b))", "max(a, b)": "((a) > (b) ? (a) : (b))",
    "I": "(1.0fi)", "OK": "77", "ERROR": "78", "W": "79", "ONE": "80", "HI": "81", "ROWS": "82",
    "small": "char", "interface": "struct"}.items())


def plan_of(name):
    """The plan of a case, without its samples."""
    return make_plan(spec_of(name))


def example(name):
    """The plan of an example of the docs."""
    spec = tomllib.loads((EXAMPLES / f"{name}.toml").read_text(encoding="utf-8"))
    spec.pop("data")
    return make_plan(Spec(**spec))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """All models of the suite, with classes too, and two examples of one algorithm; their names in a list."""
    place = tmp_path_factory.mktemp("one")
    (place / "rt").mkdir()
    models = {}
    for plan in [*map(plan_of, CASES), *map(classes.plan_of, classes.CASES),
                 *map(example, ("digits", "equaliser"))]:
        files = render_c(plan)
        for file, text in files.items():
            (place / file).write_text(text)
        models[plan.name] = [file for file in files if file.endswith(".c")]
    return place, models


def compiled(command, folder, name, text):
    (folder / name).write_text(text)
    done = subprocess.run([*command, name], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:4000]


def includes(names):
    return "".join(f'#include "{name}"\n' for name in names)


def test_two_models_of_one_algorithm_share_a_strict_c99_file(folder, require_tool):
    require_tool("gcc", GCC)
    compiled(C99, folder[0], "two.c", includes(["digits.h", "equaliser.h"]))


def test_every_pair_of_models_shares_a_strict_c99_file(folder, require_tool):
    require_tool("gcc", GCC)
    place, models = folder
    assert len([*itertools.combinations(models, 2)]) > 3_000  # one file holds every pair
    compiled(C99, place, "every.c", includes(f"{name}.h" for name in models))


def test_all_sources_of_all_models_compile_as_one_file(folder, require_tool):
    require_tool("gcc", GCC)
    place, models = folder
    compiled(C99, place, "jumbo.c", includes(file for files in models.values() for file in files))


def test_every_public_header_is_clean_cpp17(folder, require_tool):
    require_tool("g++", "sudo apt-get install -y g++")
    place, models = folder
    compiled(CXX17, place, "every.cpp", includes([*(f"{name}.h" for name in models), "rt/kc_status.h"]))


def test_models_compile_behind_the_macros_of_other_headers(folder, require_tool):
    require_tool("gcc", GCC)
    place, models = folder
    compiled(C99, place, "hostile.c", HOSTILE + includes(f"{name}.h" for name in models))
    algorithms = ("grid16", "schur16", "cg16", "lms16", "lookahead16", "klms16_f32", "digits")
    compiled(C99, place, "hostile_sources.c",
             HOSTILE + includes(file for name in algorithms for file in models[name]))


def test_the_public_header_includes_no_arithmetic(folder):
    place, models = folder
    for name in models:
        lines = (place / f"{name}.h").read_text().splitlines()
        assert {line for line in lines if line.startswith("#include")} <= {
            "#include <stdint.h>", '#include "rt/kc_config.h"', '#include "rt/kc_storage.h"'}


def test_a_second_runtime_in_one_file_does_not_compile(folder, require_tool):
    require_tool("gcc", GCC)
    place, _ = folder
    header = (place / "lms16.h").read_text()
    own = header.partition("KC_RUNTIME_HASH != 0x")[2][:8]
    other = f"{int(own, 16) ^ 1:08x}"
    second = header.replace(own, other).replace("LMS16", "SECOND").replace("lms16", "second")
    (place / "second.h").write_text(second)
    (place / "both.c").write_text(includes(["grid16.h", "second.h"]))
    done = subprocess.run([*C99, "both.c"], cwd=place, capture_output=True, text=True, check=False)
    assert done.returncode != 0 and "generate the folder again" in done.stderr


def test_a_prefix_spares_members_comments_strings_and_taken_names():
    text = ("/* step */\nstatic int step(int a)\n{\n    return a + s->step + s.step;\n}\n"
            "#define W 3\ntypedef int gap_t;\nstatic void solve(void)\n{\n    puts(\"step\", step(W));\n}\n")
    made = localise({"m_x.c": text, "m.h": "void m_x_solve(void);\n"}, "m")["m_x.c"]
    assert made == ("/* step */\nstatic int m_x_step(int a)\n{\n    return a + s->step + s.step;\n}\n"
                    "#define M_X_W 3\ntypedef int m_x_gap_t;\nstatic void m_x_solve_static(void)\n"
                    "{\n    puts(\"step\", m_x_step(M_X_W));\n}\n")
