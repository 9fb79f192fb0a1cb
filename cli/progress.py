"""cli: progress on stderr, so that stdout holds the result alone."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def steps(as_json: bool) -> Iterator[Callable[[str], None]]:
    """A function to call with what is being done; with ``--json`` it is silent.

    On a terminal one line with a spinner and the time since the start; elsewhere a line a step.
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
