"""Every text of a page, whatever field it stands in, is escaped by the template engine."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kerncast.lab.explore import Session
from kerncast.lab.report import gather_page, render
from kerncast.sim.spec import Spec

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'><!--"
#: What chooses a branch of the template is not a text.
FIXED = ("kind", "live")
SPEC = """
model = {name = "small", algorithm = "toeplitz_rls"}
input = {word = "u8f0"}
output = {word = "s8f0"}
kernel = {sigma = 2.0}
toeplitz = {n = 12, lambda = 0.5, scheme = "uniform"}
data = {file = "small.csv"}
"""


def hostile(value: Any) -> Any:
    """Return a value with every text in it made hostile."""
    if isinstance(value, str):
        return HOSTILE
    if isinstance(value, dict):
        return {key: hostile(inner) for key, inner in value.items()}
    return [hostile(inner) for inner in value] if isinstance(value, (list, tuple)) else value


@pytest.fixture(params=["report", "explore"])
def page(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[dict[str, Any]]:
    """The page of a design, and that of a session."""
    words = [str((7 * i * i) % 100 - 50) for i in range(12)]
    (tmp_path / "small.csv").write_text("\n".join(["y", *words, ""]))
    (tmp_path / "small.toml").write_text(SPEC)
    if request.param == "report":
        yield gather_page(tmp_path / "small.toml", ())
    else:
        yield Session(Spec.load(tmp_path / "small.toml"), tmp_path, tmp_path / "work").page()


def test_no_field_of_a_page_becomes_markup(page: dict[str, Any]) -> None:
    clean = render.render_page(page)
    for name, value in page.items():
        if name in FIXED:
            continue
        text = render.render_page({**page, name: hostile(value)})
        assert HOSTILE not in text, name
        assert text.count("<script") == clean.count("<script"), name
        assert text.count("<img") == clean.count("<img"), name
