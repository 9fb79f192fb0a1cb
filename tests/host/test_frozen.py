"""kerncast freeze: a constant model has every value of the state; other states are refused."""

import ctypes
import subprocess

import numpy as np
import pytest

import kerncast
from kerncast.codegen.build.host import HostBackend
from kerncast.codegen.c.frozen import freeze, write_frozen
from kerncast.sim.backend import Backend
from kerncast.sim.errors import KerncastError
from kerncast.sim.model import open_model
from kerncast.sim.plan import C_BYTES
from kerncast.sim.replay.saved_state import encode, slot_bytes

from .test_one_program import C99, CXX17, GCC, plan_of

NAMES = ("grid16", "mean32_varied", "cg16", "lms16", "klms16_f32", "lms16_delay")
C99_LIBRARY = ("gcc", *C99[1:-2], "-I.", "-fPIC", "-shared", "-o", "frozen.so")


def trained(case) -> Backend:
    model = open_model(case.plan)
    for call in case.vectors.calls:
        if call.name != "predict":
            getattr(model, call.name)(call.x_raw, call.y_raw)
    return model


@pytest.mark.parametrize("name", NAMES)
def test_a_frozen_model_has_the_bytes_of_the_state(name, cases, require_tool, tmp_path):
    require_tool("gcc", GCC)
    case = cases(name)
    model, plan = trained(case), case.plan
    image = model.save()
    kerncast.generate(plan, tmp_path)
    write_frozen(freeze(plan, image), tmp_path)
    write_frozen(freeze(plan, image), tmp_path)  # its own files are written again
    sources = sorted(path.name for path in tmp_path.glob("*.c"))
    assert f"{name}_frozen.c" in sources
    subprocess.run([*C99_LIBRARY, *sources], cwd=tmp_path, check=True)
    subprocess.run([*CXX17, "-x", "c++", f"{name}_frozen.h"], cwd=tmp_path, check=True)
    library = ctypes.CDLL(str(tmp_path / "frozen.so"))
    frozen = bytes((ctypes.c_char * plan.state_bytes).in_dll(library, f"{name}_frozen"))
    assert frozen == image[48:-4]
    assert len(frozen) == sum(f.count * C_BYTES[f.ctype] for f in plan.memory)
    x = np.ascontiguousarray(case.vectors.calls[0].x_raw[:5]) if not plan.uniform else np.arange(5)[:, None]
    raw, f = x.astype(f"int{plan.signals['x_raw'].format.c_bits}"), np.zeros(1, dtype=f"int{plan.word}")
    expected = model.predict(x.astype(np.int64))
    for i, row in enumerate(raw):
        constant = ctypes.byref(ctypes.c_char.in_dll(library, f"{name}_frozen"))
        found = getattr(library, f"{name}_model_predict")(
            constant, row.ctypes.data_as(ctypes.c_void_p), f.ctypes.data_as(ctypes.c_void_p))
        assert (found, f[0]) == (expected["status"][i], expected["f"][i])


def codes(function, *arguments):
    with pytest.raises(KerncastError) as caught:
        function(*arguments)
    return [problem.code for problem in caught.value.problems]


def test_a_state_in_a_slot_is_that_of_its_image(cases):
    case = cases("lms16")
    image = trained(case).save()
    slot = image + b"\xff" * (slot_bytes(case.plan) - len(image))
    assert freeze(case.plan, slot) == freeze(case.plan, image)
    assert codes(freeze, case.plan, image + b"\x00") == ["E443"]


def test_a_state_that_no_model_would_restore_is_not_frozen(cases):
    plan, image = cases("lms16").plan, trained(cases("lms16")).save()
    assert codes(freeze, plan_of("lms16_ties"), image) == ["E442"]
    assert codes(freeze, plan, image[:-1]) == ["E443"]
    assert codes(freeze, plan, image[:60] + bytes([image[60] ^ 1]) + image[61:]) == ["E444"]
    assert codes(freeze, plan, b"") == ["E440"]
    state = open_model(plan).state()
    assert codes(freeze, plan, encode(plan, state | {"count": np.array([99])}, 1)) == ["E445"]


@pytest.mark.parametrize("name", ["grid16", "lms16"])
def test_an_untrained_state_is_not_frozen(name, cases):
    assert codes(freeze, cases(name).plan, open_model(cases(name).plan).save()) == ["E448"]


def test_freeze_overwrites_no_file_of_another_origin(cases, tmp_path):
    files = freeze(cases("lms16").plan, trained(cases("lms16")).save())
    (tmp_path / "lms16_frozen.h").write_text("mine")
    assert codes(write_frozen, files, tmp_path) == ["E192"]
    assert [path.name for path in tmp_path.iterdir()] == ["lms16_frozen.h"]
    assert codes(write_frozen, files, tmp_path / "none") == ["E191"]


def test_a_frozen_model_cannot_be_asked_to_learn(cases, require_tool, tmp_path):
    require_tool("gcc", GCC)
    case = cases("lms16")
    kerncast.generate(case.plan, tmp_path)
    write_frozen(freeze(case.plan, trained(case).save()), tmp_path)
    (tmp_path / "learn.c").write_text(
        '#include "lms16_frozen.h"\nint learn(const lms16_in_t *x, lms16_out_t *f);\n'
        "int learn(const lms16_in_t *x, lms16_out_t *f)\n{\n"
        "    return (int)lms16_lms_update(&lms16_frozen, x, 0, f);\n}\n")
    done = subprocess.run([*C99, "learn.c"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode != 0 and "const" in done.stderr


def test_the_command_freezes_a_state_of_a_folder(cases, run_command, tmp_path):
    case = cases("lms16")
    kerncast.generate(case.plan, tmp_path / "out")
    (tmp_path / "a.state").write_bytes(trained(case).save())
    done = run_command("freeze", tmp_path / "out", tmp_path / "a.state", "-o", tmp_path / "out")
    assert done.exit_code == 0 and "const lms16_model_t lms16_frozen" in done.output.replace("\n", " ")
    assert (tmp_path / "out" / "lms16_frozen.c").is_file()
    missing = run_command("freeze", tmp_path / "out", tmp_path / "none", "-o", tmp_path)
    assert missing.exit_code == 2 and "E440" in missing.output


def test_a_constant_model_has_nothing_to_freeze(tmp_path):
    svm = pytest.importorskip("sklearn.svm")
    x = np.arange(24.0).reshape(12, 2)
    kerncast.export(svm.SVR(gamma=0.1).fit(x, x[:, 0]), x, tmp_path / "svr.toml")
    assert codes(freeze, kerncast.plan(tmp_path / "svr.toml"), b"") == ["E448"]


@pytest.fixture
def run_command():
    from typer.testing import CliRunner

    from kerncast.cli.main import app

    return lambda *words: CliRunner().invoke(app, [str(word) for word in words])


def test_a_backend_that_compiles_the_folder_ignores_the_frozen_files(cases, require_tool, tmp_path):
    require_tool("gcc", GCC)
    case = cases("lms16")
    kerncast.generate(case.plan, tmp_path)
    write_frozen(freeze(case.plan, trained(case).save()), tmp_path)
    HostBackend(case.plan, tmp_path, compiler="gcc").close()
    kerncast.generate(case.plan, tmp_path)  # and gen leaves them alone
    assert (tmp_path / "lms16_frozen.c").is_file()
