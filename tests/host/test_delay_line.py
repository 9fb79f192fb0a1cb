"""The delay line: one sample per call gives the values of windows."""

from functools import cache

import numpy as np
import pytest

import kerncast
from kerncast.codegen.build.host import HostBackend
from kerncast.sim.data import load_dataset
from kerncast.sim.data.windows import latest_first
from kerncast.sim.model import open_model
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec
from kerncast.sim.statuses import DeviceStatus

GCC = "apt-get install gcc"
LEARNERS = {"fklms": {"max_deterioration": 0.5}, "nt": {"quantise": 0.8, "linear": "rls"}, "fklms_f32": {}}
SIGNAL = np.cumsum(np.random.default_rng(5).integers(-80, 80, 300, endpoint=True)).clip(-2048, 2047)
TARGETS = np.roll(SIGNAL, 2)


@cache
def learner(reduction, delay):
    spec = Spec(model={"name": "tapped", "algorithm": "kernel_lms"}, input={"word": "s12f0", "delay": delay},
                output={"word": "s12f0"}, kernel={"sigma": 200.0},
                online={"budget": 9, "eta": 0.3, "reduction": reduction, **LEARNERS[reduction]})
    return make_plan(spec)


def opened(plan, compiler="gcc"):
    return HostBackend(plan, compiler=compiler, flags=(
        "-O1", "-fsanitize=undefined", "-fsanitize-undefined-trap-on-error"))


@pytest.mark.covering
@pytest.mark.parametrize("reduction", sorted(LEARNERS))
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_samples_given_one_by_one_give_the_values_of_windows(reduction, compiler, require_tool):
    require_tool(compiler, GCC)
    plan = learner(reduction, 7)
    windows = latest_first(SIGNAL, 7)
    host, model = opened(plan, compiler), open_model(plan)
    for call in ("update", "predict"):
        arguments = (windows, TARGETS[6:]) if call == "update" else (windows,)
        found, expected = getattr(host, call)(*arguments), getattr(model, call)(*arguments)
        for name, values in expected.items():
            assert (found[name] == values).all()
    for name, values in model.state().items():
        assert (host.state()[name] == values).all()
    host.close()


def test_the_line_is_pending_until_full_and_has_the_latest_sample_first(require_tool):
    require_tool("gcc", GCC)
    host = opened(learner("nt", 3))
    lib, ffi, f = host.library, host.ffi, host.ffi.new("int16_t *", 77)
    line = ffi.new("tapped_delay_t *")  # all zero is empty
    for count, sample in enumerate((10, 20, 30, 40, 50, 60, 70), start=1):
        full = count >= 3
        assert lib.tapped_delay_push(line, sample) == (DeviceStatus.OK if full else DeviceStatus.PENDING)
        window = lib.tapped_delay_window(line)
        assert (window != ffi.NULL) == full
        if full:
            assert list(window[0:3]) == [sample, sample - 10, sample - 20]
        else:
            assert lib.tapped_delay_predict(host.model, line, f) == DeviceStatus.PENDING
            assert lib.tapped_delay_update(host.model, line, 5, f) == DeviceStatus.PENDING
            assert (f[0], host.model.count) == (77, 0)  # nothing was learnt, nothing was written
    lib.tapped_delay_init(line)
    assert lib.tapped_delay_push(line, 1) == DeviceStatus.PENDING
    host.close()


@pytest.mark.parametrize(("newest", "count"), [(3, 3), (65535, 3), (0, 4), (0, 65535)])
def test_a_damaged_line_and_null_pointers_are_refused(newest, count, require_tool):
    require_tool("gcc", GCC)
    host = opened(learner("nt", 3))
    lib, ffi, f = host.library, host.ffi, host.ffi.new("int16_t *")
    line = ffi.new("tapped_delay_t *", {"newest": newest, "count": count})
    for each in (line, ffi.NULL):
        assert lib.tapped_delay_push(each, 1) == DeviceStatus.BAD_ARGUMENT
        assert lib.tapped_delay_window(each) == ffi.NULL
        assert lib.tapped_delay_predict(host.model, each, f) == DeviceStatus.BAD_ARGUMENT
        assert lib.tapped_delay_update(host.model, each, 1, f) == DeviceStatus.BAD_ARGUMENT
    lib.tapped_delay_init(ffi.NULL)
    host.close()


def test_a_model_trained_elsewhere_predicts_from_the_line(require_tool, tmp_path):
    require_tool("gcc", GCC)
    svm = pytest.importorskip("sklearn.svm")
    windows = latest_first(SIGNAL, 4)
    trained = svm.SVR(gamma=1e-5, C=50.0).fit(windows, TARGETS[3:])
    kerncast.export(trained, windows, tmp_path / "line.toml", name="tapped",
                    input={"word": "s12f0", "delay": 4}, output={"word": "s12f0"})
    assert (load_dataset(Spec.load(tmp_path / "line.toml"), tmp_path).x_raw == windows).all()
    plan = make_plan(tmp_path / "line.toml")
    host = opened(plan)
    found, expected = host.predict(windows), open_model(plan).predict(windows)
    assert (found["f"] == expected["f"]).all() and (found["status"] == expected["status"]).all()
    host.close()
