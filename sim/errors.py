"""sim: the error type of kerncast, and the parts of an error message.

Every problem that a user can cause has a code from :mod:`.catalogue`, a place, the value found, the allowed
values and a remedy. One exception can contain several problems, so that all mistakes in a spec are reported
at once.
"""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

EXIT_OK = 0
EXIT_DIFFERENT = 1
EXIT_BAD_INPUT = 2
EXIT_TOOL_MISSING = 3
_PIP = "python -m pip"
_MOST_SHOWN = 2000
#: The longest place and value that a message quotes; a compiler's log is a value.
_MAX_PLACE, _MAX_VALUE = 500, 8000
#: Characters that would steer a terminal, or hide text: C0 and C1 controls but tab and newline, DEL, and the
#: marks of Unicode that change the direction of text.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str, limit: int) -> str:
    """Escape control characters, and shorten the text to `limit` characters."""
    shown = text if len(text) <= limit else f"{text[:limit]}... ({len(text):,} characters)"
    return _UNPRINTABLE.sub(lambda found: f"\\x{ord(found[0]):02x}" if ord(found[0]) < 256
                            else f"\\u{ord(found[0]):04x}", shown)


def for_this_python(command: str) -> str:
    """Adapt a ``python -m pip`` command to the interpreter that is running."""
    if _PIP not in command or not sys.executable or shutil.which("python") == sys.executable:
        return command
    return command.replace(_PIP, f"{shlex.quote(sys.executable)} -m pip")


@dataclass(frozen=True)
class Problem:
    """Problem in the user's input.

    Parameters
    ----------
    code : str
        ``E``, or ``W`` for a warning, followed by three digits; :mod:`.catalogue` lists the codes. E5xx means
        that a tool is missing.
    message : str
        The problem, in one sentence.
    where : str
        ``file:line key`` or the name of an argument; empty if there is no place.
    value : str
        The value found, as the user wrote it.
    allowed : str
        The accepted values.
    remedy : str
        How to correct the input.
    """

    code: str
    message: str
    where: str = ""
    value: str = ""
    allowed: str = ""
    remedy: str = ""

    def __post_init__(self) -> None:
        """Make all texts printable, because names and values can be from untrusted files."""
        for name, limit in (("message", _MAX_VALUE), ("where", _MAX_PLACE), ("value", _MAX_VALUE),
                            ("allowed", _MAX_VALUE), ("remedy", _MAX_VALUE)):
            object.__setattr__(self, name, printable(getattr(self, name), limit))

    def __str__(self) -> str:
        head = f"{self.code}: {printable(self.message, _MOST_SHOWN)}"
        lines = [f"{printable(self.where, _MOST_SHOWN)}: {head}" if self.where else head]
        lines += [f"    {label}: {text}" for label, text in
                  (("found", printable(self.value, _MOST_SHOWN)), ("allowed", self.allowed),
                   ("do", for_this_python(self.remedy))) if text]
        return "\n".join(lines)

    def as_dict(self) -> dict[str, str]:
        """Return the problem as a dictionary for ``--json``."""
        return {"code": self.code, "message": self.message, "where": self.where,
                "value": self.value, "allowed": self.allowed, "remedy": self.remedy}


class Entry(NamedTuple):
    """Entry of :mod:`.catalogue`: the title, the usual cause and the usual remedy."""

    title: str
    cause: str
    remedy: str


class KerncastError(ValueError):
    """One or more problems that the user can correct; `problems` lists them in order."""

    def __init__(self, problems: Iterable[Problem] | Problem) -> None:
        self.problems = (problems,) if isinstance(problems, Problem) else tuple(problems)
        super().__init__("\n".join(str(p) for p in self.problems))

    @property
    def exit_code(self) -> int:
        """Return 3 if every problem is a missing tool (E5xx), otherwise 2."""
        missing = all(p.code.startswith("E5") for p in self.problems)
        return EXIT_TOOL_MISSING if missing else EXIT_BAD_INPUT


def fail(code: str, message: str, *, where: str = "", value: object = "", allowed: str = "",
         remedy: str = "") -> KerncastError:
    """Create a :class:`KerncastError` with one problem; the caller raises it."""
    return KerncastError(Problem(code, message, where, str(value), allowed, remedy))
