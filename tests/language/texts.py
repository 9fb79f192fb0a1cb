"""Find every text that a reader meets: pages, docstrings, messages, and comments of what is generated."""

import ast
import io
import re
import subprocess
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
PYTHON = ("sim", "codegen", "hw", "lab", "cli", "benchmarks", "__init__.py", "__main__.py")
COMMENTED = {".j2", ".c", ".h", ".S", ".ld", ".sv", ".hpp", ".cpp", ".toml", ".js"}
SHIPPED = ("templates", "firmware", "hw", "examples", "tests/golden", "sim", "lab")

_FENCE = re.compile(r"^[ \t]*```.*?^[ \t]*```[ \t]*$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"``[^`]+``|`[^`\n]+(?:\n[^`\n]+)?`|\]\([^)\n]*\)|<[^>\n]+>|\{[%#].*?[%#]\}", re.DOTALL)
_BLOCK_COMMENT = re.compile(r"/\*.*?\*/|\{#.*?#\}|//[^\n]*(?:\n[ \t]*//[^\n]*)*|(?:^|\n)[ \t]*#(?!\w)[^\n]*",
                            re.DOTALL)
_TWO_WORDS = re.compile(r"[a-z]+,? [a-z]+")
_LEADER = re.compile(r"^[ \t]*(?:/\*\*?<?|\*/|\*|///?<?|#+|>|-(?= )|\{#-?)[ \t]?", re.MULTILINE)


class Text(NamedTuple):
    """One text: its kind (page, docstring, message or comment), where it begins, and its words."""

    kind: str
    path: str
    line: int
    words: str


def blank(match: re.Match[str]) -> str:
    """Code inside a text, as blanks: it is not English, but its lines still count."""
    return re.sub(r"\S", "\N{NO-BREAK SPACE}", match[0])


def of_page(path: str, page: str) -> Iterator[Text]:
    """Yield the paragraphs, list items and table rows of a Markdown page, without its code."""
    page = _FENCE.sub(blank, page)
    for block in re.finditer(r"(?:^[^\n]*[^\s\n][^\n]*\n?)+", page, re.MULTILINE):
        first = page.count("\n", 0, block.start()) + 1
        rows = block[0].splitlines()
        starts = [i for i, row in enumerate(rows) if not i or re.match(r"\s*(?:[-*|#]|\d+\. )", row)]
        for begin, end in zip(starts, [*starts[1:], len(rows)], strict=True):
            words = "\n".join(rows[begin:end])
            if re.search(r"[A-Za-z]{2}", words):
                yield Text("page", path, first + begin, words)


def of_python(path: str, source: str) -> Iterator[Text]:
    """Yield the docstrings of a module, its other texts of several words, and its comments."""
    skip: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[0] if node.body else None
            if isinstance(body, ast.Expr) and isinstance(body.value, ast.Constant) \
                    and isinstance(body.value.value, str):
                skip.add(id(body.value))
                yield Text("docstring", path, body.value.lineno, body.value.value)
            continue
        if isinstance(node, ast.JoinedStr):
            skip |= {id(part) for part in node.values}
            words = "".join(str(part.value) if isinstance(part, ast.Constant)
                            else f"{{{ast.unparse(part.value)}}}" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skip:
            words = node.value
        else:
            continue
        if _TWO_WORDS.search(words):
            yield Text("message", path, node.lineno, words)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and _TWO_WORDS.search(token.string):
            yield Text("comment", path, token.start[0], token.string)


def of_comments(path: str, source: str) -> Iterator[Text]:
    """Yield the comments of C, C++, SystemVerilog, TOML or a template of them."""
    for comment in _BLOCK_COMMENT.finditer(source):
        begin = comment.start() + (comment[0].startswith("\n"))
        words = _LEADER.sub("", comment[0].lstrip("\n"))
        if _TWO_WORDS.search(words):
            yield Text("comment", path, source.count("\n", 0, begin) + 1, words)


def texts() -> Iterator[Text]:
    """Yield every text of the repository that git tracks, in order of path and line."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True,
                            capture_output=True, text=True).stdout.splitlines()
    for name in sorted(listed):
        path = ROOT / name
        if not path.is_file():
            continue
        top = name.split("/")[0]
        if path.suffix == ".md" or name.endswith((".md.j2", ".md.in")):
            reader = of_page
        elif path.suffix == ".py" and top in PYTHON:
            reader = of_python
        elif path.suffix in COMMENTED and name.startswith(SHIPPED):
            reader = of_comments
        else:
            continue
        yield from reader(name, path.read_text(encoding="utf-8"))


def prose(text: Text) -> str:
    """Return the words of a text with code blanked."""
    return _CODE.sub(blank, text.words)
