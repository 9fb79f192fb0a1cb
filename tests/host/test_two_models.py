"""Two models in one image: both are linked, and each answers as if it were alone."""

from pathlib import Path

import cffi
import numpy as np
import pytest

from kerncast.codegen.build.compilers import host_compiler
from kerncast.codegen.build.host import HostBackend, declarations
from kerncast.codegen.c.trace_hooks import STORE_DECLARATIONS
from kerncast.codegen.generate import generate
from kerncast.sim.data import load_dataset
from kerncast.sim.model import open_model
from kerncast.sim.planner import make_plan
from kerncast.sim.replay.vectors import make_vectors, replay, usual_calls
from kerncast.sim.spec import Spec

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture(scope="module")
def models():
    """Plan and vectors of the two shipped examples."""
    found = {}
    for name in ("ecg", "digits"):
        spec = Spec.load(EXAMPLES / f"{name}.toml")
        data = load_dataset(spec, EXAMPLES)
        plan = make_plan(spec, data.x_raw, data.y_raw)
        x = None if name == "ecg" else data.x_raw
        test = data.x_raw[:64] if data.x_test_raw is None else data.x_test_raw[:64]
        found[name] = plan, make_vectors(open_model(plan), usual_calls(plan, x, data.y_raw, test))
    return found


def test_two_models_in_one_image_are_both_right(models, require_tool, ledger, tmp_path):
    require_tool("gcc", "sudo apt-get install -y gcc libc6-dev")
    folder = tmp_path / "image"
    sources = []
    for name, (plan, _) in models.items():
        manifest = generate(plan, tmp_path / name)
        for file in [f for f in manifest.files if f.endswith((".c", ".h"))]:
            text = (tmp_path / name / file).read_bytes()
            path = folder / file
            path.parent.mkdir(parents=True, exist_ok=True)
            assert not path.exists() or path.read_bytes() == text  # the runtime is shared
            path.write_bytes(text)
        sources += [folder / file for file in manifest.sources]
    library = tmp_path / "both.so"
    host_compiler("gcc").build_library(sources, ("-O2",), library, tmp_path)
    ffi = cffi.FFI()
    ffi.cdef(STORE_DECLARATIONS)
    for plan, _ in models.values():
        ffi.cdef(declarations(plan))
    both = ffi.dlopen(str(library))

    opened = {}
    for name, (plan, _) in models.items():
        backend = HostBackend(plan, tmp_path / name, compiler="gcc")
        backend.ffi, backend.library, backend.model = ffi, both, ffi.new(f"{name}_model_t *")
        if plan.trains:
            backend.trainer = ffi.new(f"{name}_trainer_t *")
        backend.reset()
        opened[name] = backend
    # Interleaved: train one, learn with the other, train the first again, predict with both.
    ecg, digits = opened["ecg"], opened["digits"]
    (_, ecg_vectors), (_, digits_vectors) = models["ecg"], models["digits"]
    ecg_vectors.calls[0].run(ecg)
    learnt = digits_vectors.calls[0].run(digits)
    again = replay(ecg, ecg_vectors)
    predicted = digits_vectors.calls[1].run(digits)
    assert again.first == ""
    words = again.words
    for call, answer in zip(digits_vectors.calls, (learnt, predicted), strict=True):
        for key, expected in call.expected.items():
            assert np.array_equal(answer[key], expected)
            words += expected.size
    for key, expected in digits_vectors.state.items():
        assert np.array_equal(digits.state()[key], expected)
        words += expected.size
    for backend in opened.values():
        backend.close()
    ledger.record(backend="host:gcc:two models", words=words, case="ecg and digits")


def test_zig_builds_the_same_values(models, require_tool, ledger, tmp_path):
    """One model only: the first build of a fresh cache takes zig a while."""
    require_tool("python:ziglang", "python -m pip install ziglang")
    plan, vectors = models["digits"]
    backend = HostBackend(plan, compiler="zig", flags=("-O2",), build_dir=tmp_path / "build")
    found = replay(backend, vectors)
    backend.close()
    assert found.first == ""
    ledger.record(backend="host:zig:-O2", words=found.words, mismatches=found.mismatches, case="digits")
