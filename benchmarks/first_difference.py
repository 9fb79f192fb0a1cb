"""Draw the output of ``kerncast test --bisect`` as docs/figures/bisect.svg.

``python -m kerncast.benchmarks.first_difference`` generates the ECG example, changes one rounding in its C,
and shows the output of two commands that locate this change.
"""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

from kerncast.benchmarks.figures import ROOT

PICTURE = ROOT / "docs" / "figures" / "bisect.svg"
#: The file and the fault: rounding to nearest becomes rounding toward minus infinity.
FILE, LINE, BEFORE, AFTER = "ecg_levinson.c", "kc_word_round(xi, t->a_exp, {})", "ECG_ROUNDING", "KC_FLOOR"
COLUMNS = 92
_FACE = re.compile(r"@font-face\s*\{.*?\}\s*", re.DOTALL)


def run(folder: Path, *arguments: str) -> str:
    """Run a kerncast command, and return its standard output."""
    environment = {**os.environ, "COLUMNS": str(COLUMNS), "NO_COLOR": "1"}
    made = subprocess.run([sys.executable, "-m", "kerncast", *arguments], cwd=folder, env=environment,
                          capture_output=True, text=True, check=False)
    return made.stdout


def picture(shown: list[tuple[str, str]]) -> str:
    """Return commands and their output as SVG that uses only installed fonts."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO())
    for command, output in shown:
        console.print(Text("$ ", "bold green").append(command, "bold default"))
        for line in output.rstrip().splitlines():
            wrong = line.startswith(("model ", "back end ", "hook ")) and "values" not in line
            console.print(Text(line, "bold yellow" if wrong else ""), soft_wrap=True)
        console.print()
    return _FACE.sub("", console.export_svg(title="one rounding changed by hand", unique_id="bisect"))


def measured() -> str:
    """Run the commands, and return their output as SVG."""
    with tempfile.TemporaryDirectory() as folder:
        where = Path(folder)
        run(where, "gen", str(ROOT / "examples" / "ecg.toml"), "-o", "ecg")
        source = where / "ecg" / FILE
        text = source.read_text(encoding="utf-8")
        assert text.count(LINE.format(BEFORE)) == 1, f"{FILE} has no line to change"
        source.write_text(text.replace(LINE.format(BEFORE), LINE.format(AFTER)), encoding="utf-8")
        commands = ("kerncast test ecg --on host", "kerncast test ecg --on host --bisect")
        shown = [(command, run(where, *command.split()[1:])) for command in commands]
    return picture(shown)


if __name__ == "__main__":
    PICTURE.write_text(measured(), encoding="utf-8")
