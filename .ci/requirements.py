"""Print what pip must install for some extras.

Usage: `python .ci/requirements.py demo test`. pyproject.toml stays the one place that lists requirements. pip
itself reads extras only while it builds a package, and a checkout that is linked into its environment is
never built.
"""

import re
import sys
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"


def requirements(extras: list[str]) -> list[str]:
    """Collect the base requirements and those of `extras`.

    Requirements of the form `kerncast[other]` name further extras, which are followed.
    """
    project = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]
    optional = project["optional-dependencies"]
    found: dict[str, None] = dict.fromkeys(project["dependencies"])
    waiting, seen = list(extras), set()
    while waiting:
        extra = waiting.pop(0)
        if extra in seen:
            continue
        seen.add(extra)
        if extra not in optional:
            sys.exit(f"pyproject.toml has no extra {extra!r}; it has: {', '.join(sorted(optional))}")
        for line in optional[extra]:
            own = re.fullmatch(rf"{project['name']}\[(.+)\]", line)
            if own:
                waiting += own.group(1).split(",")
            else:
                found[line] = None
    return list(found)


if __name__ == "__main__":
    print("\n".join(requirements(sys.argv[1:])))
