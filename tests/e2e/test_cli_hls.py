"""HLS C++ from the command line: asked for in the spec, generated, compared in C simulation."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def asked(spec: Path) -> Path:
    spec.write_text(f'{spec.read_text()}[hls]\ndialects = ["catapult", "vitis"]\n')
    return spec


def test_gen_then_test_on_hls_compares_every_value_and_names_a_mismatch(
        run: Run, asked: Path, require_tool: Callable[[str, str], str]) -> None:
    require_tool("python:hls4ml", "python -m pip install --no-deps hls4ml")
    require_tool("g++", "sudo apt-get install -y g++")
    out = asked.parent / "out"
    assert run("gen", asked, "-o", out)[0] == 0
    assert run("gen", asked, "-o", out, "--check")[0] == 0
    code, text, _ = run("test", out, "--on", "hls:catapult", "--on", "hls:vitis", "--json")
    found = json.loads(text)
    assert (code, found["mismatches"]) == (0, 0)
    assert found["words"] > 40
    header = out / "hls" / "catapult" / "small_plan.hpp"
    header.write_text(header.read_text().replace("const int f_shift = ", "const int f_shift = 1 + "))
    code, text, _ = run("test", out, "--on", "hls:catapult")
    assert (code, "predict" in text) == (1, True)


def test_gen_refuses_a_plan_without_a_core_at_its_line(run: Run, asked: Path) -> None:
    text = asked.read_text().partition("[data]")[0]
    asked.write_text(f"""{text.replace("n = 12", "n = 64")}solver = "banded"
candidates = [[3.0, 0.5]]
[hls]
""")
    code, _, err = run("gen", asked, "-o", asked.parent / "out")
    assert code == 2
    assert [text in err for text in ("E311", "one pair of sigma and lambda", "small.toml:16")] == [True] * 3


def test_missing_headers_end_with_exit_3_and_what_brings_them(
        run: Run, asked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = asked.parent / "out"
    assert run("gen", asked, "-o", out)[0] == 0
    monkeypatch.setenv("KERNCAST_AC_TYPES", str(out))
    code, _, err = run("test", out, "--on", "hls:catapult")
    assert (code, "E501" in err, "hls4ml" in err) == (3, True, True)


def test_hls_has_no_trace_hooks(run: Run, generated: Path) -> None:
    code, _, err = run("test", generated, "--on", "hls:vitis", "--bisect")
    assert (code, "E433" in err) == (2, True)


def test_doctor_knows_the_headers(run: Run) -> None:
    code, text, _ = run("doctor", "--group", "hls", "--json")
    assert (code, [tool["name"] for tool in json.loads(text)["tools"]]) == (0, ["hls4ml"])
