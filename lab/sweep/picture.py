"""lab.sweep: draw the Pareto front."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from ...sim._output_files import whole_file
from ..figures.style import BLUE, GREY, ORANGE, pyplot
from .measures import MEASURES
from .run import SweepRun

_ALL, _FRONT, _BEST = GREY, BLUE, ORANGE


def draw_front(run: SweepRun, path: Path) -> Path | None:
    """Plot the first two objectives of every point to a PNG file.

    Returns its path; None if matplotlib is not installed, or if there is nothing to plot.
    """
    names = run.settings.objectives
    if len(names) < 2 or find_spec("matplotlib") is None or not run.front:
        return None
    x, y = names[1], names[0]
    plt = pyplot()
    figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
    try:
        for points, colour, size, label in (
                ([p for p in run.points if p.answers], _ALL, 8, "points"),
                (run.front, _FRONT, 22, "Pareto front"),
                ([run.best] if run.best else [], _BEST, 60, "best within the limits")):
            known = [p for p in points if x in p.measures and y in p.measures]
            axes.scatter([p.measures[x] for p in known], [p.measures[y] for p in known], s=size, color=colour,
                         label=label)
        for name, named in ((x, axes.set_xlabel), (y, axes.set_ylabel)):
            unit, origin, _ = MEASURES[name.split(".")[0]]
            named(f"{name} [{unit or 1}], {origin}")
        axes.legend(frameon=False, fontsize=8)
        with whole_file(path) as part:
            figure.savefig(part, dpi=110, format="png", metadata={"Software": None})
    finally:
        plt.close(figure)
    return path
