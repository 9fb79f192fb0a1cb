"""lab.report: write a page as a single HTML file without external resources."""

from __future__ import annotations

import base64
import hashlib
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ...codegen.resources import environment, read_text
from ...sim._optional import missing, package_file
from ...sim._output_files import write_whole
from .page import as_json

#: Scripts in the order of the page, and the style.
SCRIPTS = ("data", "theme", "figure", "preview", "problems", "front", "bits", "words", "curves", "points",
           "chosen", "csv", "machine", "program", "explore", "main")
_PLOTLY = ("plotly", "package_data/plotly.min.js")


def check_plotly() -> Path:
    """Return the path of plotly.js; raise E501 if the package plotly is not installed."""
    found = package_file(*_PLOTLY) if find_spec("plotly") is not None else None
    if found is None:
        raise missing("the charts of a report need", "plotly", "python -m pip install plotly", "report")
    return found


def render_page(page: dict[str, Any]) -> str:
    """Render the HTML of a page. The output is deterministic.

    A content security policy allows only scripts with known hashes, and no external resources.

    Parameters
    ----------
    page : dict
        Contents of the page; see :func:`.page.gather_page`.

    Raises
    ------
    KerncastError
        E501 if plotly is not installed.
    """
    page = {"live": False, "programs": {}, "samples": "", **page}
    plotly = check_plotly().read_text(encoding="utf-8").replace("\r\n", "\n")
    ours = "\n".join(["(() => {", '"use strict";', *(read_text(f"templates/report/{name}.js")
                                                     for name in SCRIPTS), "start();", "})();"])
    data = as_json({name: value for name, value in page.items() if name != "agreement"})
    values = {"page": page, "data": data, "script": ours, "plotly": plotly,
              "hashes": [script_hash(ours), script_hash(plotly)],
              "style": read_text("templates/report/style.css")}
    # Whatever comes from a spec, a file or a back end is escaped; the four texts above are not.
    return environment().overlay(autoescape=True).get_template("report/page.html.j2").render(values)


def script_hash(script: str) -> str:
    """Return the hash of a script in the form of a content security policy."""
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def write_report(page: dict[str, Any], out: Path) -> int:
    """Render a page and write it to a file atomically; return its size in bytes."""
    text = render_page(page)
    write_whole(out, text)
    return len(text.encode())
