"""Collect published figures in docs/figures.json, and compare pages with it.

``python -m kerncast.benchmarks.figures`` reads all pages, writes the data file, and updates the marked
figures in pages that are written by hand. With ``--check``, it only prints differences (exit code 1). With
``--measure [PAGE ...]``, it first runs the commands of all pages, or of the given ones; ``make figures`` does
this, and takes hours.

Some pages are written by a command. For these, the data file contains the tables and a hash of the text.
Other pages are prose, in which each measured figure is enclosed in marks, ``<!--=NAME-->256<!--=-->``. NAME
is a key of `NAMED` below.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "docs" / "figures.json"
COMMAND = "python -m kerncast.benchmarks.figures"

_MEASURED = {  # pages of docs/measured, by the script that writes each
    **{name: name.replace("-", "_") for name in (
        "accuracy", "banded", "costs", "estimates", "extras", "filters", "gaps", "instructions", "intrinsics",
        "classes", "irregular", "misra", "simulation-speed", "slices", "solver-widths", "sweep",
        "toeplitz-speed", "tuning")}, "peers": "beside"}
_PAPERS = {"toeplitz-rls": "toeplitz_rls", "multiresolution-ls-svm": "multiresolution",
           "domain-decomposition": "domain_decomposition",
           "regularized-least-squares": "regularized_least_squares", "kernel-lms-reduction": "kernel_lms"}
#: Each page that a command writes. If the command ends in >, the page is what it prints.
PAGES: dict[str, str] = {
    "docs/measured/primitives.md": "python -m kerncast.benchmarks.proofs",
    "docs/measured/exp2.md": "python -m kerncast.benchmarks.exp2",
    "docs/measured/formal.md": "python -m kerncast.benchmarks.formal",
    "docs/measured/online-cost.md": "python -m kerncast.benchmarks.online_cost",
    "docs/measured/bounded-update.md": "python -m kerncast.benchmarks.bounded_update",
    "docs/measured/streams.md": "python -m kerncast.benchmarks.streams",
    "docs/measured/many-classes.md": "python -m kerncast.benchmarks.many_classes",
    "docs/measured/novelty.md": "python -m kerncast.benchmarks.novelty",
    "docs/measured/on-chip.md": "python -m kerncast.benchmarks.on_chip",
    **{f"docs/papers/{page}.md": f"python -m kerncast.benchmarks.papers.{name}"
       for page, name in _PAPERS.items()},
    **{f"docs/measured/{page}.md": f"python -m kerncast.benchmarks.{name}"
       for page, name in _MEASURED.items()},
    **{f"docs/measured/{page}.md": f"python -m kerncast.benchmarks.{page} >"
       for page in ("cg", "explore", "report", "solvers")},
    "docs/rtl.md": "python -m kerncast.benchmarks.rtl",
    "docs/boards.md": "python -m kerncast.codegen.firmware.boards >",
    "docs/hil-protocol.md": "python -m kerncast.codegen.firmware.hil_table >",
    "docs/saved-state.md": "python -m kerncast.codegen.c.saved_state >",
}
#: The page with a measured part among its prose, and the command that writes that part.
DEMO_PAGE, DEMO = "docs/benchmarks.md", "python -m kerncast.benchmarks.demo"
#: Clock of the Cortex-M4 whose times the README states, such as an STM32F405.
MHZ = 168


class Key(NamedTuple):
    """Figure that is the value of a key in the spec of an example."""

    spec: str
    table: str
    key: str


class Code(NamedTuple):
    """Figure that is a constant of a Python module."""

    module: str
    name: str


class Cell(NamedTuple):
    """Figure in a table: the cell in `column` of the first row that begins with `row`."""

    page: str
    row: str
    column: str


class Duration(NamedTuple):
    """Figure that converts instructions to microseconds at :data:`MHZ`, rounded up.

    It is a lower bound, because an instruction takes at least one clock cycle.
    """

    of: Match


class Match(NamedTuple):
    """Figure that is the group of the first match of a pattern in a page."""

    page: str
    pattern: str


def _example(name: str, file: str = "") -> dict[str, Match | Duration]:
    """Return where docs/measured/costs.md states the costs of an example.

    The costs are those on a Cortex-M4 at -O2. `file` is the name of the spec, if it is not that of the model.
    """
    page, row = "docs/measured/costs.md", rf"## `examples/{file or name}\.toml`.*?^\| `cortex-m4` \| -O2 \|"
    columns = {"flash": 2, "stack": 5, "train": 7, "update": 8, "predict": 9}
    learns = columns["train" if name == "ecg_fir" else "update"]
    us = Duration(Match(page, rf"{row}(?:[^|]*\|){{{learns}}} ([\d,]+)"))
    return {f"{name}.us": us, f"{name}.ram": Match(page, rf"^`{name}: .*?needs? ([\d,]+) bytes of RAM"),
            **{f"{name}.{what}": Match(page, rf"{row}(?:[^|]*\|){{{at}}} ([\d,]+)")
               for what, at in columns.items()}}


#: Every figure in prose, by the name of its mark.
NAMED: dict[str, Key | Code | Cell | Match | Duration] = {
    **{f"filters.{name}": Match("docs/measured/filters.md", rf"^\| {row}[^|]* \| ([\d.]+) \|")
       for name, row in (("none", "no filter"), ("tuned", "Savitzky-Golay, tuned"),
                         ("kerncast", r"kerncast, \d+-bit"))},
    "cores.mhz": Code("kerncast.benchmarks.figures", "MHZ"),
    "ecg_fir.samples": Key("examples/ecg_stream_fir.toml", "toeplitz", "n"),
    "digits.vectors": Key("examples/digits.toml", "online", "budget"),
    "cores.words": Code("kerncast.codegen.rtl.common", "MOST_WORDS"),
    "cores.samples": Code("kerncast.codegen.rtl.solver", "MOST_SAMPLES"),
    "packages.bytes": Code("kerncast.codegen.c.vectors_c", "MOST_BYTES"),
    **{f"peers.{name}": Cell("docs/measured/peers.md", row, "instructions, mean") for name, row in (
        ("kerncast", "kerncast, DSP | 16 bits | -O2"), ("m2cgen", "m2cgen==0.10.0 | double | -O2"),
        ("cmsis", "`arm_svm_rbf_predict_f32`, cmsisdsp==1.10.3 | float32 | -O2"))},
    "sweep.toeplitz": Cell("docs/measured/sweep.md", "Toeplitz, n = 128", "points/s"),
    "drift.samples": Match("docs/tutorials/own-data.md", r"^(\d+) predictions of the generated C"),
    "drift.error": Match("docs/tutorials/own-data.md", r"^3000-4000 +([\d.]+) ppm"),
    "drift.once": Match("docs/tutorials/own-data.md", r"^3000-4000 +[\d.]+ ppm +([\d.]+) ppm"),
    "streams.linear": Match("docs/measured/streams.md", r"^\| padasip RLS \| [^|]* \| ([\d.]+) \|"),
    "streams.kernel": Match("docs/measured/streams.md", r"^\| QKLMS, 16 bits \| [^|]* \| ([\d.]+) \|"),
    "streams.ecg_linear": Match("docs/measured/streams.md",
                                r"^\| padasip RLS \| [^|]* \|[^|]*\| ([\d.]+) \|$"),
    "streams.ecg_kernel": Match("docs/measured/streams.md",
                                r"of differences, 16 bits \| [^|]* \|[^|]*\| ([\d.]+) \|"),
    **{name: match for example, file in (("digits", ""), ("drift", ""), ("ecg_fir", "ecg_stream_fir"),
                                          ("ecg_stream", ""), ("equaliser", ""))
       for name, match in _example(example, file).items() if name not in (
           "ecg_fir.update",
           *(f"{other}.train" for other in ("digits", "drift", "ecg_stream", "equaliser")))},
}

_MARK = re.compile(r"<!--=([\w.-]+)-->(.*?)<!--=-->", re.DOTALL)
_MADE = re.compile(r"<!-- measured: .*?<!-- end of measured -->", re.DOTALL)
_CODE = re.compile(r"^ *```.*?^ *```|^(?: {4,}|\t).*?$|`[^`]*`|\]\([^)]*\)", re.DOTALL | re.MULTILINE)
#: Units of measured figures; bits, columns and similar units describe a design, not a result.
_UNITS = (r"instructions|cycles|clocks|packets|bytes|kB|MB|words|samples(?:/s)?|points(?:/s)?|vectors|"
          r"[kM]Hz|ns|µs|ms|s|seconds|minutes|%|LUTs?|flip-flops|times|lsb")
MEASURED = re.compile(rf"(?<![\w.^])(\d[\d,.]*(?:e[+-]?\d+)?)\s*(?:{_UNITS})(?!\w)")


def prose() -> list[Path]:
    """List the pages that are not written by a command."""
    pages = [ROOT / "README.md", ROOT / "ARCHITECTURE.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [page for page in pages if page.relative_to(ROOT).as_posix() not in PAGES]


# ---- reading pages ----
def tables(text: str) -> list[dict[str, Any]]:
    """Return all tables of a page: column titles and rows."""
    found: list[dict[str, Any]] = []
    under, inside = "", False
    for line in re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE).splitlines():
        if line.startswith("#"):
            under = line.lstrip("# ")
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] if line.startswith("|") else []
        if cells and not inside:
            found.append({"under": under, "rows": []})
        if cells and not all(re.fullmatch(r":?-+:?", cell) for cell in cells):
            found[-1]["rows"].append(cells)
        inside = bool(cells)
    return found


def value(name: str) -> dict[str, str]:
    """Return a named figure; raise SystemExit if its source does not contain it."""
    source = NAMED[name]
    if isinstance(source, Key):
        spec = tomllib.loads((ROOT / source.spec).read_text(encoding="utf-8"))
        return {"value": f"{spec[source.table][source.key]:,}",
                "of": f"{source.spec} [{source.table}] {source.key}"}
    if isinstance(source, Code):
        return {"value": f"{getattr(import_module(source.module), source.name):,}",
                "of": f"{source.name} of {source.module}"}
    if isinstance(source, Duration):
        count = _match((ROOT / source.of.page).read_text(encoding="utf-8"), source.of)
        if count is None:
            raise SystemExit(f"{name}: {source.of.page} does not state {source.of.pattern}")
        return {"value": f"{-(-int(count.replace(',', '')) // MHZ):,}",
                "of": f"{', '.join(source.of)}, at {MHZ} MHz"}
    text = (ROOT / source.page).read_text(encoding="utf-8")
    found = _cell(text, source) if isinstance(source, Cell) else _match(text, source)
    if found is None:
        raise SystemExit(f"{name}: {source.page} does not state {source[1:]}")
    return {"value": found, "of": ", ".join(source)}


def _cell(text: str, source: Cell) -> str | None:
    for table in tables(text):
        head, *rows = table["rows"]
        begins = source.row.split(" | ")
        for row in rows:
            if row[:len(begins)] == begins and source.column in head:
                return str(row[head.index(source.column)])
    return None


def _match(text: str, source: Match) -> str | None:
    found = re.search(source.pattern, text, re.MULTILINE | re.DOTALL)
    return found.group(1) if found else None


def collected() -> dict[str, Any]:
    """Return the content of the data file for the current pages."""
    pages: dict[str, Any] = {}
    for page, command in PAGES.items():
        if (ROOT / page).is_file():
            text = (ROOT / page).read_text(encoding="utf-8")
            pages[page] = {"command": command.removesuffix(" >"),
                           "sha256": hashlib.sha256(text.encode()).hexdigest(), "tables": tables(text)}
    demo = _MADE.search((ROOT / DEMO_PAGE).read_text(encoding="utf-8"))
    assert demo, f"{DEMO_PAGE} has no measured part"
    pages[DEMO_PAGE] = {"command": DEMO, "sha256": hashlib.sha256(demo.group().encode()).hexdigest(),
                        "tables": tables(demo.group())}
    return {"figures": {name: value(name) for name in sorted(NAMED)}, "pages": dict(sorted(pages.items()))}


# ---- prose ----
def marks(text: str) -> Iterator[tuple[str, str]]:
    """Yield the name and the figure of each mark in a page."""
    return ((match.group(1), match.group(2)) for match in _MARK.finditer(text))


def without_marks(text: str) -> str:
    """Remove code, links, generated text and marked figures from a page."""
    return _MARK.sub("", _CODE.sub("", _MADE.sub("", text)))


def unmarked(text: str) -> list[str]:
    """List the measured figures in a page that have no mark."""
    return [match.group() for match in MEASURED.finditer(without_marks(text))]


def set_marks(text: str, figures: dict[str, dict[str, str]]) -> str:
    """Update the marked figures in a page from the data file."""
    return _MARK.sub(lambda mark: f"<!--={mark[1]}-->{figures[mark[1]]['value']}<!--=-->", text)


# ---- the data file ----
def dumped(data: Any, depth: int = 0) -> str:
    """Serialise JSON with one line per table row."""
    pad = "\n" + " " * (depth + 1)
    if isinstance(data, dict) and data:
        inside = f",{pad}".join(f"{json.dumps(key)}: {dumped(item, depth + 1)}" for key, item in data.items())
        return f"{{{pad}{inside}{pad[:-1]}}}"
    if isinstance(data, list) and any(isinstance(item, dict | list) for item in data):
        inside = f",{pad}".join(dumped(item, depth + 1) for item in data)
        return f"[{pad}{inside}{pad[:-1]}]"
    return json.dumps(data, ensure_ascii=False)


def disagreements() -> list[str]:
    """List the differences between prose, measured pages and data file."""
    held, found = json.loads(DATA.read_text(encoding="utf-8")), collected()
    wrong = [f"{page}: not what docs/figures.json holds; {COMMAND}, after a run of "
             f"{found['pages'].get(page, held['pages'].get(page))['command']}"
             for page in sorted({*held["pages"], *found["pages"]})
             if held["pages"].get(page) != found["pages"].get(page)]
    wrong += [f"{name}: docs/figures.json has {held['figures'].get(name)}, its source {figure}"
              for name, figure in found["figures"].items() if held["figures"].get(name) != figure]
    for page in prose():
        text, where = page.read_text(encoding="utf-8"), page.relative_to(ROOT).as_posix()
        wrong += [f"{where}: {name} is {held['figures'].get(name, {}).get('value')}, the page states {figure}"
                  for name, figure in marks(text) if held["figures"].get(name, {}).get("value") != figure]
        wrong += [f"{where}: the figure '{figure}' has no mark" for figure in unmarked(text)]
    return wrong


def run(page: str, command: str) -> None:
    """Run a command that writes its page; raise SystemExit if it fails."""
    words = command.removesuffix(" >").split()
    done = subprocess.run([sys.executable, *words[1:]], cwd=ROOT, check=False, text=True,
                          stdout=subprocess.PIPE, env={**os.environ, "OMP_NUM_THREADS": "1"})
    if done.returncode:
        raise SystemExit(f"{command} failed; {page} was not changed\n{done.stdout}")
    if command.endswith(">"):
        (ROOT / page).write_text(done.stdout, encoding="utf-8")


def main() -> int:
    """Update the data file and the pages; with ``--check`` only print differences."""
    arguments = sys.argv[1:]
    if arguments == ["--check"]:
        wrong = disagreements()
        print("\n".join(wrong) or "prose, pages and docs/figures.json agree")
        return int(bool(wrong))
    if arguments[:1] == ["--measure"]:
        every = {DEMO_PAGE: DEMO} | PAGES
        unknown = set(arguments[1:]) - set(every)
        if unknown:
            raise SystemExit(f"no command writes {', '.join(sorted(unknown))}; "
                             f"choose from {', '.join(every)}")
        for page in arguments[1:] or every:
            print(f"{page}: {every[page]}", flush=True)
            run(page, every[page])
    data = collected()
    for page in prose():
        text = page.read_text(encoding="utf-8")
        if (new := set_marks(text, data["figures"])) != text:
            page.write_text(new, encoding="utf-8")
    DATA.write_text(dumped(data) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
