"""Assemble the documentation site from the pages of docs/ and from the package.

mkdocs calls :func:`on_config` and :func:`on_files` (mkdocs.yml, hooks).  A page may contain lines
``<!-- include: PATH -->``: the site shows that part in place of the line, and links to the part lead there.
Long tables of measured parts are folded.  The index is the README; the reference comes from docstrings, from
``--help``, from the tables that read a spec and from the error catalogue.  Nothing is written to docs/.
"""

from __future__ import annotations

import inspect
import os
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import griffe
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent
#: Files outside docs/ and the pages of the site that show them.
SHOWN = {"README.md": "docs/index.md", "ARCHITECTURE.md": "docs/architecture.md",
         "CONTRIBUTING.md": "docs/contributing.md"}
#: Tables with more rows are folded in the parts of these folders.
FOLDED, MOST_ROWS = ("docs/measured/", "docs/papers/"), 12
_ROLE = re.compile(r":\w+:`[~.]?([^`]+)`")
_INCLUDE = re.compile(r"^<!-- include: (\S+) -->$", re.MULTILINE)
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Add pages that the navigation does not name to its last section."""
    assert config.nav is not None
    named = str(config.nav)
    ((_, last),) = config.nav[-1].items()
    last += [page for page in sorted(written()) if not page.startswith("papers/")
             and not re.search(rf"[ '\"]{re.escape(page)}['\"]", named)]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Replace the pages of docs/ by the assembled ones, and add generated ones."""
    for file in [file for file in files if file.src_uri.endswith(".md")]:
        files.remove(file)
    for name, text in (written() | made()).items():
        files.append(File.generated(config, name, content=text))
    return files


# ---- pages from files ----
def sources() -> list[Path]:
    """Every file that is a page of the site or a part of one."""
    return [*(ROOT / name for name in SHOWN), *sorted((ROOT / "docs").rglob("*.md"))]


def parts() -> dict[str, str]:
    """For each part, the page that includes it; both are paths from the root."""
    found = {}
    for path in sources():
        at = path.relative_to(ROOT).as_posix()
        for part in _INCLUDE.findall(path.read_text(encoding="utf-8")):
            found[_normal(at, part)] = SHOWN.get(at, at)
    return found


def written() -> dict[str, str]:
    """Every page that comes from a file, assembled, by its name in the site."""
    included = parts()
    texts = {}
    for path in sources():
        at = path.relative_to(ROOT).as_posix()
        if at not in included:
            shown = SHOWN.get(at, at)
            texts[shown.removeprefix("docs/")] = _assembled(at, shown, included)
    return texts


def _assembled(at: str, shown: str, included: dict[str, str]) -> str:
    """The text of a file with its parts, its links as they are on the page `shown`."""
    text = (ROOT / at).read_text(encoding="utf-8")
    if at == "NOTICE":
        return f"# Notice\n\n```text\n{text}```\n"
    if at.startswith(FOLDED):
        text = _folded(text)
    text = _outside_code(text, lambda prose: _LINK.sub(
        lambda link: f"]({_led(link[1], at, shown, included)})", prose))
    return _INCLUDE.sub(lambda line: _demoted(
        _assembled(_normal(at, line[1]), shown, included), _anchor(_normal(at, line[1]))), text)


def _led(link: str, at: str, shown: str, included: dict[str, str]) -> str:
    """Where a link of the file `at` leads on the page `shown`."""
    path, _, anchor = link.partition("#")
    if not path or re.match(r"[a-z]+:", link):
        return link
    target = _normal(at, path)
    if target.startswith("examples/"):
        target, anchor = "docs/reference/spec.md", "examples"
    elif target in included:
        target, anchor = included[target], anchor or _anchor(target)
    target = posixpath.relpath(SHOWN.get(target, target), posixpath.dirname(shown))
    return f"{target}#{anchor}" if anchor else target


def _normal(at: str, path: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(at), path))


def _anchor(part: str) -> str:
    return "part-" + re.sub(r"\W+", "-", part.removeprefix("docs/").removesuffix(".md")).lower()


def _demoted(text: str, anchor: str) -> str:
    """Return a part as a section: headings a level lower, an anchor on the first."""
    text = _outside_code(text, lambda prose: re.sub(r"^(#+ )", r"#\1", prose, flags=re.MULTILINE))
    return re.sub(r"^(## .*)$", rf"\1 {{ #{anchor} }}", text, count=1, flags=re.MULTILINE)


def _outside_code(text: str, change: Any) -> str:
    """Change the text between fenced blocks of code."""
    blocks, ends = _CODE.findall(text), _CODE.split(text)
    return "".join(change(end) + block for end, block in zip(ends, [*blocks, ""], strict=True))


def _folded(text: str) -> str:
    """Fold tables of many rows."""
    def fold(match: re.Match[str]) -> str:
        rows = match[0].count("\n") - 2
        if rows <= MOST_ROWS:
            return match[0]
        return (f'<details markdown="1"><summary>Table of {rows} rows</summary>\n\n{match[0]}\n'
                "</details>\n")
    return re.sub(r"(?:^\|.*\n)+", fold, text, flags=re.MULTILINE)


# ---- pages from the package ----
def made() -> dict[str, str]:
    """Every page that is made from the package, by its name in the site."""
    return {"reference/commands.md": commands(), "reference/python.md": python(),
            "reference/spec.md": spec() + examples(), "reference/c.md": c_interface(),
            "reference/errors.md": errors()}


def examples() -> str:
    """Every spec and script of examples/."""
    found = sorted(path for path in (ROOT / "examples").iterdir() if path.suffix in (".toml", ".py"))
    parts = (f"### {path.name}\n\n```{path.suffix[1:].replace('py', 'python')}\n"
             f"{path.read_text(encoding='utf-8')}```\n" for path in found)
    return "\n".join(["\n## Examples\n", "These specs and scripts are in `kerncast/examples`.\n", *parts])


def c_interface() -> str:
    """The generated headers of two examples: a trainer and an online learner."""
    import kerncast
    from kerncast.codegen.generate import render_c

    parts = ["# C interface\n", "These are the public headers that `kerncast gen` writes for two of the "
             "[examples](spec.md#examples): a batch trainer and an online learner.\n"]
    for name in ("ecg", "drift"):
        spec = kerncast.Spec.load(ROOT / "examples" / f"{name}.toml")
        header = render_c(kerncast.plan(spec))[f"{name}.h"]
        parts.append(f"## {name}.h\n\n```c\n{header}```\n")
    return "\n".join(parts)


def commands() -> str:
    """The help of every command."""
    from typer.testing import CliRunner

    from kerncast.cli.hil import ACTIONS
    from kerncast.cli.main import COMMANDS, app

    os.environ["COLUMNS"] = "100"
    runner = CliRunner()
    parts = []
    for name in ("", *COMMANDS, *(f"hil {action}" for action in ACTIONS)):
        said = runner.invoke(app, [*name.split(), "--help"], prog_name="kerncast").stdout
        parts.append(f"## kerncast {name}".rstrip() + f"\n\n```text\n{said.strip()}\n```\n")
    return "\n".join(["# Commands\n", "This is the output of `--help` for each command.\n", *parts])


def spec() -> str:
    """Every table and key of a spec."""
    from kerncast.sim.spec.keys import TABLES, keys

    parts = ["# Spec\n",
             "A spec is a TOML file. This page lists every table and key; `kerncast schema` prints the "
             "same as JSON Schema.\n"]
    for name, table in TABLES.items():
        parts += [f"## [{name}]\n", f"{_plain((table.__doc__ or '').strip())}\n",
                  "| key | default | meaning | allowed | remedy |", "|---|---|---|---|---|"]
        for key, field_name in keys(table).items():
            field = table.model_fields[field_name]
            extra = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
            default = "-" if field.is_required() else f"`{field.default!r}`"
            row = (f"`{key}`", default, field.description or "", extra.get("allowed", ""),
                   extra.get("remedy", ""))
            parts.append(f"| {' | '.join(_cell(str(cell)) for cell in row)} |")
        parts.append("")
    return "\n".join(parts)


def errors() -> str:
    """The catalogue of errors, and the statuses of a device."""
    from kerncast.sim.catalogue import CATALOGUE
    from kerncast.sim.statuses import MEANINGS

    parts = ["# Errors and statuses\n", "`kerncast explain CODE` prints the same.\n",
             "## Errors and warnings\n"]
    parts += [_entry(code, entry) for code, entry in sorted(CATALOGUE.items())]
    parts.append("## Statuses of a device\n")
    return "\n".join([*parts, *(_entry(name, entry) for name, entry in MEANINGS.items())])


def _entry(code: str, entry: Any) -> str:
    cause, remedy = _plain(entry.cause), _plain(entry.remedy)
    return f"### {code}: {_plain(entry.title)}\n\n{cause}\n\n**Do:** {remedy}\n"


# ---- Python ----
def python() -> str:
    """Every public name, from its docstring."""
    import kerncast

    parts = ["# Python\n", "This page documents every public name of `kerncast`, from its docstring.\n"]
    for name in sorted(kerncast.__all__, key=str.lower):
        if not name.startswith("__"):
            parts += _documented(f"kerncast.{name}", getattr(kerncast, name), 2)
    return "\n".join(parts)


def _documented(name: str, thing: Any, level: int) -> Iterator[str]:
    """Yield the signature and docstring of an object.

    Of a class, also those of the public methods that it defines itself.
    """
    yield f"{'#' * level} {name}\n"
    try:
        signature = re.sub(r"<[^>]*>", "...", str(inspect.signature(thing))).replace("'", "")
    except (TypeError, ValueError):
        signature = ""
    yield f"```text\n{name.rpartition('.')[2]}{signature}\n```\n"
    docstring = griffe.Docstring(inspect.getdoc(thing) or "", lineno=1)
    for section in griffe.parse(docstring, griffe.Parser.numpy, warnings=False):
        yield _section(section)
    if inspect.isclass(thing):
        for key, member in vars(thing).items():
            method = member.__func__ if isinstance(member, classmethod | staticmethod) else member
            if not key.startswith("_") and inspect.isfunction(method) and method.__doc__:
                yield from _documented(f"{name}.{key}", method, level + 1)


def _section(section: Any) -> str:
    """A section of a docstring in Markdown."""
    kind, value = section.kind.value, section.value
    if kind == "text":
        return f"{_text(value)}\n"
    if kind == "examples":
        return "\n".join(f"```pycon\n{text}\n```\n" if part.value == "examples" else f"{_text(text)}\n"
                         for part, text in value)
    if kind == "admonition":
        return f"**{section.title}**\n\n{_text(value.description)}\n"
    return "\n".join([f"**{kind.capitalize()}**\n", *map(_row, value), ""])


def _row(row: Any) -> str:
    """A parameter, or what comes back or is raised: name, type and meaning."""
    name, annotation = getattr(row, "name", "") or "", str(row.annotation or "")
    head = ", ".join(part for part in (f"**{_plain(name)}**" if name else "", _plain(annotation)) if part)
    return f"* {head}: {' '.join(_plain(row.description or '').split())}".rstrip(": ")


def _text(text: str) -> str:
    """Prose of a docstring; a table of reStructuredText stays as it is drawn."""
    if re.search(r"^=+ +=+", text, re.MULTILINE):
        return f"```text\n{text}\n```"
    return _plain(text)


def _plain(text: str) -> str:
    """Return a text without reStructuredText roles, and with markup escaped."""
    parts = re.split(r"(`+[^`]+`+)", _ROLE.sub(r"`\1`", text))
    return "".join(part if part.startswith("`") else part.replace("<", "&lt;").replace("*", "\\*")
                   for part in parts)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
