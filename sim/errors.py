"""sim: the one error type of kerncast, and what an error must tell its reader.

Every problem that a user can cause carries a code from :mod:`.catalogue`, the place, the
value found, what is allowed and what to do.  Several problems travel in one exception, so
that a spec with five mistakes is reported once, not five times.
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
#: Control characters but tab and line end.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


#: The longest place and value that a message quotes; a compiler's log is a value.
_MAX_PLACE, _MAX_VALUE = 500, 8000
#: Characters that would steer a terminal, or hide text: C0 and C1 controls but tab and newline, DEL, and the
#: marks of Unicode that change the direction of text.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str, limit: int) -> str:
    """Escape the characters that a terminal would obey, and cut the text at `limit` characters."""
    shown = text if len(text) <= limit else f"{text[:limit - 3]}..."
    return _UNPRINTABLE.sub(lambda found: f"\\x{ord(found[0]):02x}" if ord(found[0]) < 256
                            else f"\\u{ord(found[0]):04x}", shown)


def for_this_python(command: str) -> str:
    """A command with ``python -m pip`` for the interpreter that runs: `python` may be another, or none."""
    if _PIP not in command or not sys.executable or shutil.which("python") == sys.executable:
        return command
    return command.replace(_PIP, f"{shlex.quote(sys.executable)} -m pip")


def _printable(text: str) -> str:
    """Escape control characters and abbreviate, so that a value cannot command or flood a terminal."""
    if len(text) > _MOST_SHOWN:
        text = f"{text[:_MOST_SHOWN]}... ({len(text):,} characters)"
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong.

    Parameters
    ----------
    code : str
        ``E``, or ``W`` of a warning, and three digits, listed in :mod:`.catalogue` (E5xx: a tool is
        missing).
    message : str
        What is wrong, in one sentence.
    where : str
        ``file:line key`` or the argument's name; empty where there is no place.
    value : str
        The value found, as the user wrote it.
    allowed : str
        What would be accepted.
    remedy : str
        What to do.
    """

    code: str
    message: str
    where: str = ""
    value: str = ""
    allowed: str = ""
    remedy: str = ""

    def __post_init__(self) -> None:
        """Make every text printable: names and values come from files of others."""
        for name, limit in (("message", _MAX_VALUE), ("where", _MAX_PLACE), ("value", _MAX_VALUE),
                            ("allowed", _MAX_VALUE), ("remedy", _MAX_VALUE)):
            object.__setattr__(self, name, printable(getattr(self, name), limit))

    def __str__(self) -> str:
        head = f"{self.code}: {_printable(self.message)}"
        lines = [f"{_printable(self.where)}: {head}" if self.where else head]
        lines += [f"    {label}: {text}" for label, text in
                  (("found", _printable(self.value)), ("allowed", self.allowed),
                   ("do", for_this_python(self.remedy))) if text]
        return "\n".join(lines)

    def as_dict(self) -> dict[str, str]:
        """The same for ``--json``."""
        return {"code": self.code, "message": self.message, "where": self.where,
                "value": self.value, "allowed": self.allowed, "remedy": self.remedy}


class Entry(NamedTuple):
    """One row of :mod:`.catalogue`: a title, the usual cause, the usual remedy."""

    title: str
    cause: str
    remedy: str


class KerncastError(ValueError):
    """One or more problems that the user can mend; `problems` holds them in order."""

    def __init__(self, problems: Iterable[Problem] | Problem) -> None:
        self.problems = (problems,) if isinstance(problems, Problem) else tuple(problems)
        super().__init__("\n".join(str(p) for p in self.problems))

    @property
    def exit_code(self) -> int:
        """3 where every problem is a missing tool (E5xx), else 2."""
        missing = all(p.code.startswith("E5") for p in self.problems)
        return EXIT_TOOL_MISSING if missing else EXIT_BAD_INPUT


def fail(code: str, message: str, *, where: str = "", value: object = "", allowed: str = "",
         remedy: str = "") -> KerncastError:
    """A :class:`KerncastError` with one problem, to be raised by the caller."""
    return KerncastError(Problem(code, message, where, str(value), allowed, remedy))
