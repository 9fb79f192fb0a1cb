"""sim.estimators: how far a learner has come, and how fast, for those who wait."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

#: Told of samples learned since it was last called, and of the vectors held.
Report = Callable[[int, int], None]


@contextmanager
def progress(name: str, total: int, wanted: bool) -> Iterator[Report]:
    """Show samples passed, samples per second and N on stderr while the block runs, if that is wanted."""
    if not wanted:
        yield lambda samples, count: None
        return
    from rich.console import Console
    from rich.progress import MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn
    from rich.text import Text

    class Rate(ProgressColumn):
        """Samples per second: of late, at the end of all."""

        def render(self, task: Task) -> Text:
            speed = task.finished_speed or task.speed
            return Text("" if speed is None else f"{speed:,.0f} samples/s")

    shown = Progress(TextColumn("{task.description}:"), MofNCompleteColumn(), TextColumn("samples,"), Rate(),
                     TextColumn("N = {task.fields[count]}"), console=Console(stderr=True))
    with shown:
        task = shown.add_task(name, total=total, count=0)
        yield lambda samples, count: shown.update(task, advance=samples, count=count)
