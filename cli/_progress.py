"""cli: print progress to stderr, so that stdout contains only the result."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ..sim.errors import printable

# Without a terminal, a bar is one line for each such part of the work.
_PARTS = 10
# Characters of a step.
_LONGEST = 500


@contextmanager
def steps(as_json: bool) -> Iterator[Callable[[str], None]]:
    """Yield a function that prints the current step. With ``--json``, it does nothing.

    On a terminal, there is one line with a spinner and the elapsed time. Otherwise, each step is one line.
    """
    if as_json:
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    if not sys.stderr.isatty():
        yield lambda text: print(_shown(text), file=sys.stderr, flush=True)
        return
    # A name of a file is not markup.
    with Progress(SpinnerColumn(), TimeElapsedColumn(), TextColumn("{task.description}", markup=False),
                  console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting")
        yield lambda text: bar.update(task, description=_shown(text))


def _shown(text: str) -> str:
    """Return the text of a step without control characters.

    File names in the text may contain them.
    """
    return printable(text, _LONGEST)


def tenths() -> Callable[[int, int], int]:
    """Return a function that computes the percentage whenever a new tenth is reached.

    The arguments of the function are the work done and the total work. Its result is 0 if no new tenth is
    reached. If the work done decreases, counting starts again.
    """
    reached = 0

    def percent(done: int, total: int) -> int:
        nonlocal reached
        before, reached = reached, done * _PARTS // total
        return reached * 100 // _PARTS if reached > before else 0

    return percent


@contextmanager
def bar(as_json: bool, what: str) -> Iterator[Callable[[int, int], None]]:
    """Yield a function ``progress(done, total)`` that draws a progress bar.

    With ``--json``, it does nothing. If stderr is not a terminal, it prints one line per tenth of the work.
    """
    if as_json:
        yield lambda done, total: None
        return
    if not sys.stderr.isatty():
        percent = tenths()

        def report(done: int, total: int) -> None:
            if reached := percent(done, total):
                print(f"{what}: {reached} %", file=sys.stderr, flush=True)

        yield report
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    with Progress(TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn(),
                  console=Console(stderr=True), transient=True) as drawn:
        task = drawn.add_task(what, total=None)
        yield lambda done, total: drawn.update(task, completed=done, total=total)
