"""A learner with classes or several outputs: every back end learns and answers as the model does."""

import subprocess
from functools import cache

import numpy as np
import pytest
from covering import variants

from kerncast.codegen.generate import generate
from kerncast.codegen.rtl import LEARNER
from kerncast.hw.backends import open_backend
from kerncast.sim.errors import KerncastError
from kerncast.sim.model import open_model
from kerncast.sim.planner import make_plan
from kerncast.sim.reference.backend import FloatReference
from kerncast.sim.replay.vectors import make_vectors
from kerncast.sim.spec import Spec
from kerncast.sim.statuses import DeviceStatus

from .replays import traces, words_replayed

SAMPLES, COLUMNS = 60, 3
RLS = {"linear": "rls", "linear_ridge": 1e4}
#: Name -> classes (0: three targets), word length, keys of [online], keys of [output].
CASES = {
    "fklms16": (3, 16, {}, {}), "quantised24": (4, 24, {"quantise": 0.5}, {"min_margin": 0.3}),
    "nt32": (3, 32, {"reduction": "nt", "quantise": 0.5}, {}),
    "mt16": (5, 16, {"reduction": "mt", "max_deterioration": 0.05}, {"word": "s8f5"}),
    "forgets16": (3, 16, {"rho": 0.01, "truncation": 0.05}, {}),
    "at32": (3, 32, {"reduction": "at", "max_age": 20}, {}), "two16": (2, 16, {}, {"min_margin": 0.1}),
    "linear16": (2, 16, {"linear": "rls"}, {}),
    "newest16": (2, 16, {"reduction": "fmklms", "newest_only": True, "max_deterioration": 0.01}, {}),
    "outputs16": (0, 16, {"quantise": 0.6}, {}), "outputs32": (0, 32, {}, {}),
    "guarded16": (3, 16, {"guard": True}, {}),
    "rls16": (4, 16, {"linear": "rls", "reduction": "nt", "quantise": 0.5}, {"min_margin": 0.1}),
    "joint16": (3, 16, {**RLS, "joint": True, "gate": True, "rho": 0.01}, {}),
    "rls32": (0, 32, {**RLS, "gate": True, "linear_forgetting": 0.95}, {}),
    "joint24": (0, 24, {**RLS, "joint": True, "quantise": 0.6}, {"gain": 0.5}),
    "nlms16": (4, 16, {"linear": "nlms", "reduction": "nt", "quantise": 0.5}, {}),
    "nlms24": (3, 24, {"linear": "nlms", "linear_step": 1.5, "joint": True, "truncation": 0.01}, {}),
    "nlms32": (0, 32, {"linear": "nlms", "joint": True, "gate": True}, {"gain": 0.5}),
    "saturates16": (0, 16, {"eta": 1.9}, {"gain": 0.5}),
    "random16": (4, 16, {"features": 10, "linear": True}, {"min_margin": 0.1}),
    "random24": (2, 24, {"features": 10, "linear": False}, {}),
    "random32": (0, 32, {"features": 8, "linear": True, "forgetting": 0.97}, {"gain": 0.5}),
}


def spec_of(name, **extra):
    classes, word, online, output = CASES[name]
    target = {"classes": [f"class {label}" for label in range(classes)]} if classes else {
        "word": "s12f0", "outputs": 3}
    if name.startswith("random"):  # kernel RLS
        return Spec(model={"name": name, "algorithm": "online_kernel_rls"}, kernel={"sigma": 900.0},
                    input={"word": "s12f0", "columns": COLUMNS}, output={**target, **output},
                    numbers={"word": word}, rls={**online, **extra})
    casts = {"formats": {"alpha": "s16f15"}} if name.startswith("saturates") else {}
    return Spec(model={"name": name, "algorithm": "kernel_lms"},
                input={"word": "s12f0", "columns": COLUMNS}, output={**target, **output},
                kernel={"type": "gaussian", "sigma": 300.0}, numbers={"word": word, **casts},
                online={"budget": 12, "eta": 0.5, **online, **extra})


def choices(name):
    return variants(spec_of(name))
@cache
def samples_of(name):
    """Samples around a point per class; or inputs and three targets."""
    rng, classes = np.random.default_rng(0), CASES[name][0]
    y = rng.integers(0, classes or 3, SAMPLES)
    x = rng.integers(-900, 900, (classes or 3, COLUMNS))[y] + rng.normal(0, 200, (SAMPLES, COLUMNS))
    x = np.clip(x, -2048, 2047).astype(int)
    return x, y if classes else np.clip(2.2 * x - 300, -2048, 2047).astype(int)


@cache
def plan_of(name):
    seen = () if name.startswith("saturates") else samples_of(name)
    return make_plan(spec_of(name), *seen)


@cache
def vectors_of(name):
    x, y = samples_of(name)
    return make_vectors(open_model(plan_of(name)), [("predict", x[:3], None), ("update", x, y),
                                                    ("predict", x[:20], None)])


def compared(name, backend, ledger):
    each = plan_of(name).outputs + 1 + 2 * bool(CASES[name][0])
    assert words_replayed(plan_of(name), vectors_of(name), backend, ledger, name) >= (SAMPLES + 23) * each


@pytest.mark.covering(name=choices)
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("backend", ["model:fxpmath", "host:gcc:-O2", "host:clang:-O0"])
def test_classes_are_learnt_the_same_on_each_back_end(ledger, name, backend):
    compared(name, backend, ledger)


@pytest.mark.covering(name=choices)
@pytest.mark.parametrize("name", ["quantised24", "two16", "outputs16", "rls16", "joint24", "nlms16",
                                  "random16"])
def test_an_emulated_board_learns_classes(ledger, name):
    compared(name, "emu:mps2-an386:unicorn", ledger)


@pytest.mark.covering(name=choices)
@pytest.mark.parametrize("name", ["fklms16", "outputs32", "joint16", "nlms24", "random32"])
def test_webassembly_learns_classes(ledger, require_tool, name):
    require_tool("python:ziglang", "python -m pip install ziglang")
    require_tool("python:wasmtime", "python -m pip install wasmtime")
    compared(name, "wasm", ledger)


@pytest.mark.campaign
@pytest.mark.parametrize("backend", ["emu:mps2-an386:qemu", "emu:microbit", "emu:riscv-virt",
                                     "emu:arduino-mega", "emu:hexagon-linux-hvx", "emu:mips-linux"])
@pytest.mark.parametrize("name", ["fklms16", "nt32", "outputs16", "random16"])
def test_every_emulated_core_learns_classes(ledger, name, backend):
    compared(name, backend, ledger)


@pytest.mark.covering(name=choices)
@pytest.mark.parametrize("name", ["fklms16", "forgets16", "nt32", "outputs16", "two16", "joint16", "rls32",
                                  "nlms32", "random16", "random32"])
def test_the_trace_of_learning_is_that_of_the_model(name):
    x, y = samples_of(name)
    model, host = traces(plan_of(name), lambda backend: (backend.update(x, y), backend.predict(x[:5])))
    assert model.count > 0 and model == host


@pytest.mark.parametrize("name", ["fklms16", "two16", "random16", "random24"])
def test_a_label_outside_the_classes_changes_nothing(name):
    plan, (x, y) = plan_of(name), samples_of(name)
    backend = open_backend(plan, "host")
    backend.update(x[:20], y[:20])
    before, f = backend.state(), backend.ffi.new(f"{plan.word_type}[]", [7] * plan.outputs)
    sample = backend.ffi.new("int16_t[]", x[20].tolist())
    update = getattr(backend.library, f"{name}_{plan.update_name}")
    for label in (CASES[name][0], 255):
        assert update(backend.model, sample, label, f) == DeviceStatus.BAD_ARGUMENT
    assert list(f) == [7] * plan.outputs
    assert all((before[key] == value).all() for key, value in backend.state().items())
    assert update(backend.model, sample, CASES[name][0] - 1, f) == DeviceStatus.OK
    backend.close()


@pytest.mark.parametrize("name", ["fklms16", "outputs16", "random16", "random32"])
def test_null_pointers_are_bad_arguments(name):
    plan = plan_of(name)
    backend = open_backend(plan, "host")
    null, f, x = backend.ffi.NULL, backend.ffi.new(f"{plan.word_type}[5]"), backend.ffi.new("int16_t[3]")
    y = 0 if plan.decision else backend.ffi.new("int16_t[3]")
    update = getattr(backend.library, f"{name}_{plan.update_name}")
    calls = [(null, x, y, f), (backend.model, null, y, f), (backend.model, x, y, null)]
    calls += [] if plan.decision else [(backend.model, x, null, f)]
    assert {update(*call) for call in calls} == {DeviceStatus.BAD_ARGUMENT}
    backend.close()


@pytest.mark.covering
@pytest.mark.parametrize("name", ["quantised24", "joint16", "nlms16", "random16"])
@pytest.mark.parametrize("backend", ["model", "model:fxpmath", "host"])
def test_a_saved_state_resumes_learning(backend, name):
    x, y = samples_of(name)
    opened = open_backend(plan_of(name), backend)
    opened.update(x[:30], y[:30])
    image = opened.save()
    expected = opened.update(x[30:], y[30:])
    opened.reset()
    opened.restore(image)
    found = opened.update(x[30:], y[30:])
    assert all((found[key] == value).all() for key, value in expected.items())
    opened.close()


@pytest.mark.parametrize("name", ["nt32", "fklms16", "outputs32", "rls32", "joint24", "nlms16", "nlms32"])
def test_the_integers_follow_the_float_reference(name):
    plan, (x, y) = plan_of(name), samples_of(name)
    model, reference = open_model(plan), FloatReference(plan)
    model.update(x, y)
    reference.update(x, y)
    scale = float(eval(plan.units["y"]))  # a fraction p/q
    f, exact = model.predict(x)["f"] * scale, reference.predict(x)
    assert np.abs(f - exact).max() < 2e-3 * np.abs(exact).max()


@pytest.mark.parametrize("name", ["fklms16", "nt32", "random16", "random24"])
def test_one_pass_learns_separated_classes(name):
    model, (x, y) = open_model(plan_of(name)), samples_of(name)
    model.update(x, y)
    labels = model.predict(x)["label"]
    assert np.mean(labels == y) > 0.85


def test_some_coefficients_saturate_and_the_status_says_so():
    status = vectors_of("saturates16").calls[1].expected["status"]
    assert DeviceStatus.SATURATED in status


def test_the_rtl_learner_rejects_a_linear_part():
    problem = LEARNER.refusal(plan_of("linear16")).problems[0]
    assert (problem.code, problem.where) == ("E307", "[online] linear")


@pytest.mark.covering(name=choices)
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("name", CASES)
def test_the_c_of_a_class_learner_compiles_without_a_warning(tmp_path, require_tool, name, compiler):
    require_tool(compiler, f"sudo apt-get install -y {compiler}")
    generate(plan_of(name), tmp_path / "c", vectors=vectors_of(name), packages=("make",))
    flags = "-std=c99 -O2 -Wall -Wextra -Wconversion -Wshadow -Wundef -Wcast-align -Werror"
    done = subprocess.run(["make", "check", f"CC={compiler}", f"CFLAGS={flags}"], cwd=tmp_path / "c",
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "0 mismatches" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize(("online", "key"), [
    ({"linear": "rls", "last_errors": 3}, "last_errors"),
    ({"newest_only": True, "max_deterioration": 0.1}, "newest_only"),
    ({"reduction": "fmklms"}, "reduction"), ({"metric": "fast_klms"}, "metric"),
    ({"reduction": "klms_f32"}, "reduction")])
@pytest.mark.parametrize("name", ["fklms16", "outputs16"])
def test_keys_that_several_outputs_lack_are_rejected(name, online, key):
    with pytest.raises(KerncastError) as told:
        spec_of(name, **online)
    assert ("E113", f"[online] {key}") in {(p.code, p.where) for p in told.value.problems}


@pytest.mark.parametrize("word", ["u4f0", "s8f8", "s16f20"])
def test_scores_that_exclude_the_targets_of_classes_are_rejected(word):
    spec = Spec(model={"name": "m", "algorithm": "kernel_lms"}, input={"word": "s12f0", "columns": 1},
                output={"classes": ["a", "b", "c"], "word": word}, kernel={"type": "gaussian", "sigma": 9.0},
                online={"budget": 4, "eta": 0.5})
    with pytest.raises(KerncastError) as told:
        make_plan(spec)
    assert [(p.code, p.where) for p in told.value.problems] == [("E108", "[output] word")]


def test_a_label_in_the_data_outside_the_classes_is_rejected():
    x, y = samples_of("fklms16")
    with pytest.raises(KerncastError, match="E253"):
        open_model(plan_of("fklms16")).update(x, np.where(y == 2, 3, y))
