"""Classes and several outputs: every back end answers outputs, label and margin of the model."""

import re
import subprocess
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from kerncast.codegen.c.classes import class_macros
from kerncast.codegen.generate import generate, render_c
from kerncast.codegen.hls import refuse_unfit as refuse_hls
from kerncast.codegen.rtl import refuse_unfit as refuse_rtl
from kerncast.hw.backends import open_backend
from kerncast.sim.data.predictor_file import TrainedModel
from kerncast.sim.decisions import decide
from kerncast.sim.errors import KerncastError
from kerncast.sim.model import open_model
from kerncast.sim.planner import make_plan
from kerncast.sim.replay.vectors import make_vectors
from kerncast.sim.spec import Spec
from kerncast.sim.statuses import DeviceStatus

from .replays import traces, words_replayed

COLUMNS, VECTORS = 3, 20
#: Name -> decision, word length, further keys of [output].
CASES = {
    "argmax16": ("argmax", 16, {}), "argmax24": ("argmax", 24, {"min_margin": 0.3}),
    "vote16": ("vote", 16, {}), "vote32": ("vote", 32, {"min_margin": 0.1}),
    "votes16": ("vote_confidence", 16, {"min_margin": 0.05}), "votes32": ("vote_confidence", 32, {}),
    "sign16": ("sign", 16, {}), "sign32": ("sign", 32, {"min_margin": 0.2}),
    "outputs16": ("", 16, {"outputs": 3}), "outputs32": ("", 32, {"outputs": 3}),
    "wraps16": ("argmax", 16, {"word": "s8f7"}), "rails16": ("vote", 16, {"word": "s4f4"}),
}


def choices(name):
    decision, word, output = CASES[name]
    return {decision, word, *output}
def trained(decision):
    """A model of four classes (one of them without centers), two classes, or three outputs."""
    rng = np.random.default_rng(len(decision))
    vectors, names = rng.normal(size=(VECTORS, COLUMNS)), ("sit", "walk", "run", "jump")
    kernel = {"type": "gaussian", "sigma": 1.0}
    columns, bias, groups = {"": (3, 3, ()), "argmax": (4, 4, ()), "sign": (0, 0, ())}.get(
        decision, (3, 6, (5, 0, 7, 8)))
    if not columns:
        return TrainedModel(kernel, vectors, rng.normal(size=VECTORS), 0.1, ("no", "yes"), np.ones(COLUMNS))
    return TrainedModel(kernel, vectors, rng.normal(size=(VECTORS, columns)), rng.normal(size=bias) * 0.1,
                        names if decision else (), np.ones(COLUMNS), "", decision, groups)


@cache
def plan_of(name):
    decision, word, output = CASES[name]
    model = trained(decision)
    named = {"classes": list(model.classes)} if decision else {}
    casts = {"casts": {"f": "floor wrap"}} if name.startswith("wraps") else {}
    spec = Spec(model={"name": name, "algorithm": "kernel_predictor"},
                input={"word": "s16f12", "columns": COLUMNS}, output={"word": "s14f10", **named, **output},
                kernel=model.kernel, predictor={"file": "m.json"}, numbers={"word": word, **casts})
    return make_plan(spec, model=model)


@cache
def vectors_of(name):
    x = np.rint(np.random.default_rng(1).normal(size=(40, COLUMNS)) * 4096)
    return make_vectors(open_model(plan_of(name)), [("predict", np.clip(x, -32768, 32767).astype(int), None)])


def compared(name, backend, ledger):
    each = plan_of(name).outputs + 1 + 2 * bool(CASES[name][0])
    assert words_replayed(plan_of(name), vectors_of(name), backend, ledger, name) == 40 * each


@pytest.mark.covering(name=choices)
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("backend", ["model:fxpmath", "host:gcc:-O2", "host:clang:-O0"])
def test_outputs_label_and_margin_are_the_same_on_each_back_end(ledger, name, backend):
    compared(name, backend, ledger)


@pytest.mark.parametrize("name", ["argmax16", "votes16", "outputs32"])
def test_an_emulated_board_answers_outputs_label_and_margin(ledger, name):
    compared(name, "emu:mps2-an386:unicorn", ledger)


def test_webassembly_answers_outputs_label_and_margin(ledger, require_tool):
    require_tool("python:ziglang", "python -m pip install ziglang")
    require_tool("python:wasmtime", "python -m pip install wasmtime")
    compared("vote16", "wasm", ledger)


@pytest.mark.campaign
@pytest.mark.parametrize("backend", ["emu:mps2-an386:qemu", "emu:microbit", "emu:riscv-virt",
                                     "emu:arduino-mega", "emu:hexagon-linux-hvx", "emu:mips-linux"])
@pytest.mark.parametrize("name", ["argmax16", "vote32"])
def test_every_emulated_core_answers_outputs_label_and_margin(ledger, name, backend):
    compared(name, backend, ledger)


def test_one_trace_of_several_outputs_is_that_of_the_model():
    x_raw = vectors_of("vote16").calls[0].x_raw
    model, host = traces(plan_of("vote16"), lambda backend: backend.predict(x_raw))
    assert model.count == 40 * (COLUMNS + 2 * VECTORS + 6) and model == host


@pytest.mark.parametrize("name", ["argmax16", "argmax24", "vote16", "vote32", "votes16", "sign16", "sign32"])
def test_the_c_decides_ties_and_rails_as_defined(name):
    plan = plan_of(name)
    word = plan.signals["f"].format
    values = [word.lo, -1, 0, 1, word.hi]
    f = np.random.default_rng(2).choice(values, size=(400, plan.outputs))
    least = plan.integer("min_margin") if "min_margin" in plan.constants else None
    labels, margins = decide(plan.decision, f[:, 0] if plan.outputs == 1 else f, len(plan.class_names), least)
    backend = open_backend(plan, "host")
    label, margin = backend.ffi.new("uint8_t *"), backend.ffi.new(f"{plan.word_type} *")
    for row, want, gap in zip(f.tolist(), labels, margins, strict=True):
        assert getattr(backend.library, f"{name}_model_decide")(row, label, margin) == 0
        assert (label[0], margin[0]) == (want, min(gap, word.hi))
    backend.close()


@pytest.mark.parametrize("name", ["argmax24", "votes16", "sign32"])
def test_one_call_classifies_as_a_prediction_and_a_decision(name):
    plan, call = plan_of(name), vectors_of(name).calls[0]
    backend = open_backend(plan, "host")
    label, margin = backend.ffi.new("uint8_t *"), backend.ffi.new(f"{plan.word_type} *")
    for m, sample in enumerate(call.x_raw.tolist()):
        status = getattr(backend.library, f"{name}_model_classify")(sample, label, margin)
        assert (status, label[0], margin[0]) == tuple(call.expected[key][m]
                                                      for key in ("status", "label", "margin"))
    backend.close()


def test_a_null_pointer_is_refused_and_a_null_margin_is_not():
    plan = plan_of("argmax16")
    backend = open_backend(plan, "host")
    library, ffi = backend.library, backend.ffi
    x, label, margin = ffi.new("int16_t[3]"), ffi.new("uint8_t *", 77), ffi.new("int16_t *", 7)
    refused = DeviceStatus.BAD_ARGUMENT
    assert library.argmax16_model_classify(ffi.NULL, label, margin) == refused
    assert library.argmax16_model_classify(x, ffi.NULL, margin) == refused
    assert (label[0], margin[0]) == (77, 7)
    assert library.argmax16_model_classify(x, label, ffi.NULL) >= 0 and label[0] < 4
    backend.close()


@pytest.mark.parametrize(("refuse", "code"), [(refuse_rtl, "E307"), (refuse_hls, "E311")])
@pytest.mark.parametrize("name", ["vote16", "votes32"])
def test_hardware_predictors_refuse_votes(refuse, code, name):
    with pytest.raises(KerncastError) as told:
        refuse(plan_of(name))
    problem = told.value.problems[0]
    assert (problem.code, problem.where, problem.value) == (code, "[output] classes", "4")


@pytest.mark.covering(name=choices)
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("name", CASES)
def test_the_c_compiles_without_a_warning(tmp_path, require_tool, name, compiler):
    require_tool(compiler, f"sudo apt-get install -y {compiler}")
    plan = plan_of(name)
    generate(plan, tmp_path / "c", vectors=vectors_of(name), packages=("make",))
    flags = "-std=c99 -O2 -Wall -Wextra -Wconversion -Wshadow -Wundef -Wcast-align -Werror"
    done = subprocess.run(["make", "check", f"CC={compiler}", f"CFLAGS={flags}"], cwd=tmp_path / "c",
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "0 mismatches" in done.stdout, done.stdout + done.stderr


def test_an_avr_fetches_the_vectors_of_several_outputs_from_flash(tmp_path):
    generate(plan_of("vote16"), tmp_path / "c")
    flags = ["-std=gnu99", "-D__AVR__", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-O1", "-c"]
    done = subprocess.run(["gcc", *flags, "-o", str(tmp_path / "o"), str(tmp_path / "c" / "vote16_model.c")],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_names_of_classes_become_different_identifiers():
    names = ("idle", "walk fast", "walk-fast", "Größe", "歩く", "3", "unknown", "names")
    assert class_macros(names) == ["IDLE", "WALK_FAST", "WALK_FAST_2", "GROE", "NO_4", "3", "UNKNOWN_2",
                                   "NAMES_2"]


def test_names_of_classes_in_c_are_the_names_of_the_spec(tmp_path):
    names = ['a "b"', "*/ int x; /* \\", "what??/", "歩く"]
    base = plan_of("argmax16")
    options = {key: value for key, value in base.options.items() if not key.startswith("class_")}
    named = {f"class_{label}": name for label, name in enumerate(names)}
    plan = replace(base, options=options | named, name="odd")
    generate(plan, tmp_path / "c")
    main = tmp_path / "main.c"
    main.write_text("""#include <stdio.h>
#include "odd.h"
static const char *const names[] = ODD_CLASS_NAMES;
int main(void)
{
    for (int i = 0; i < ODD_CLASSES; i++) {
        puts(names[i]);
    }
    return ODD_CLASS_A_B;
}
""")
    subprocess.run(["gcc", "-std=c99", "-Wall", "-Wtrigraphs", "-Werror", f"-I{tmp_path / 'c'}", str(main),
                    "-o", str(tmp_path / "main")], check=True)
    done = subprocess.run([tmp_path / "main"], capture_output=True, check=False)
    assert done.stdout.decode().splitlines() == names and done.returncode == 0


@pytest.mark.parametrize("name", ["argmax24", "vote16", "outputs16", "sign16"])
def test_every_public_function_of_classes_is_documented(name):
    header = render_c(plan_of(name))[f"{name}.h"]
    functions = re.findall(rf"(/\*\*(?:(?!\*/).)*\*/)\n\w+ ({name}_\w+)\(([^;{{]*)\);", header, re.DOTALL)
    assert {f[1] for f in functions} >= {f"{name}_model_predict"} | (
        {f"{name}_model_decide", f"{name}_model_classify"} if CASES[name][0] else set())
    for comment, _, parameters in functions:
        assert re.findall(r"@param\[[a-z,]+\] (\w+)", comment) == re.findall(
            r"(\w+)(?:,|$)", parameters.replace("\n", " "))
        for title in ("Reentrancy", "Interrupts", "Worst case"):
            assert len(re.findall(rf"^ \* @par {title}: \S", comment, re.MULTILINE)) == 1
