"""WebAssembly of the generated C answers the model's words, saves its bytes, traces its events."""

import tomllib
from pathlib import Path

import pytest

from kerncast.codegen.build import compilers
from kerncast.codegen.build.wasm import build_wasm
from kerncast.hw import wasm
from kerncast.hw.backends import open_backend
from kerncast.sim.errors import EXIT_TOOL_MISSING, KerncastError
from kerncast.sim.model import open_model
from kerncast.sim.replay.trace import NO_LIMIT
from kerncast.sim.replay.vectors import replay

ZIG, WASMTIME = "python -m pip install ziglang", "python -m pip install wasmtime"
#: A trainer with refinement, and a learner; a campaign runs them all, float32 among them.
QUICK = ("grid24_refine_bias", "lms32_ties_decay")
NAMES = [name if name in QUICK else pytest.param(name, marks=pytest.mark.campaign)
         for name in tomllib.loads((Path(__file__).parent / "cases.toml").read_text(encoding="utf-8"))]


@pytest.fixture
def tools(require_tool):
    require_tool("python:ziglang", ZIG)
    require_tool("python:wasmtime", WASMTIME)


@pytest.mark.parametrize("name", NAMES)
def test_webassembly_equals_the_model_and_saves_its_bytes(cases, tools, ledger, name):
    case = cases(name)
    backend, model = open_backend(case.plan, "wasm", source=case.folder), open_model(case.plan)
    assert backend.plan_hash == case.plan.hash
    found = replay(backend, case.vectors)
    assert found.first == ""
    ledger.record(backend=backend.name, words=found.words, mismatches=found.mismatches, case=name)
    replay(model, case.vectors)
    image = backend.save()
    assert image == model.save()
    backend.reset()
    backend.restore(image)
    assert all((backend.state()[key] == words).all() for key, words in model.state().items())
    with pytest.raises(KerncastError, match="E444"):
        backend.restore(image[:-1] + bytes([image[-1] ^ 1]))
    assert all((backend.state()[key] == words).all() for key, words in model.state().items())


def test_its_trace_is_that_of_this_machine_whose_trace_is_the_models(cases, tools, require_tool, ledger):
    require_tool("gcc", "sudo apt-get install -y gcc libc6-dev")
    case = cases("lms32_ties_decay")
    both = [open_backend(case.plan, name, source=case.folder, traced=True)
            for name in ("wasm:-O0", "host:gcc")]
    traces = []
    for call in case.vectors.calls[:4]:
        for limit in (0, 7, NO_LIMIT):
            traces.append([])
            for backend in both:
                call.run(backend)
                traces[-1].append(backend.trace(limit))
    assert all(one == other for one, other in traces)
    for backend in both:
        backend.close()
    ledger.record(backend="wasm:-O0", words=sum(one.count for one, _ in traces[2::3]), mismatches=0,
                  case="traced")


def test_a_module_imports_nothing_and_the_same_code_gives_the_same_bytes(cases, tools, tmp_path):
    import wasmtime

    case = cases("lms16_ties")
    first, again = (build_wasm(case.plan, source, build_dir=tmp_path) for source in (case.folder, None))
    assert first == again
    module = wasmtime.Module(wasmtime.Engine(), first)
    assert module.imports == []
    assert len(first) < 32_768


@pytest.mark.parametrize(("module", "code"), [("ziglang", "E511"), ("wasmtime", "E501")])
def test_a_tool_that_is_missing_is_named_with_its_command(cases, monkeypatch, module, code):
    for place in (compilers.importlib.util, wasm):
        found = place.find_spec
        monkeypatch.setattr(place, "find_spec", lambda name, found=found: None if name == module
                            else found(name))
    with pytest.raises(KerncastError) as caught:
        open_backend(cases("lms16_ties").plan, "wasm", source=cases("lms16_ties").folder)
    (problem,) = caught.value.problems
    assert (problem.code, problem.remedy) == (code, f"python -m pip install {module}")
    assert caught.value.exit_code == EXIT_TOOL_MISSING
