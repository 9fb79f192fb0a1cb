"""No name of a generated HLS core is a macro of the vendors' headers: a namespace does not keep those out."""

import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.svm import SVR

import kerncast
from kerncast.codegen.hls import DIALECTS, render_hls, sources
from kerncast.hw.hls.headers import header_folder
from kerncast.hw.hls.simulation import build
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec

MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+([A-Za-z_]\w*)", re.MULTILINE | re.ASCII)


#: What vendors and C libraries define; ac_int.h itself refuses some of these before it.
HOSTILE = ("OK", "ERROR", "I", "BIAS", "HI", "ONE", "W", "TAG", "FLOOR", "WORD_BITS", "min(a, b)",
           "max(a, b)")
HEADERS = {"vitis": (), "catapult": ("ac_int.h", "ac_channel.h")}


TABLES = 'input = {word = "s12f0"}\noutput = {word = "s12f0"}\nkernel = {sigma = 2.0}\n'
SPECS = {
    "kernel_lms": "online = {budget = 6, eta = 0.5}",
    "toeplitz_rls": 'toeplitz = {n = 20, lambda = 0.3, scheme = "uniform"}',
}


def make(algorithm: str) -> Plan:
    if algorithm in SPECS:
        return make_plan(Spec.from_text(
            f'model = {{name = "m", algorithm = "{algorithm}"}}\n{TABLES}{SPECS[algorithm]}\n', "m.toml"))
    x = np.arange(24.0).reshape(8, 3)
    return kerncast.plan(SVR(gamma=0.01).fit(x, x[:, 0] + 7), x)


@pytest.mark.parametrize("algorithm", [*SPECS, "kernel_predictor"])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_no_generated_name_is_a_macro_of_the_vendor(algorithm, dialect, require_tool):
    require_tool("python:hls4ml", "python -m pip install --no-deps hls4ml")
    macros = {name for path in header_folder(dialect).rglob("*.h")
              for name in MACRO.findall(path.read_text(errors="replace"))}
    assert "BIAS" in macros or dialect != "vitis"
    for name, text in render_hls(make(algorithm), dialect).items():
        if name.endswith((".hpp", ".cpp")):
            code = re.sub(r'//[^\n]*|"[^"\n]*"|^[ \t]*#[^\n]*', "", text, flags=re.MULTILINE)
            found = (macros - {"for"}) & set(re.findall(r"\b[A-Za-z_]\w*", code))
            assert not found, (name, found)


@pytest.mark.parametrize(("algorithm", "dialect"), [
    ("kernel_predictor", "vitis"), ("kernel_lms", "catapult"), ("toeplitz_rls", "catapult")])
def test_macros_of_other_headers_do_not_break_a_core(algorithm, dialect, require_tool, tmp_path):
    require_tool("python:hls4ml", "python -m pip install --no-deps hls4ml")
    require_tool("g++", "sudo apt-get install -y g++")
    plan, hostile = make(algorithm), tmp_path / "hostile.h"
    lines = [*(f"#include <{header}>" for header in HEADERS[dialect]),
             *(f"#define {name} hostile +" for name in HOSTILE)]
    hostile.write_text("\n".join([*lines, ""]))
    for name, text in render_hls(plan, dialect).items():
        (tmp_path / Path(name).name).write_text(text)
    cores = [tmp_path / name for name in sources(plan)[:-1]]  # without the testbench
    (tmp_path / "none").touch()  # a check of the syntax writes no program
    build(dialect, cores, tmp_path / "none", flags=("-fsyntax-only", "-include", str(hostile)))
