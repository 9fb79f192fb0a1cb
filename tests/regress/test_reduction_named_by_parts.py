"""``check`` and ``plan`` named a reduction whose projection and metric others had replaced."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from kerncast.cli.main import app

TEXT = """
[model]
name = "learner"
algorithm = "kernel_lms"
[input]
word = "u8f0"
[output]
word = "s8f0"
[kernel]
sigma = 10.0
[online]
budget = 8
eta = 0.5
"""


@pytest.mark.parametrize(("lines", "title"), [
    ('projection = "none"\nmetric = "fast_klms"', "projection none with metric fast_klms"),
    ('metric = "fmklms"', "projection fklms with metric fmklms"),
    ('reduction = "nt"\nprojection = "fklms"', "projection fklms with metric magnitude"),
    ('reduction = "nt"\nprojection = "none"\nmetric = "magnitude"', "nt"),
    ('reduction = "mklms_f32"', "mklms_f32"),
    ("", "fklms")])
def test_check_and_plan_name_the_parts_that_others_replaced(tmp_path: Path, lines: str, title: str) -> None:
    path = tmp_path / "s.toml"
    path.write_text(TEXT + lines + "\n")
    checked, planned = (CliRunner().invoke(app, [name, str(path)]).stdout for name in ("check", "plan"))
    assert f"budget = 8, reduction = {title}, eta = 0.5" in checked
    head = planned.split("\n\n")[0].splitlines()
    assert head[1:] == ([f"reduction by {title}"] if "projection" in title else [])
