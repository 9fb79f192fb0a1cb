"""Conjugate gradients with classes or several outputs: every back end trains as the model does."""

import subprocess
from functools import cache

import numpy as np
import pytest
from covering import variants

from kerncast.codegen.generate import generate
from kerncast.hw.backends import open_backend
from kerncast.sim.model import open_model
from kerncast.sim.planner import make_plan
from kerncast.sim.reference.backend import FloatReference
from kerncast.sim.replay.vectors import Call, make_vectors
from kerncast.sim.spec import Spec
from kerncast.sim.statuses import DeviceStatus

from .replays import traces, words_replayed
from .slices import Slices

SAMPLES, COLUMNS = 20, 3
#: Name -> classes (0: three targets), word length, keys of [cg], keys of [output].
CASES = {
    "three16": (3, 16, {}, {"min_margin": 0.2}), "four24": (4, 24, {"lambda": 0.02}, {"word": "s8f5"}),
    "five32": (5, 32, {"steps": 30}, {}), "two16": (2, 16, {}, {}),
    "outputs16": (0, 16, {}, {}), "outputs32": (0, 32, {"steps": 3}, {"offset": 100, "gain": 0.5}),
    "singular16": (3, 16, {"lambda": 1e-9, "steps": 60}, {}),
}
OK, BAD, ORDER = DeviceStatus.OK, DeviceStatus.BAD_ARGUMENT, DeviceStatus.OUT_OF_ORDER


def spec_of(name, outputs=None, **extra):
    classes, word, cg, output = CASES[name]
    target = {"classes": [f"class {label}" for label in range(classes)]} if classes else {
        "word": "s12f0", "outputs": 3 if outputs is None else outputs}
    return Spec(model={"name": name, "algorithm": "kernel_cg"},
                input={"word": "s12f0", "columns": COLUMNS}, output={**target, **output},
                kernel={"type": "gaussian", "sigma": 300.0}, numbers={"word": word},
                cg={"n": SAMPLES, "lambda": 0.1, "steps": 5, **cg, **extra})


def choices(name):
    return variants(spec_of(name))
@cache
def samples_of(name):
    """Samples around a point per class; or inputs and three targets, one of them far smaller, one zero."""
    rng, classes = np.random.default_rng(0), CASES[name][0]
    y = rng.integers(0, classes or 3, SAMPLES)
    x = rng.integers(-900, 900, (classes or 3, COLUMNS))[y] + rng.normal(0, 200, (SAMPLES, COLUMNS))
    x = np.clip(x, -2048, 2047).astype(int)
    if name.startswith("singular"):
        x = np.tile(x[:4], (SAMPLES // 4, 1))
    return x, y if classes else np.stack([x[:, 0], x[:, 1] // 100 + 100, 100 + 0 * y], axis=1)


@cache
def plan_of(name):
    return make_plan(spec_of(name))


@cache
def vectors_of(name):
    x, y = samples_of(name)
    return make_vectors(open_model(plan_of(name)), [("predict", x[:2], None), ("train", x, y),
                                                    ("predict", x[:12], None)])


def compared(name, backend, ledger):
    each = plan_of(name).outputs + 1 + 2 * bool(CASES[name][0])
    assert words_replayed(plan_of(name), vectors_of(name), backend, ledger, name) >= 14 * each + 1


@pytest.mark.covering(name=choices)
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("backend", ["host:gcc:-O2", "host:clang:-O0"])
def test_classes_are_trained_the_same_on_the_host(ledger, name, backend):
    compared(name, backend, ledger)


@pytest.mark.covering(name=choices)
@pytest.mark.parametrize("name", ["three16", "two16", "outputs16", "singular16"])
def test_the_second_model_trains_each_output_by_itself(ledger, name):
    compared(name, "model:fxpmath", ledger)


@pytest.mark.covering(name=choices)
@pytest.mark.parametrize("name", ["three16", "two16", "outputs32"])
def test_an_emulated_board_trains_classes(ledger, name):
    compared(name, "emu:mps2-an386:unicorn", ledger)


@pytest.mark.parametrize("name", ["three16", "outputs32"])
def test_webassembly_trains_classes(ledger, require_tool, name):
    require_tool("python:ziglang", "python -m pip install ziglang")
    require_tool("python:wasmtime", "python -m pip install wasmtime")
    compared(name, "wasm", ledger)


@pytest.mark.campaign
@pytest.mark.parametrize("backend", ["emu:mps2-an386:qemu", "emu:microbit", "emu:riscv-virt",
                                     "emu:arduino-mega", "emu:hexagon-linux-hvx", "emu:mips-linux"])
@pytest.mark.parametrize("name", ["three16", "outputs16", "two16"])
def test_every_emulated_core_trains_classes(ledger, name, backend):
    compared(name, backend, ledger)


@pytest.mark.parametrize("name", ["three16", "two16", "outputs16"])
def test_the_trace_of_a_training_is_that_of_the_model(name):
    x, y = samples_of(name)
    model, host = traces(plan_of(name), lambda backend: (backend.train(x, y), backend.predict(x[:5])))
    assert model.count > 0 and model == host


@pytest.mark.parametrize("steps", [1, 7, 2**32 - 1])
@pytest.mark.parametrize("name", ["three16", "outputs16"])
def test_slices_give_the_values_of_the_blocking_call(name, steps):
    x, y = samples_of(name)
    backend = open_backend(plan_of(name), "host")
    status = int(backend.train(x, y)["status"][0])
    expected = backend.state()
    backend.reset()
    slices = Slices(backend, Call("train", x, y, {}))
    slices.collect()
    assert slices.run(steps) == OK and slices.commit() == status
    assert all((backend.state()[key] == value).all() for key, value in expected.items())
    backend.close()


def test_a_label_outside_the_classes_changes_nothing():
    x, y = samples_of("three16")
    backend = open_backend(plan_of("three16"), "host")
    backend.train(x, y)
    before = backend.state()
    samples, labels = backend._raw(x, "x_raw"), backend._raw(np.where(np.arange(SAMPLES) == 9, 3, y), "y_raw")
    assert backend.library.three16_train(backend.trainer, backend.model, samples, labels) == BAD
    assert backend.library.three16_train_begin(backend.trainer) == OK
    trainer = backend.workspace()
    assert backend.library.three16_train_push(backend.trainer, samples, 3) == BAD
    assert all((backend.workspace()[key] == value).all() for key, value in trainer.items())
    assert all((backend.state()[key] == value).all() for key, value in before.items())
    backend.close()


@pytest.mark.parametrize("member", ["r_exp", "p_exp", "own_exp", "rr", "taken"])
def test_a_trainer_whose_numbers_were_overwritten_is_refused(member):
    x, y = samples_of("three16")
    backend = open_backend(plan_of("three16"), "host")
    samples, labels = backend._raw(x, "x_raw"), backend._raw(y, "y_raw")
    backend.library.three16_train_begin(backend.trainer)
    for i in range(SAMPLES):
        backend.library.three16_train_push(backend.trainer, samples + i * COLUMNS, labels[i])
    backend.library.three16_train_run(backend.trainer, 40)
    getattr(backend.trainer, member)[2] += 1
    assert backend.library.three16_train_run(backend.trainer, 1) == ORDER
    backend.close()


@pytest.mark.parametrize("backend", ["model", "model:fxpmath", "host"])
def test_a_saved_state_predicts_the_same(backend):
    x, y = samples_of("three16")
    opened = open_backend(plan_of("three16"), backend)
    opened.train(x, y)
    image, expected = opened.save(), opened.predict(x)
    opened.reset()
    opened.restore(image)
    assert all((opened.predict(x)[key] == value).all() for key, value in expected.items())
    opened.close()


@pytest.mark.parametrize("label", [0, 1, 2])
def test_each_class_is_trained_as_a_model_of_its_own(label):
    """Rows of kernel values are shared; nothing else is, but the exponent of the coefficients."""
    x, y = samples_of("five32")
    every, alone = open_model(plan_of("five32")), open_model(make_plan(Spec(
        model={"name": "alone", "algorithm": "kernel_cg"}, input={"word": "s12f0", "columns": COLUMNS},
        output={"classes": ["other", "own"]}, kernel={"type": "gaussian", "sigma": 300.0},
        numbers={"word": 32}, cg={"n": SAMPLES, "lambda": 0.1, "steps": 30})))
    every.train(x, y)
    alone.train(x, (y == label).astype(int))
    f, own = every.predict(x)["f"][:, label], alone.predict(x)["f"]
    assert np.abs(f - own).max() <= 2


@pytest.mark.parametrize("name", ["three16", "five32", "outputs16", "outputs32"])
def test_the_integers_follow_the_float_reference(name):
    plan, (x, y) = plan_of(name), samples_of(name)
    model, reference = open_model(plan), FloatReference(plan)
    status = model.train(x, y)["status"][0]
    reference.train(x, y)
    scale = float(eval(plan.units["y"]))  # a fraction p/q
    f, exact = model.predict(x)["f"] * scale, reference.predict(x)
    assert status >= 0 and np.abs(f - exact).max() < 2e-3 * np.abs(exact).max()


def test_an_output_without_a_residual_stops_alone():
    x, y = samples_of("outputs32")
    model = open_model(plan_of("outputs32"))
    model.train(x, y)
    taken = model.workspace()["taken"]
    assert taken[2] == 0 and (taken[:2] == 3).all() and (model.predict(x)["f"][:, 2] == 0).all()


def test_hardly_regularised_repeated_samples_are_not_ok():
    status = vectors_of("singular16").calls[1].expected["status"][0]
    assert status in (DeviceStatus.INACCURATE, DeviceStatus.NOT_POSITIVE_DEFINITE)


@pytest.mark.covering
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("name", ["three16", "two16", "outputs32"])
def test_the_c_of_a_class_trainer_compiles_without_a_warning(tmp_path, require_tool, name, compiler):
    require_tool(compiler, f"sudo apt-get install -y {compiler}")
    generate(plan_of(name), tmp_path / "c", vectors=vectors_of(name), packages=("make",))
    flags = "-std=c99 -O2 -Wall -Wextra -Wconversion -Wshadow -Wundef -Wcast-align -Werror"
    done = subprocess.run(["make", "check", f"CC={compiler}", f"CFLAGS={flags}"], cwd=tmp_path / "c",
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "0 mismatches" in done.stdout, done.stdout + done.stderr
