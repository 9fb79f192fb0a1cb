"""Compare learners and classifiers of several classes with other libraries.

``python -m kerncast.benchmarks.many_classes`` writes docs/measured/many-classes.md; arguments name the tasks
to measure again, such as ``activities``.  The other libraries are downloaded from PyPI into a temporary
folder; if the download fails, no page is written.
"""

from __future__ import annotations

import re
import sys
import tempfile
import warnings
from itertools import chain
from pathlib import Path

from kerncast.benchmarks.beside import fetched
from kerncast.benchmarks.many_classes.ours import our_rows
from kerncast.benchmarks.many_classes.page import HEAD, section, table
from kerncast.benchmarks.many_classes.tasks import TASKS, Task
from kerncast.benchmarks.many_classes.theirs import EMLEARN, M2CGEN, MICROMLGEN, their_rows
from kerncast.codegen.build.toolchains import choose_toolchain
from kerncast.codegen.firmware.targets import load_target

PAGE = Path(__file__).resolve().parents[2] / "docs" / "measured" / "many-classes.md"


def measured(task: Task, sources: Path, include: Path) -> str:
    """Measure every row of a task; print each, and return the section."""
    rows = []
    for row in chain(our_rows(task), their_rows(task, sources, include)):
        rows.append(row)
        print(task.name, table([row]).splitlines()[-1], file=sys.stderr, flush=True)
    return section(task, rows)


def main() -> int:
    """Measure and write the page."""
    warnings.simplefilter("ignore", DeprecationWarning)  # emlearn imports distutils
    again = sys.argv[1:] or [task.name for task in TASKS]
    held = dict(re.findall(r"^## (.*?)$\n(.*?)(?=^## |\Z)", PAGE.read_text(encoding="utf-8"), re.M | re.S)
                ) if PAGE.is_file() else {}
    text = HEAD.format(gcc=choose_toolchain("gcc", load_target("cortex-m4")).version)
    with tempfile.TemporaryDirectory() as place:
        sources, include = fetched(Path(place), (EMLEARN, M2CGEN, MICROMLGEN)), Path(place) / "emlearn"
        for task in TASKS:
            text += (measured(task, sources, include) if task.name in again
                     else f"\n## {task.title}\n{held[task.title].rstrip()}\n")
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
