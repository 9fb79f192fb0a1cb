"""Run the blocks of a page as its reader would: commands, Python, and what they are said to print."""

import contextlib
import io
import re
import runpy
import shlex
import sys
from pathlib import Path

from typer.testing import CliRunner

from kerncast.cli.main import app

_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(page: Path) -> list[tuple[str, str]]:
    """Language and text of each fenced block, in order."""
    return _BLOCK.findall(page.read_text(encoding="utf-8"))


def said(line: str) -> str:
    """What a command prints; it is to end well."""
    program, *words = shlex.split(line)
    if program == "python":
        with contextlib.redirect_stdout(io.StringIO()) as out:
            runpy.run_path(words[0], run_name="__main__")
        return out.getvalue()
    assert program == "kerncast", line
    result = CliRunner().invoke(app, words, prog_name="kerncast")
    assert result.exit_code == 0, f"{line}\n{result.output}"
    return result.stdout


def agrees(told: str, printed: str) -> bool:
    """Whether a page tells what was printed; ``...`` stands for anything, blanks for any blanks."""
    parts = [r"\s+".join(map(re.escape, part.split())) for part in told.split("...")]
    return bool(re.fullmatch(r"\s*" + r"[\s\S]*".join(rf"\s*{part}\s*" for part in parts), printed.strip()))


def run_page(page: Path) -> int:
    """Run all blocks in this folder; how many were run. sh and python are run, text is compared."""
    printed, count, names = "", 0, {"__name__": "page"}
    for language, text in blocks(page):
        if language == "sh":
            printed = "".join(said(line) for line in text.replace("\\\n", " ").splitlines())
        elif language == "python":
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile(text, str(page), "exec"), names)
            printed = out.getvalue()
        elif language == "text":
            assert agrees(text, printed), f"{page.name} says\n{text}\nand this was printed\n{printed}"
        count += language in ("sh", "python")
    sys.stdout.flush()
    return count
