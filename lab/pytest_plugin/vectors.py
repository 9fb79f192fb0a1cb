"""lab: run the vectors of a generated folder as tests, one for each back end."""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike

import pytest

from .running import TARGETS, bench_of, marks_of, note, reported_errors


class VectorFile(pytest.File):
    """Collector for the file ``vectors.json`` of a generated folder."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield one test for each back end."""
        for target in self.config.stash[TARGETS]:
            item: VectorItem = VectorItem.from_parent(self, name=f"replay[{target}]", target=target)
            for mark in (pytest.mark.kerncast, *marks_of(self.config, target)):
                item.add_marker(mark)
            yield item


class VectorItem(pytest.Item):
    """Test that replays the vectors of a folder on one back end.

    Parameters
    ----------
    target : str
        Name of the back end as given with ``--kerncast-on``.
    """

    def __init__(self, *, target: str, **kwargs: object) -> None:
        super().__init__(**kwargs)  # type: ignore[arg-type]
        self.target = target

    def runtest(self) -> None:
        """Replay the vectors, and compare every value with the integer model."""
        bench, folder = bench_of(self.config), self.path.parent.resolve()
        with reported_errors():
            row = bench.replay(folder, self.target)
        note(self, self.target, bench.material(folder).plan, row)

    def reportinfo(self) -> tuple[PathLike[str], int | None, str]:
        """Return the file, the line and the title of the test, for a failure report."""
        return self.path, None, f"{self.path.parent.name} on {self.target}"
