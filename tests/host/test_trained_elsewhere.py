"""Models that were trained elsewhere: every back end answers the model's words; the C has no state."""

import subprocess
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVC, SVR

import kerncast
from kerncast.codegen.generate import generate
from kerncast.hw.backends import open_backend
from kerncast.sim.model import open_model
from kerncast.sim.model.statuses import BAD_ARGUMENT, SATURATED
from kerncast.sim.plan import Plan
from kerncast.sim.replay.vectors import Vectors, make_vectors, replay

RNG = np.random.default_rng(11)
X = RNG.integers(-40, 90, size=(28, 5)).astype(float)
Y = X @ [0.02, -0.01, 0.03, 0.0, 0.01] + np.sin(X[:, 0] / 20)
# Rails of every column and beyond what was trained on: predictions there saturate, or are the intercept.
FAR = RNG.integers(-128, 128, size=(8, 5))


class Case(NamedTuple):
    """A plan with the words that its model answers."""

    plan: Plan
    vectors: Vectors


ESTIMATORS = {
    "svc": (SVC(gamma=2e-4, C=4.0), {"word": 16}),
    "svc32": (SVC(gamma=2e-4, C=4.0), {"word": 32}),
    "svr24": (SVR(gamma=3e-4), {"word": 24}),
    "poly": (SVR(kernel="poly", degree=2, gamma=1e-4, coef0=1.0), {"word": 32}),
    "laplacian": (KernelRidge(kernel="laplacian", gamma=0.01, alpha=0.1), {"word": 16}),
    "wraps": (KernelRidge(kernel="rbf", gamma=3e-4, alpha=0.1),
              {"word": 16, "numbers": {"casts": {"f": "floor wrap"}}, "output": {"word": "s8f8"}}),
    "mean_wraps": (SVR(gamma=3e-4), {"word": 32, "numbers": {"casts": {"f": "half_even wrap"}},
                                     "output": {"word": "s8f8"}}),
    "mean_saturates": (SVR(gamma=3e-4), {"word": 16, "output": {"word": "s8f8"}}),
    "columns": (GaussianProcessRegressor(RBF([40, 60, 50, 90, 70]), alpha=0.1, optimizer=None,
                                         normalize_y=True), {"word": 16}),
}


@pytest.fixture(scope="module")
def case() -> Callable[[str], Case]:
    made: dict[str, Case] = {}

    def find(name: str) -> Case:
        if name not in made:
            estimator, choices = ESTIMATORS[name]
            fitted = estimator.fit(X, np.median(Y) < Y if isinstance(estimator, SVC) else Y)
            plan = kerncast.plan(fitted, np.vstack([X, FAR]), name=name, **choices)
            raw = kerncast.raw_inputs(plan, np.vstack([X[:4], FAR]))
            made[name] = Case(plan, make_vectors(open_model(plan), [("predict", raw, None)]))
        return made[name]

    return find


def compared(case: Case, backend: str, ledger, **options) -> None:
    opened = open_backend(case.plan, backend, **options)
    try:
        found = replay(opened, case.vectors)
        assert opened.calls >= {"predict"} and not opened.calls & {"train", "update", "state", "save"}
    finally:
        opened.close()
    ledger.record(backend=backend, words=found.words, mismatches=found.mismatches, case=case.plan.name)
    assert (found.words, found.mismatches) == (2 * len(case.vectors.calls[0].x_raw), 0), found.first


@pytest.mark.covering
@pytest.mark.filterwarnings("ignore:.*W208")  # of words that wrap
@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("backend", ["model:fxpmath", "host:gcc:-O0", "host:gcc:-O2"])
def test_every_kernel_and_word_length_is_the_same_on_each_back_end(case, ledger, name, backend):
    compared(case(name), backend, ledger)


def test_an_emulated_board_answers_the_same_values(case, ledger):
    compared(case("svc"), "emu:mps2-an386:unicorn", ledger)


@pytest.mark.campaign
@pytest.mark.parametrize("name", ["svc", "svc32", "poly"])
@pytest.mark.parametrize("backend", [
    "emu:mps2-an386:qemu", "emu:microbit", "emu:mps3-an547", "emu:riscv-virt", "emu:arduino-mega",
    "emu:hexagon-linux-hvx", "emu:mips-linux"])
def test_every_emulated_core_answers_the_same_values(case, ledger, name, backend):
    compared(case(name), backend, ledger)


@pytest.mark.filterwarnings("ignore:.*W208")
@pytest.mark.parametrize("name", [
    "laplacian", "svc", "mean_saturates", "mean_wraps",
    *(pytest.param(name, marks=pytest.mark.campaign) for name in ("wraps", "svc32", "svr24", "poly",
                                                                  "columns"))])
def test_the_predictor_in_systemverilog_adds_the_intercept_of_the_plan(case, ledger, require_tool, name):
    require_tool("iverilog", "sudo apt-get install -y iverilog")
    plan, vectors = case(name)
    assert (plan.integer("bias") == 0) == (name in ("laplacian", "wraps"))
    assert (SATURATED in vectors.calls[0].expected["status"]) == (name == "mean_saturates")
    compared(case(name), "rtl:icarus", ledger)


@pytest.mark.campaign
def test_a_trace_of_the_c_is_that_of_the_model(case):
    plan, vectors = case("svc")
    x_raw = vectors.calls[0].x_raw
    traces = []
    for name in ("model", "host"):
        backend = open_backend(plan, name, traced=True)
        backend.trace((1 << 32) - 1)
        backend.predict(x_raw)
        traces.append(backend.trace(0))
        backend.close()
    assert traces[0] == traces[1] and traces[0].count > len(x_raw) * plan.sizes["N"]


def test_the_library_stores_its_model_in_constants_without_state(case, tmp_path):
    plan, vectors = case("svc")
    generate(plan, tmp_path / "c", "cortex-m4", vectors=vectors, packages=("make", "arduino"))
    header = (tmp_path / "c" / "svc.h").read_text()
    assert "model_t" not in header and "state" not in header and plan.state_bytes == 0
    assert "above 0 it is class True, else False" in header
    tables = (tmp_path / "c" / "svc_tables.c").read_text()
    assert f"KC_TABLE int16_t svc_table_alpha[{plan.sizes['N']}]" in tables
    assert f"svc_table_centers[{plan.sizes['N'] * 5}]" in tables
    done = subprocess.run(["make", "check", "CFLAGS=-std=c99 -O1 -Wall -Wextra -Wconversion -Werror"],
                          cwd=tmp_path / "c", capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "24 words, 0 mismatches" in done.stdout, done.stdout + done.stderr


def test_a_label_can_end_no_comment_of_the_c(tmp_path):
    fitted = SVC().fit(X, np.where(np.median(Y) < Y, "*/ int x; /*", "a\\b"))
    generate(kerncast.plan(fitted, X), tmp_path / "c")
    header = (tmp_path / "c" / "predictor.h").read_text()
    assert "int x;" not in header and "a_b" in header


def test_a_null_pointer_is_refused(case):
    backend = open_backend(case("svc").plan, "host")
    library, ffi = backend.library, backend.ffi
    raw = case("svc").plan.signals["x_raw"].format.c_type
    assert library.svc_model_predict(ffi.NULL, ffi.new("int16_t *")) == BAD_ARGUMENT
    assert library.svc_model_predict(ffi.new(f"{raw}[5]"), ffi.NULL) == BAD_ARGUMENT
    backend.close()


def test_an_avr_fetches_the_vectors_from_flash(case, tmp_path):
    source = tmp_path / "c"
    generate(case("svc").plan, source)
    text = (source / "svc_model.c").read_text()
    flags = ["-std=gnu99", "-D__AVR__", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-O1", "-c"]
    done = subprocess.run(["gcc", *flags, "-o", str(tmp_path / "model.o"), str(source / "svc_model.c")],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "fetch(i, row)" in text, done.stderr


