"""What the tests of several commands share: running one, and a small spec with its generated folder."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from kerncast.cli.main import app

SMALL = """
[model]
name = "small"
algorithm = "toeplitz_rls"
[input]
word = "u8f0"
[output]
word = "s8f0"
[kernel]
sigma = 2.0
[toeplitz]
n = 12
lambda = 0.5
scheme = "uniform"
[data]
file = "small.csv"
"""


@pytest.fixture(scope="session")
def run() -> Callable[..., tuple[int, str, str]]:
    """``run(*arguments)``: a command in this process; its exit code, stdout and stderr."""

    def command(*arguments: str | Path) -> tuple[int, str, str]:
        result = CliRunner().invoke(app, [str(a) for a in arguments], prog_name="kerncast")
        assert "Traceback" not in result.stdout + result.stderr
        return result.exit_code, result.stdout, result.stderr

    return command


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    """The file of a spec that trains on twelve samples, its data beside it."""
    words = [str((7 * i * i) % 100 - 50) for i in range(12)]
    (tmp_path / "small.csv").write_text("\n".join(["y", *words, ""]))
    (tmp_path / "small.toml").write_text(SMALL)
    return tmp_path / "small.toml"


@pytest.fixture
def generated(run: Callable[..., tuple[int, str, str]], spec: Path) -> Path:
    """The folder generated from it."""
    out = spec.parent / "out"
    assert run("gen", spec, "-o", out)[0] == 0
    return out


@pytest.fixture(scope="session")
def chromium(require_tool: Callable[[str, str], str]) -> Iterator[Any]:
    """A browser without a window."""
    require_tool("python:playwright", "python -m pip install playwright")
    program = require_tool("chromium-headless-shell",
                           "apt-get install -y --no-install-recommends chromium-headless-shell")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()
