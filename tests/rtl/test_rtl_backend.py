"""The RTL back end: predictions from a state trained elsewhere, and what it refuses."""

import os

import numpy as np
import pytest

from kerncast.hw.backends import open_backend
from kerncast.hw.rtl import simulators
from kerncast.hw.rtl.predictor_backend import RtlBackend
from kerncast.hw.rtl.simulators import find_simulator
from kerncast.sim.backend import Comparison
from kerncast.sim.errors import EXIT_TOOL_MISSING, KerncastError
from kerncast.sim.model import open_model

from .conftest import make, raw_inputs, trained


@pytest.mark.parametrize("case", ["gains16", "grid16", "bias16"])
def test_predictions_equal_the_model_in_a_folder_of_any_name(require_simulator, ledger, tmp_path, case):
    require_simulator("icarus")
    plan = make(case)
    (state, x), before = trained(plan, 9), dict(os.environ)
    build = tmp_path / "a-b c"
    backend = RtlBackend(plan, state, "icarus", build)
    model = open_model(plan)
    y = plan.signals["y_raw"].format
    words = np.random.default_rng(9).integers(y.lo, y.hi + 1, len(x))
    _ = model.train(None, words) if plan.uniform else model.update(x, words)
    compared = Comparison()
    inputs = np.concatenate([x, raw_inputs(plan, 5, 2)])
    compared.add(case, model.predict(inputs), backend.predict(inputs))
    backend.close()
    assert dict(os.environ) == before
    ledger.record(backend=backend.name, words=compared.words, mismatches=compared.mismatches,
                  case=f"{case} back end")


def test_an_untrained_model_answers_as_the_integer_model_does(require_simulator, tmp_path):
    require_simulator("icarus")
    plan = make("gains16")
    model, x = open_model(plan), raw_inputs(plan, 3, 1)
    backend = open_backend(plan, "rtl:icarus", build_dir=tmp_path)
    found, want = backend.predict(x), model.predict(x)
    backend.close()
    assert all((found[name] == want[name]).all() for name in want)


def test_a_saved_state_is_predicted_from(require_simulator, tmp_path):
    require_simulator("icarus")
    plan = make("gains16")
    model = open_model(plan)
    backend = RtlBackend(plan, model.state(), "icarus", tmp_path)
    backend.restore(model.save())
    assert all((backend._state[name] == words).all() for name, words in model.state().items())
    with pytest.raises(KerncastError, match="E444"):
        backend.restore(model.save()[:-1] + b"?")


@pytest.mark.parametrize("call", ["train", "update", "state", "save"])
def test_other_calls_are_refused(require_simulator, tmp_path, call):
    require_simulator("icarus")
    plan = make("gains16")
    backend = RtlBackend(plan, open_model(plan).state(), "icarus", tmp_path)
    x = raw_inputs(plan, 2, 1)
    with pytest.raises(KerncastError, match="E431"):
        getattr(backend, call)(*(() if call in ("state", "save") else (x, x[:, 0])))
    assert call not in backend.calls


def test_inputs_of_the_wrong_shape_are_refused(require_simulator, tmp_path):
    require_simulator("icarus")
    plan = make("gains16")
    backend = RtlBackend(plan, open_model(plan).state(), "icarus", tmp_path)
    with pytest.raises(KerncastError, match="E248"):
        backend.predict(raw_inputs(plan, 4, 1)[:, :2])


def test_a_core_that_does_not_build_is_reported_with_its_log(require_simulator, tmp_path):
    require_simulator("icarus")
    plan = make("gains16")
    source = tmp_path / "source"
    from kerncast.codegen.rtl import generate_rtl, unique_names

    generate_rtl(plan, source)
    name = unique_names()["kc_mac"]
    (source / "rtl" / f"{name}.sv").write_text(f"module {name}(; endmodule\n")
    with pytest.raises(KerncastError, match="E432") as caught:
        RtlBackend(plan, open_model(plan).state(), "icarus", tmp_path / "build", source)
    assert "syntax error" in str(caught.value)


def test_a_core_that_was_built_without_waveforms_writes_them_when_asked(require_simulator, tmp_path,
                                                                       monkeypatch):
    require_simulator("icarus")
    plan, waves = make("gains16"), tmp_path / "waves"
    state, x = open_model(plan).state(), raw_inputs(plan, 1, 1)
    RtlBackend(plan, state, "icarus", tmp_path)
    backend = RtlBackend(plan, state, "icarus", tmp_path, waves=waves)
    backend.predict(x)
    assert [path.name for path in waves.iterdir()] == ["gains_predictor1.fst"]
    monkeypatch.setattr(backend._simulation, "_waves_options", lambda file: {})
    with pytest.raises(KerncastError, match=r"(?s)E432.*did not write .*gains_predictor2\.fst"):
        backend.predict(x)


def test_a_core_that_hangs_is_reported(require_simulator, tmp_path):
    require_simulator("icarus")
    plan = make("gains16")
    backend = RtlBackend(plan, trained(plan, 1)[0], "icarus", tmp_path)
    with pytest.raises(KerncastError, match="E432") as caught:
        backend._simulation.run([("sample", [1, 2]), ("answers", 1)], 100)  # a sample that never ends
    assert "Timeout" in str(caught.value)


def test_an_unknown_simulator_is_refused():
    with pytest.raises(KerncastError, match="E420"):
        find_simulator("modelsim")


@pytest.mark.parametrize(("simulator", "programs"), [
    ("icarus", {"iverilog"}), ("verilator", {"perl", "make", "g++"})])
def test_missing_programs_are_named_with_the_commands_that_install_them(monkeypatch, simulator, programs):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(KerncastError) as caught:
        find_simulator(simulator)
    assert {problem.value for problem in caught.value.problems} == programs
    assert {problem.code for problem in caught.value.problems} == {"E513"}
    assert all("install" in problem.remedy for problem in caught.value.problems)
    assert caught.value.exit_code == EXIT_TOOL_MISSING


def test_a_header_that_waveforms_need_is_named_before_a_build(require_simulator, monkeypatch, tmp_path):
    require_simulator("verilator")
    monkeypatch.setattr(simulators, "header_file", lambda name: "" if name == "lz4.h" else f"/usr/{name}")
    find_simulator("verilator")
    find_simulator("icarus", waves=True)
    plan = make("gains16")
    with pytest.raises(KerncastError, match="E513") as caught:
        open_backend(plan, "rtl:verilator:learner", build_dir=tmp_path / "build",
                     waves=tmp_path / "waves").update(raw_inputs(plan, 1, 1), np.zeros(1, dtype=np.int64))
    problem, = caught.value.problems
    assert (problem.where, problem.value) == ("--waves", "lz4.h")
    assert problem.remedy.endswith("liblz4-dev")
    assert caught.value.exit_code == EXIT_TOOL_MISSING


def test_headers_are_found_where_the_compiler_finds_them(require_simulator, monkeypatch, tmp_path):
    require_simulator("verilator")
    (tmp_path / "here.h").touch()
    assert simulators.header_file("here.h") == ""
    monkeypatch.setenv("CPATH", str(tmp_path))
    assert simulators.header_file("here.h") == str(tmp_path / "here.h")


def test_a_missing_package_is_named_with_the_command_that_brings_it(monkeypatch):
    real = find_simulator.__globals__["importlib"].util.find_spec
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "cocotbext" else real(name))
    with pytest.raises(KerncastError, match="pip install cocotb cocotbext-axi") as caught:
        find_simulator("verilator")
    assert [problem.value for problem in caught.value.problems] == ["cocotbext-axi"]
    assert caught.value.exit_code == EXIT_TOOL_MISSING
