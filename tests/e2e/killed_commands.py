"""Run a command in forked processes that die at a moment, or at a change of a file.

``python -m e2e.killed_commands`` reads requests from stdin, one JSON object per line, and answers each with
one. The first one, ``{"command": [...], "folder": ...}``, runs the command in this process, so that its
modules are loaded once. The others, ``{"folder": ..., "change": ..., "seconds": ...}``, run it in a fork that
dies `seconds` after it starts change number `change`, or after it starts if `change` is null. A fork with a
`change` that does not come runs to its end.
"""

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from kerncast.cli.main import app

#: The audit events that change a file or a folder by its path.
_CHANGES = ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate")
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


class Changes:
    """Watch the changes of files in the working folder; those elsewhere are no output."""

    def __init__(self) -> None:
        self.found: list[list[str]] = []
        self.act: Callable[[int], None] | None = None
        sys.addaudithook(self._see)

    def _see(self, event: str, arguments: tuple[Any, ...]) -> None:
        path = arguments[0] if arguments else None
        if not isinstance(path, (str, os.PathLike)):  # a file descriptor
            return
        if event != "sqlite3.connect" and event not in _CHANGES and not (
            event == "open" and arguments[2] & _WRITING
        ):
            return
        if event in ("os.remove", "os.rmdir") and arguments[1] != -1:  # in a temporary folder
            return
        if not Path(path).absolute().is_relative_to(Path.cwd()):
            return
        self.found.append([event, Path(path).name])
        if self.act:
            self.act(len(self.found) - 1)


def run(command: list[str], folder: str) -> int:
    """Run a command in a folder, in this process; return its exit code."""
    os.chdir(folder)
    try:
        app(command, prog_name="kerncast")
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def killed(changes: Changes, command: list[str], asked: dict[str, Any]) -> dict[str, Any]:
    """Run a command in a fork; report whether it died before its end, and its exit code if not."""
    child = os.fork()
    if child == 0:
        os.setsid()
        signal.signal(signal.SIGALRM, signal.SIG_DFL)  # ends a process without a line of Python

        def die(now: int, seconds: float = asked["seconds"]) -> None:
            if now == asked["change"] or asked["change"] is None:
                if seconds > 0:
                    signal.setitimer(signal.ITIMER_REAL, seconds)
                else:
                    os.kill(os.getpid(), signal.SIGKILL)

        changes.found, changes.act = [], die if asked["change"] is not None else None
        if asked["change"] is None:
            die(0)
        os._exit(run(command, asked["folder"]))
    status = os.waitpid(child, 0)[1]
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)  # what it started
    return {"killed": os.WIFSIGNALED(status), "code": os.waitstatus_to_exitcode(status)}


def main() -> None:
    """Answer requests until stdin ends."""
    answers = os.fdopen(os.dup(1), "w")
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    changes, command = Changes(), []
    for line in sys.stdin:
        asked = json.loads(line)
        if "command" in asked:
            command, began = asked["command"], time.monotonic()
            code = run(command, asked["folder"])
            answer = {"code": code, "seconds": time.monotonic() - began, "changes": changes.found}
            os.chdir("/")
        else:
            answer = killed(changes, command, asked)
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
