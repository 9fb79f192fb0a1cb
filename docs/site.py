"""What the documentation site adds to the pages of docs/: none of it is written to disk but into the site.

mkdocs calls :func:`on_config`, :func:`on_files` and :func:`on_page_markdown` (mkdocs.yml, hooks). The index
is the README; the reference comes from docstrings, from ``--help``, from the tables that read a spec and from
the error catalogue.
"""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import griffe
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parent.parent
#: Files outside docs/ that pages link to, and the pages of the site that show them.
SHOWN = {"README.md": "index.md", "ARCHITECTURE.md": "architecture.md", "NOTICE": "notice.md"}
_ROLE = re.compile(r":\w+:`[~.]?([^`]+)`")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put pages that the navigation does not name at the end of its last part, so that none is lost."""
    assert config.nav is not None
    named = str(config.nav)
    ((_, last),) = config.nav[-1].items()
    here = sorted(path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md"))
    last += [page for page in here if not re.search(rf"[ '\"]{re.escape(page)}['\"]", named)]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made here."""
    for name, text in pages().items():
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Turn links to files outside docs/ into links to the pages that show them."""
    up = "../" * page.file.src_uri.count("/")
    for name, shown in SHOWN.items():
        markdown = markdown.replace(f"]({up}../{name})", f"]({up}{shown})")
    return re.sub(rf"\]\({re.escape(up)}\.\./examples/[\w.]+\)", f"]({up}examples.md)", markdown)


def pages() -> dict[str, str]:
    """Every page that is made here, by its name in the site."""
    made = {shown: _moved((ROOT / name).read_text(encoding="utf-8")) for name, shown in SHOWN.items()}
    made["notice.md"] = f"# Notice\n\n```text\n{(ROOT / 'NOTICE').read_text(encoding='utf-8')}```\n"
    return made | {"examples.md": examples(), "reference/commands.md": commands(),
                   "reference/python.md": python(), "reference/spec.md": spec(),
                   "reference/errors.md": errors()}


def _moved(text: str) -> str:
    """A page of the root as it stands in docs/."""
    for name, shown in SHOWN.items():
        text = text.replace(f"]({name})", f"]({shown})")
    return re.sub(r"(\]\()docs/", r"\1", text)


def examples() -> str:
    """Every spec and script of examples/."""
    found = sorted(path for path in (ROOT / "examples").iterdir() if path.suffix in (".toml", ".py"))
    parts = (f"## {path.name}\n\n```{path.suffix[1:].replace('py', 'python')}\n"
             f"{path.read_text(encoding='utf-8')}```\n" for path in found)
    return "\n".join(["# Examples\n", "They come with the package, in `kerncast/examples`.\n", *parts])


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
    return "\n".join(["# Commands\n", "What `--help` says of each.\n", *parts])


def spec() -> str:
    """Every table and key of a spec."""
    from kerncast.sim.spec_tables import TABLES, keys

    parts = ["# The spec\n",
             "Every table and key of a TOML spec; `kerncast schema` prints the same as JSON Schema.\n"]
    for name, table in TABLES.items():
        parts += [f"## [{name}]\n", f"{_plain((table.__doc__ or '').strip())}\n",
                  "| key | default | what | allowed | what to do |", "|---|---|---|---|---|"]
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

    parts = ["# Errors and statuses\n", "`kerncast explain CODE` says the same.\n",
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

    parts = ["# Python\n", "Every public name of `kerncast`, from its docstring.\n"]
    for name in sorted(kerncast.__all__, key=str.lower):
        if not name.startswith("__"):
            parts += _documented(f"kerncast.{name}", getattr(kerncast, name), 2)
    return "\n".join(parts)


def _documented(name: str, thing: Any, level: int) -> Iterator[str]:
    """Signature and docstring, and those of the public methods that a class defines itself."""
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
    """Without the roles of reStructuredText, and with nothing that Markdown takes for markup."""
    parts = re.split(r"(`+[^`]+`+)", _ROLE.sub(r"`\1`", text))
    return "".join(part if part.startswith("`") else part.replace("<", "&lt;").replace("*", "\\*")
                   for part in parts)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
