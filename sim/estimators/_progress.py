"""sim.estimators: a progress display for long training runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

#: Progress callback: samples learned since its last call, and the current dictionary size.
Report = Callable[[int, int], None]


@contextmanager
def progress(name: str, total: int, wanted: bool) -> Iterator[Report]:
    """Show the progress on stderr during the ``with`` block, if `wanted` is true.

    The display shows the number of samples processed, samples per second, and N, the number of centers.
    """
    if not wanted:
        yield lambda samples, count: None
        return
    from rich.console import Console
    from rich.progress import MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn
    from rich.text import Text

    class Rate(ProgressColumn):
        """Column of the display with the current number of samples per second.

        At the end of the run, the column shows the average.
        """

        def render(self, task: Task) -> Text:
            speed = task.finished_speed or task.speed
            return Text("" if speed is None else f"{speed:,.0f} samples/s")

    display = Progress(TextColumn("{task.description}:"), MofNCompleteColumn(), TextColumn("samples,"),
                       Rate(), TextColumn("N = {task.fields[count]}"), console=Console(stderr=True))
    with display:
        task = display.add_task(name, total=total, count=0)
        yield lambda samples, count: display.update(task, advance=samples, count=count)
