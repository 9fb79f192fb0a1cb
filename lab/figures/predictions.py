"""lab: draw predictions of a signal, of several outputs, or of class labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...sim._arrays import Words
from ...sim.choices import LEVERAGE_FRAC
from ..workflow import Simulated
from .style import BLACK, BLUE, GREY, ORANGE, YELLOW, pyplot

#: Outputs that have a panel, and classes whose counts are written into their cells.
MOST_PANELS, _MOST_NUMBERS = 8, 20


def draw_signal(found: Simulated, made: Mapping[str, NDArray[Any]]) -> Any:
    """Draw the samples and predictions of one output, and their difference below.

    Parameters
    ----------
    found : Simulated
    made : mapping of str to ndarray, shape (k,)
        Result of :func:`..predictions.columns`.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, (top, bottom) = pyplot().subplots(2, 1, figsize=(9, 6), layout="constrained",
                                              height_ratios=(2, 1), sharex=True)
    at = _positions(found, made, "y")
    f = made["f_fixed"]
    top.plot(at, made["y"], ".", color=GREY, ms=3, label="samples")
    if "clean" in made:
        top.plot(at, made["clean"], color=BLACK, lw=1, label="clean signal")
    if found.plan.learns and "f_held_out" in made:
        f = made["f_held_out"]
        top.plot(at, f, color=BLUE, lw=1.2, label="predicted before it was learnt")
    else:
        top.plot(at, f, color=BLUE, lw=1.2, label="prediction in fixed point")
    # Units and names of the user are not TeX.
    top.set_ylabel(_axis("y", found), parse_math=False)
    top.legend(frameon=False, fontsize=8)
    bottom.plot(at, made["y"] - f, color=ORANGE, lw=0.8)
    bottom.set_ylabel("sample - prediction")
    bottom.set_xlabel(_axis("x", found) if found.plan.uniform else "sample", parse_math=False)
    return figure


def draw_outputs(found: Simulated, made: Mapping[str, NDArray[Any]]) -> Any:
    """Draw the samples and predictions of each output in a separate panel.

    At most :data:`MOST_PANELS` panels are drawn; the axis label states how many outputs are not shown.
    Parameters and result are those of :func:`draw_signal`.
    """
    shown = min(found.plan.outputs, MOST_PANELS)
    figure, panels = pyplot().subplots(shown, 1, figsize=(9, 1.2 + 1.6 * shown), layout="constrained",
                                       sharex=True, squeeze=False)
    at = _positions(found, made, "y0")
    for i, panel in enumerate(panels[:, 0]):
        panel.plot(at, made[f"y{i}"], ".", color=GREY, ms=3, label="samples")
        panel.plot(at, made[f"f_fixed{i}"], color=BLUE, lw=1.2, label="prediction in fixed point")
        panel.set_ylabel(f"output {i}")
    panels[0, 0].legend(frameon=False, fontsize=8)
    label = _axis("x", found) if found.plan.uniform else "sample"
    hidden = found.plan.outputs - shown
    panels[-1, 0].set_xlabel(f"{label}; {hidden} more outputs are not shown" if hidden else label,
                             parse_math=False)
    return figure


def draw_labels(found: Simulated, made: Mapping[str, NDArray[Any]]) -> Any:
    """Draw the confusion matrix, or the number of samples by label.

    Without true classes, there is no confusion matrix. Parameters and result are those of
    :func:`draw_signal`.
    """
    classes = found.simulation.classes
    assert classes is not None
    heads = classes.shown
    counts = (np.bincount(classes.labels, minlength=len(heads))[None] if classes.truth is None
              else classes.confusion[:, :len(heads)])
    rows = ["samples"] if classes.truth is None else [
        f"{name}  {'-' if np.isnan(part) else format(part, '.1%')}"
        for name, part in zip(classes.names, classes.recall, strict=True)]
    side = 1.5 + 0.45 * len(heads)
    figure, panel = pyplot().subplots(figsize=(max(6.0, side + 2), max(2.4, 1.8 + 0.45 * len(rows))),
                                      layout="constrained")
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    panel.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    if len(heads) <= _MOST_NUMBERS:
        for (i, j), count in np.ndenumerate(counts):
            panel.text(j, i, f"{count:,}", ha="center", va="center", fontsize=8,
                       color="white" if shares[i, j] > 0.6 else BLACK)
    panel.set_xticks(range(len(heads)), heads, rotation=45, ha="right", parse_math=False)
    panel.set_yticks(range(len(rows)), rows, parse_math=False)
    panel.set_xlabel("label in fixed point")
    panel.set_ylabel("" if classes.truth is None else "true class, recall")
    return figure


def add_leverage(figure: Any, found: Simulated, novelty: Words) -> None:
    """Add a panel with the leverage, the thresholds and the flags of training.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        A figure with one column of panels.
    found : Simulated
    novelty : ndarray of int64, shape (n, 3)
        Result of :func:`....sim.diagnostics.novelty.learn_novelty`.
    """
    above = figure.axes[0].get_gridspec()
    heights = above.get_height_ratios() or [1] * above.nrows
    width, height = figure.get_size_inches()
    figure.set_size_inches(width, height + 2.2)
    grid = figure.add_gridspec(above.nrows + 1, 1, height_ratios=[*heights, sum(heights) * 2.2 / height])
    for panel, place in zip(figure.axes, grid, strict=False):
        panel.set_subplotspec(place)
    panel = figure.add_subplot(grid[above.nrows])
    leverage, novel, drift = novelty.T
    leverage, at = np.maximum(leverage, 1) / 2**LEVERAGE_FRAC, np.arange(len(leverage))
    panel.plot(at, leverage, color=BLUE, lw=0.8, label="leverage")
    for name, style in (("novelty", "--"), ("novelty_release", ":")):
        panel.axhline(found.plan.integer(name) / 2**LEVERAGE_FRAC, color=BLACK, lw=0.8, ls=style, label=name)
    panel.plot(at[novel == 1], leverage[novel == 1], ".", color=ORANGE, ms=4, label="novel")
    if drift.any():
        panel.fill_between(at, 0, 1, where=drift == 1, step="mid", color=YELLOW, alpha=0.3, lw=0,
                           transform=panel.get_xaxis_transform(), label="drift")
    panel.set_yscale("log")
    panel.set_ylabel("leverage")
    panel.set_xlabel("training sample")
    panel.legend(frameon=False, fontsize=8, ncols=5)


def _positions(found: Simulated, made: Mapping[str, NDArray[Any]], name: str) -> NDArray[Any]:
    """Return the positions on the horizontal axis: x for a grid, else sample numbers."""
    return made["x"] if found.plan.uniform else np.arange(len(made[name]))


def _axis(name: str, found: Simulated) -> str:
    """Return the label of an axis: x or y, with its unit.

    The unit is omitted if the values are those of the data file.
    """
    data, plan = found.spec.data, found.plan
    unit = plan.evidence.get("unit", {}).get(name)
    return f"{name} in {unit}" if isinstance(unit, str) and not (data and data.ranges) else name
