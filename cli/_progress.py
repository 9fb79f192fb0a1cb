"""cli: report progress on stderr, so that stdout contains only the result."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

# Without a terminal, a bar is one line for each such part of the work.
_PARTS = 10


@contextmanager
def steps(as_json: bool) -> Iterator[Callable[[str], None]]:
    """Yield a function that reports the current step; with ``--json`` it is silent.

    A terminal shows one line with a spinner and the elapsed time; otherwise there is one line per step.
    """
    if as_json:
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    if not sys.stderr.isatty():
        yield lambda text: print(text, file=sys.stderr, flush=True)
        return
    with Progress(SpinnerColumn(), TimeElapsedColumn(), TextColumn("{task.description}"),
                  console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting")
        yield lambda text: bar.update(task, description=text)


@contextmanager
def bar(as_json: bool, what: str) -> Iterator[Callable[[int, int], None]]:
    """Yield a function ``progress(done, total)`` that draws a bar.

    With ``--json`` it is silent.

    Without a terminal, the function prints one line per tenth of the work.
    """
    if as_json:
        yield lambda done, total: None
        return
    if not sys.stderr.isatty():
        printed = 0

        def report(done: int, total: int) -> None:
            nonlocal printed
            if done * _PARTS // total > printed:
                printed = done * _PARTS // total
                print(f"{what}: {printed * 100 // _PARTS} %", file=sys.stderr, flush=True)

        yield report
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    with Progress(TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn(),
                  console=Console(stderr=True), transient=True) as drawn:
        task = drawn.add_task(what, total=None)
        yield lambda done, total: drawn.update(task, completed=done, total=total)
