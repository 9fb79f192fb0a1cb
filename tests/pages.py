"""Run the blocks of a page as a reader would, and compare their output with the page."""

import contextlib
import io
import re
import runpy
import shlex
import sys
from pathlib import Path
from unittest.mock import patch

from typer.testing import CliRunner

from kerncast.cli.main import app

_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(page: Path) -> list[tuple[str, str]]:
    """Return language and text of each fenced block, in order."""
    return _BLOCK.findall(page.read_text(encoding="utf-8"))


def output(line: str) -> str:
    """Return the output of a command, which must succeed."""
    program, *words = shlex.split(line, comments=True)
    if program == "python":
        with contextlib.redirect_stdout(io.StringIO()) as out, patch.object(sys, "argv", words):
            runpy.run_path(words[0], run_name="__main__")
        return out.getvalue()
    assert program == "kerncast", line
    result = CliRunner().invoke(app, words, prog_name="kerncast")
    assert result.exit_code == 0, f"{line}\n{result.output}"
    return result.stdout


def agrees(shown: str, printed: str) -> bool:
    """Compare the output on a page with the printed one; ``...`` matches anything, blanks any blanks."""
    parts = [r"\s+".join(map(re.escape, part.split())) for part in shown.split("...")]
    return bool(re.fullmatch(r"\s*" + r"[\s\S]*".join(rf"\s*{part}\s*" for part in parts), printed.strip()))


def run_page(page: Path) -> int:
    """Run the sh and python blocks in this folder, compare the text blocks, and return how many ran."""
    printed, count, names = "", 0, {"__name__": "page"}
    for language, text in blocks(page):
        if language == "sh":
            printed = "".join(output(line) for line in text.replace("\\\n", " ").splitlines())
        elif language == "python":
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile(text, str(page), "exec"), names)
            printed = out.getvalue()
        elif language == "text":
            assert agrees(text, printed), f"{page.name} shows\n{text}\nbut the output is\n{printed}"
        count += language in ("sh", "python")
    sys.stdout.flush()
    return count
