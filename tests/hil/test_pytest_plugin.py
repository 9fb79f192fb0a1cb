"""The pytest plugin, run for real: vectors and fixtures on back ends, JUnit, workers, what it refuses."""

import ast
import json
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from typer.testing import CliRunner

import kerncast.hw.hil.flash
import kerncast.lab.pytest_plugin.bench
import kerncast.lab.pytest_plugin.vectors
from kerncast.cli.main import app
from kerncast.codegen.generate import generate
from kerncast.sim.model import open_model
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.replay.vectors import make_vectors
from kerncast.sim.spec import Spec

if TYPE_CHECKING:
    from conftest import HostAgent, SerialBoard

pytest_plugins = ["pytester"]

ROOT = Path(kerncast.__file__).resolve().parent
#: All that a run in this process might load: it is forgotten afterwards, and numpy cannot be loaded twice.
LOADED = [getattr(kerncast, name) for name in kerncast.__all__]
EMULATED = "emu:mps2-an386:unicorn"
TESTS = """
import pytest
pytestmark = pytest.mark.kerncast(folder="out")

def test_words(kerncast_replay):
    assert kerncast_replay().mismatches == 0

@pytest.mark.kerncast_requires("update")
def test_learns(kerncast_backend, kerncast_plan):
    assert kerncast_backend.state()["count"][0] == 0
    assert set(kerncast_backend.update([[3]], [5])) == {"status", "f"}

@pytest.mark.kerncast_requires("trace")
def test_traces(kerncast_backend):
    assert kerncast_backend.name == "model", "no other has trace hooks here"
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Plan, Path]:
    """A plan and its generated folder, in a folder of the name that pytest leaves out."""
    plan = make_plan(Spec(model={"name": "t", "algorithm": "kernel_lms"}, numbers={"word": 16},
                          input={"word": "s8f0"}, output={"word": "s8f0"}, kernel={"sigma": 40.0},
                          online={"budget": 4, "eta": 0.3}))
    x = np.array([[3], [50], [-9], [3]])
    out = tmp_path_factory.mktemp("made") / "build"
    generate(plan, out, vectors=make_vectors(open_model(plan),
                                             [("update", x, x[:, 0]), ("predict", x, None)]))
    return plan, out


@pytest.fixture
def run(pytester: pytest.Pytester, made: tuple[Plan, Path], monkeypatch: pytest.MonkeyPatch,
        ) -> Callable[..., pytest.RunResult]:
    """``run(*arguments)``: pytest with the plugin, beside ``test_it.py`` and a generated ``out``."""
    monkeypatch.setenv("KERNCAST_REQUIRE_TOOLS", "0")
    for name in ("CI", "BUILD_NUMBER"):   # pytest prints each message twice where one of them is set
        monkeypatch.delenv(name, raising=False)
    (pytester.path / "out").symlink_to(made[1])
    pytester.makepyfile(test_it=TESTS)

    def pytest_run(*arguments: str, inside: bool = True) -> pytest.RunResult:
        start = pytester.runpytest_inprocess if inside else pytester.runpytest_subprocess
        return start("-p", "kerncast.lab.pytest_plugin", "-p", "no:cacheprovider", *arguments)

    return pytest_run


Run = Callable[..., pytest.RunResult]


def table(result: pytest.RunResult) -> dict[str, list[str]]:
    """Rows of the closing table by back end."""
    rows = [line.split() for line in result.outlines]
    return {row[0]: row[1:] for row in rows if len(row) in (3, 5) and row[-1].isdigit()}


def test_every_back_end_replays_vectors_and_reports_them_to_junit(
        run: Run, pytester: pytest.Pytester, made: tuple[Plan, Path],
        require_tool: Callable[[str, str], str]) -> None:
    require_tool("python:unicorn", "python -m pip install unicorn")
    result = run("out", "test_it.py", "--kerncast-on", "host:gcc", "--kerncast-on", EMULATED, "-rs",
                 "--junitxml=junit.xml", "--strict-markers")
    result.assert_outcomes(passed=6, skipped=2)
    result.stdout.fnmatch_lines(["*host:gcc has no call trace*"])
    rows = table(result)
    assert rows["host:gcc:-O2"] == rows[EMULATED] and rows[EMULATED][:2] == ["2", "1"]
    words = int(rows[EMULATED][2]) // 2
    assert rows["all"] == [str(4 * words), "0"] and words > 10
    cases = {(case.get("classname"), case.get("name")):
             {p.get("name"): p.get("value") for p in case.iter("property")}
             for case in ET.parse(pytester.path / "junit.xml").iter("testcase")}
    found = cases["out.vectors.json", f"replay[{EMULATED}]"]
    assert (found["kerncast_words"], found["kerncast_mismatches"]) == (str(words), "0")
    assert (found["kerncast_plan"], found["kerncast_target"]) == (made[0].hash, EMULATED)
    assert int(found["kerncast_instructions_update"]) > 0 and int(found["kerncast_flash"]) > 0
    assert cases["test_it", f"test_words[{EMULATED}]"]["kerncast_instructions_update"] == \
        found["kerncast_instructions_update"], "a back end that stayed open counts each replay by itself"


def test_two_workers_find_the_same_values_in_one_table(run: Run) -> None:
    result = run("out", "test_it.py", "--kerncast-on", "host:gcc:-O0", "--kerncast-on", "host:gcc", "-n", "2",
                 inside=False)
    result.assert_outcomes(passed=6, skipped=2)
    rows = table(result)
    assert rows["host:gcc:-O0"] == rows["host:gcc:-O2"] and rows["host:gcc:-O0"][0] == "2"


def test_images_are_built_and_boards_started_once_for_tests_in_a_row(
        run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = []
    real = kerncast.lab.pytest_plugin.bench.open_backend
    monkeypatch.setattr(kerncast.lab.pytest_plugin.bench, "open_backend", lambda plan, name, **options: (
        opened.append(name), real(plan, name, **options))[1])
    result = run("out", "test_it.py", "--kerncast-on", "model", "--kerncast-on", "host")
    result.assert_outcomes(passed=7, skipped=1)
    assert sorted(opened) == ["host", "model"]


def test_a_mismatch_fails_the_test_and_is_named(run: Run, pytester: pytest.Pytester) -> None:
    copy = pytester.path / "other"
    copy.mkdir()
    for path in (pytester.path / "out").iterdir():
        (copy / path.name).symlink_to(path.resolve())
    vectors = json.loads((copy / "vectors.json").read_text())
    vectors["calls"][1]["expected"]["f"][2] += 1
    (copy / "vectors.json").unlink()
    (copy / "vectors.json").write_text(json.dumps(vectors))
    result = run("other", "--kerncast-on", "model")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["*model: 1 mismatches in * values of t: call 1 predict f[[]2[]]: *, expected *"])
    assert table(result)["model"][3] == "1"


@pytest.mark.parametrize(("arguments", "said"), [
    (["--kerncast-on", "hots"], "E420"), (["--kerncast-on", "host:tcc"], "E420"),
    (["--kerncast-on", "rtl:modelsim"], "E420"), (["--kerncast-on", "host:gcc:-O9"], "E325"),
    (["--kerncast-on", "emu:mps2-an387"], "E322"), (["--kerncast-on", "emu:microbit:renode"], "E417"),
    (["--kerncast-on", "board:microbit"], "E421"),
    (["--kerncast-on", "board:nucelo", "--kerncast-port", "/dev/ttyACM0"], "E322"),
    (["--kerncast-on", "board:microbit", "--kerncast-port", "hifive1=/dev/ttyACM0"], "E421")])
def test_a_back_end_that_cannot_be_is_refused_before_anything_is_collected(
        run: Run, arguments: list[str], said: str) -> None:
    result = run("test_it.py", *arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert said in result.stderr.str() and "allowed: " in result.stderr.str()


def test_a_board_is_not_shared_among_workers(run: Run) -> None:
    result = run("out", "--kerncast-on", "board:/dev/there-is-none", "-n", "2")
    assert result.ret == pytest.ExitCode.USAGE_ERROR and "--dist loadgroup" in result.stderr.str()


def test_a_missing_tool_skips_the_test_with_the_remedy(
        run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    result = run("out", "--kerncast-on", "emu:mps2-an386:qemu", "-rs")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["*missing tool: emu:mps2-an386:qemu; to install it: *install*"])


def test_a_missing_tool_fails_the_test_if_tools_are_required(
        run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.setenv("KERNCAST_REQUIRE_TOOLS", "1")
    result = run("out", "--kerncast-on", "emu:mps2-an386:qemu")
    result.assert_outcomes(failed=1)
    assert "    do: " not in result.stdout.str(), "it is told once"


def test_a_test_with_no_or_a_wrong_folder_gets_a_remedy(
        run: Run, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_it="""
        import pytest
        def test_none(kerncast_backend): pass
        @pytest.mark.kerncast(folder="outt")
        def test_wrong(kerncast_backend): pass
        @pytest.mark.kerncast(spec="ecg.tmol")
        def test_no_spec(kerncast_backend): pass
        """)
    result = run("test_it.py", "--kerncast-on", "model")
    result.assert_outcomes(errors=3)
    result.stdout.fnmatch_lines(["*@pytest.mark.kerncast(folder=*", "*outt: E305*", "*ecg.tmol: E*"])
    assert result.stdout.str().count("allowed: a folder made by kerncast gen") == 2, "once for each test"


def test_a_requirement_that_no_back_end_knows_fails_instead_of_skipping(
        run: Run, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_it="""
        import pytest
        @pytest.mark.kerncast(folder="out")
        @pytest.mark.kerncast_requires("predict", "nonsense")
        def test_it(kerncast_backend): pass
        """)
    result = run("test_it.py", "--kerncast-on", "model")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*found: nonsense", "*allowed: predict, *"])


def test_without_a_named_back_end_no_folder_is_collected(run: Run) -> None:
    assert run("out").ret == pytest.ExitCode.NO_TESTS_COLLECTED
    result = run("--kerncast-on", "model", "--ignore=out", "--ignore=test_it.py")
    result.stdout.fnmatch_lines(["kerncast: no test, and no generated folder with vectors",
                                 "*do: kerncast gen *"])


def test_without_a_named_back_end_a_test_is_skipped_with_the_remedy(run: Run) -> None:
    result = run("test_it.py", "-rs")
    result.assert_outcomes(skipped=3)
    result.stdout.fnmatch_lines(["*pytest --kerncast-on host*"])


def test_a_real_board_is_opened_at_its_port(
        run: Run, made: tuple[Plan, Path], traced_agent: Callable[[Plan, Path], "HostAgent"],
        serial_board: Callable[["HostAgent"], "SerialBoard"]) -> None:
    board = serial_board(traced_agent(*made))
    result = run("out", "test_it.py", "--kerncast-on", "board:microbit",
                 "--kerncast-port", f"microbit={board.port}")
    board.unplug()
    result.assert_outcomes(passed=3, skipped=1)
    assert table(result)[f"board:microbit@{board.port}"][0] == "2"


def test_the_page_on_testing_runs_as_it_stands(
        run: Run, pytester: pytest.Pytester, require_tool: Callable[[str, str], str]) -> None:
    """Its commands, in their order, and the tests it shows; those for a real board need one."""
    require_tool("python:unicorn", "python -m pip install unicorn")
    page = (ROOT / "docs" / "hil-testing.md").read_text(encoding="utf-8")
    (pytester.path / "examples").symlink_to(ROOT / "examples")
    (pytester.path / "test_board.py").write_text(page.partition("```python\n")[2].partition("```")[0])
    commands = [line.split() for line in page.splitlines()
                if line.startswith(("    kerncast ", "    pytest "))]
    assert len(commands) >= 6
    for program, *arguments in commands:
        if program == "pytest":
            result = run(*arguments)
            assert result.ret == 0 and table(result)["all"][1] == "0"
        else:
            done = CliRunner().invoke(app, arguments, prog_name="kerncast")
            assert done.exit_code == 0, done.output
    assert (pytester.path / "hil.xml").is_file()


def test_no_assertion_that_numba_compiles_is_rewritten_by_pytest() -> None:
    """An installed plugin has pytest rewrite the assertions of its whole package; numba knows plain ones."""
    wrong = []
    for path in (ROOT / "sim").rglob("*.py"):
        module = ast.parse(path.read_text(encoding="utf-8"))
        compiled = [node for node in ast.walk(module) if isinstance(node, ast.FunctionDef)
                    and any("jit" in ast.unparse(decorator) for decorator in node.decorator_list)]
        asserting = any(isinstance(node, ast.Assert) for function in compiled for node in ast.walk(function))
        if asserting and "PYTEST_DONT_REWRITE" not in (ast.get_docstring(module) or ""):
            wrong.append(path.name)
    assert not wrong


def test_the_plugin_costs_others_next_to_nothing() -> None:
    code = ("import sys, pytest; before = set(sys.modules); import kerncast.lab.pytest_plugin;"
            "print(*sorted(name for name in set(sys.modules) - before if not name.startswith('kerncast')))")
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.split() == []
