"""The banded solver with several outputs: every back end trains each signal as the model does."""

import subprocess
from functools import cache

import numpy as np
import pytest
from covering import variants

from kerncast.codegen.generate import generate
from kerncast.hw.backends import open_backend
from kerncast.sim.model import open_model
from kerncast.sim.planner import make_plan
from kerncast.sim.replay.vectors import make_vectors
from kerncast.sim.spec import Spec
from kerncast.sim.statuses import DeviceStatus

from .replays import traces, words_replayed
from .slices import Slices, trained_by

SAMPLES = 30
#: Name -> outputs, word length, keys of [toeplitz], keys of [output].
CASES = {
    "three16": (3, 16, {}, {}), "bias16": (3, 16, {"bias": True}, {"offset": 100}),
    "four24": (4, 24, {"lambda": 0.02, "bias": True}, {}), "two32": (2, 32, {"step": 2}, {"gain": 0.5}),
    "wide16": (3, 16, {"n": 100}, {}), "coarse16": (3, 16, {"tolerance": 1e-5}, {}),
}
OK, ORDER = DeviceStatus.OK, DeviceStatus.OUT_OF_ORDER


def spec_of(name, **output):
    outputs, word, toeplitz, own = CASES[name]
    return Spec(model={"name": name, "algorithm": "toeplitz_rls"}, input={"word": "u16f0"},
                output={"word": "s12f0", "outputs": outputs, **own, **output},
                kernel={"type": "gaussian", "sigma": 2.0}, numbers={"word": word},
                toeplitz={"n": SAMPLES, "lambda": 0.1, "scheme": "uniform", "solver": "banded", **toeplitz})


def choices(name):
    return variants(spec_of(name))
@cache
def plan_of(name):
    return make_plan(spec_of(name))


@cache
def samples_of(name):
    """Signals of which one is loud, one is far smaller, one is zero, and one is at the rails."""
    plan = plan_of(name)
    n, rng = plan.sizes["n"], np.random.default_rng(0)
    loud = np.clip(np.cumsum(rng.integers(-400, 400, n)), -2048, 2047)
    quiet = rng.integers(-4, 5, n) + plan.integer("y_offset")
    every = [loud, quiet, np.full(n, plan.integer("y_offset")), rng.choice([-2048, 2047], n)]
    return np.stack(every[:plan.outputs], axis=1)


@cache
def vectors_of(name):
    places = np.array([[0], [1], [7], [SAMPLES - 1], [SAMPLES + 1], [65535]])
    return make_vectors(open_model(plan_of(name)), [
        ("predict", places[:2], None), ("train", None, samples_of(name)), ("predict", places, None)])


def compared(name, backend, ledger):
    least = (plan_of(name).sizes["n"] + 8) * plan_of(name).outputs
    assert words_replayed(plan_of(name), vectors_of(name), backend, ledger, name) >= least


@pytest.mark.covering(name=choices)
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("backend", ["host:gcc:-O2", "host:clang:-O0"])
def test_signals_are_trained_the_same_on_the_host(ledger, name, backend):
    compared(name, backend, ledger)


@pytest.mark.parametrize("name", ["three16", "bias16", "four24", "two32"])
def test_the_second_model_trains_each_signal_by_itself(ledger, name):
    compared(name, "model:fxpmath", ledger)


@pytest.mark.covering(name=choices)
@pytest.mark.parametrize("name", ["bias16", "two32", "wide16"])
def test_an_emulated_board_trains_signals(ledger, name):
    compared(name, "emu:mps2-an386:unicorn", ledger)


@pytest.mark.parametrize("name", ["bias16", "wide16"])
def test_webassembly_trains_signals(ledger, require_tool, name):
    require_tool("python:ziglang", "python -m pip install ziglang")
    require_tool("python:wasmtime", "python -m pip install wasmtime")
    compared(name, "wasm", ledger)


@pytest.mark.campaign
@pytest.mark.parametrize("backend", ["emu:mps2-an386:qemu", "emu:microbit", "emu:riscv-virt",
                                     "emu:arduino-mega", "emu:mips-linux"])
@pytest.mark.parametrize("name", ["three16", "bias16", "two32"])
def test_every_emulated_core_trains_signals(ledger, name, backend):
    compared(name, backend, ledger)


@pytest.mark.parametrize("name", ["bias16", "two32", "wide16"])
def test_the_trace_of_a_training_is_that_of_the_model(name):
    model, host = traces(plan_of(name), lambda backend: (
        backend.train(None, samples_of(name)), backend.predict(np.array([[3], [70]]))))
    assert model.count > 0 and model == host


@pytest.mark.parametrize("name", CASES)
def test_each_signal_is_trained_as_a_model_of_its_own(name):
    """The factor and the exponent are shared; nothing else is."""
    every, y = open_model(plan_of(name)), samples_of(name)
    alone = open_model(make_plan(spec_of(name, outputs=None)))
    every.train(None, y)
    state, n = every.state(), plan_of(name).sizes["n"]
    for output, alpha in enumerate(state["alpha"].reshape(-1, n)):
        alone.train(None, y[:, output])
        own = alone.state()
        shift = int(state["alpha_exp"][0] - own["alpha_exp"][0])
        assert shift >= 0 and np.array_equal(alpha, (own["alpha"] + (1 << shift >> 1)) >> shift)
        assert every.workspace()["own_exp"][output] == own["alpha_exp"][0]
        if plan_of(name).bias:
            assert state["bias"][output] == own["bias"][0]
    assert state["alpha_exp"][0] == every.workspace()["own_exp"].max()


@pytest.mark.parametrize("name", ["three16", "bias16", "four24", "two32"])
def test_the_fitted_values_are_the_predictions_within_the_bound(name):
    model, plan = open_model(plan_of(name)), plan_of(name)
    model.train(None, samples_of(name))
    n, step, state = plan.sizes["n"], plan.integer("x_step"), model.state()
    f, predicted = model.fitted()["f"], model.predict(np.arange(n)[:, np.newaxis] * step)["f"]
    lsb = 2.0 ** (plan.word - 1 - plan.integer("alpha_frac") + int(state["alpha_exp"][0]))  # of alpha, in y's
    rounded = np.abs(state["alpha"]).sum() * 2.0 ** (1 - plan.signals["kernel"].format.frac)
    limit = lsb * (plan.lam * int(state["bound"][0]) + rounded) + 1
    assert f.shape == (n, plan.outputs) and np.abs(f - predicted).max() <= limit


@pytest.mark.parametrize("steps", [1, 3, 2**32 - 1])
@pytest.mark.parametrize("name", ["three16", "bias16"])
def test_slices_give_the_values_of_the_blocking_call(name, steps):
    backend = open_backend(plan_of(name), "host")
    status = int(backend.train(None, samples_of(name))["status"][0])
    expected = {**backend.state(), **backend.fitted()}
    backend.reset()
    slices = Slices(backend, trained_by(vectors_of(name)))
    slices.collect()
    assert slices.run(steps) == OK and slices.commit() == status
    found = {**backend.state(), **backend.fitted()}
    assert all((found[key] == value).all() for key, value in expected.items())
    backend.close()


@pytest.mark.parametrize("member", ["own_exp", "bias", "output", "z_exp"])
def test_a_trainer_whose_numbers_were_overwritten_is_refused(member):
    backend = open_backend(plan_of("bias16"), "host")
    slices = Slices(backend, trained_by(vectors_of("bias16")))
    slices.collect()
    slices.call("run", 3)
    if member in ("own_exp", "bias"):
        getattr(backend.trainer, member)[2] += 1
    else:
        setattr(backend.trainer, member, getattr(backend.trainer, member) + 1)
    assert slices.call("run", 1) == ORDER
    backend.close()


def test_a_null_target_is_refused_and_changes_nothing():
    backend = open_backend(plan_of("three16"), "host")
    slices = Slices(backend, trained_by(vectors_of("three16")))
    assert slices.call("begin") == OK
    before = backend.workspace()
    assert slices.call("push", backend.ffi.NULL) == DeviceStatus.BAD_ARGUMENT
    assert all((backend.workspace()[key] == value).all() for key, value in before.items())
    backend.close()


@pytest.mark.parametrize("backend", ["model", "model:fxpmath", "host"])
def test_a_saved_state_predicts_the_same(backend):
    opened, x = open_backend(plan_of("bias16"), backend), np.array([[0], [9], [29]])
    opened.train(None, samples_of("bias16"))
    image, expected = opened.save(), opened.predict(x)
    opened.reset()
    opened.restore(image)
    assert all((opened.predict(x)[key] == value).all() for key, value in expected.items())
    opened.close()


def test_one_bound_over_all_outputs_decides_the_status():
    assert vectors_of("coarse16").calls[1].expected["status"] == [DeviceStatus.INACCURATE]
    assert vectors_of("three16").calls[1].expected["status"] == [OK]


@pytest.mark.covering
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("name", ["three16", "four24", "two32", "wide16"])
def test_the_c_of_several_signals_compiles_without_a_warning(tmp_path, require_tool, name, compiler):
    require_tool(compiler, f"sudo apt-get install -y {compiler}")
    generate(plan_of(name), tmp_path / "c", vectors=vectors_of(name), packages=("make",))
    flags = "-std=c99 -O2 -Wall -Wextra -Wconversion -Wshadow -Wundef -Wcast-align -Werror"
    done = subprocess.run(["make", "check", f"CC={compiler}", f"CFLAGS={flags}"], cwd=tmp_path / "c",
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "0 mismatches" in done.stdout, done.stdout + done.stderr
