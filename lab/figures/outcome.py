"""lab: draw the outcome of an example to a PNG file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...sim._output_files import whole_file
from ...sim.diagnostics.simulate import y_values
from ..workflow import Outcome
from .style import BLACK, BLUE, GREY, ORANGE, pyplot

_DATA, _CLEAN, _MODEL, _WRONG = GREY, BLACK, BLUE, ORANGE


def draw(outcome: Outcome, path: Path) -> Path:
    """Draw the outcome of an example to a PNG file.

    Parameters
    ----------
    outcome : Outcome
    path : Path

    Returns
    -------
    Path
        The file that was written.

    Raises
    ------
    KerncastError
        E501 if matplotlib is not installed.
    """
    plt = pyplot()
    figure, axes = plt.subplots(2, 1, figsize=(9, 6.5), layout="constrained",
                                height_ratios=(2, 1))
    try:
        if outcome.prepared.plan.algorithm == "toeplitz_rls":
            _signal(outcome, axes)
        else:
            _classes(outcome, axes)
        title = outcome.prepared.data.title
        figure.suptitle(f"{title}\ntrained on the device: {outcome.words} values compared, "
                        f"{outcome.mismatches} mismatches", fontsize=10)
        # No software version and no date in the file: the same run gives the same bytes.
        with whole_file(path) as part:
            figure.savefig(part, dpi=110, format="png", metadata={"Software": None})
    finally:
        plt.close(figure)
    return path


def _signal(outcome: Outcome, axes: Any) -> None:
    prepared = outcome.prepared
    x = prepared.x_test[:, 0]
    f = prepared.simulation.f
    noisy = _training_targets(outcome)
    axes[0].plot(x[:len(noisy)], noisy, ".", color=_DATA, ms=3, label="samples, with noise")
    if prepared.data.clean is not None:
        axes[0].plot(x, prepared.data.clean, color=_CLEAN, lw=1, label="clean signal")
    axes[0].plot(x, f, color=_MODEL, lw=1.4, label=f"word length {prepared.plan.word} bits, every back end")
    axes[0].set_ylabel("y")
    axes[0].legend(frameon=False, fontsize=8)
    axes[1].plot(x, f - prepared.simulation.f_float, color=_MODEL, lw=1)
    axes[1].set_ylabel("fixed point - float64")
    axes[1].set_xlabel("ADC count of the input")


def _training_targets(outcome: Outcome) -> Any:
    from ...sim.reference.backend import FloatReference

    return FloatReference(outcome.prepared.plan).targets(outcome.prepared.data.y_raw)


def _classes(outcome: Outcome, axes: Any) -> None:
    prepared = outcome.prepared
    y = prepared.data.y_test_raw
    f = prepared.simulation.f
    assert y is not None
    index = np.arange(len(f))
    right = (f > 0) == (y > 0)
    for mask, marker in ((y > 0, "^"), (y <= 0, "v")):
        axes[0].plot(index[mask & right], f[mask & right], marker, color=_MODEL, ms=4,
                     label=f"class {'+' if marker == '^' else '-'}1")
    axes[0].plot(index[~right], f[~right], "x", color=_WRONG, ms=8, label="wrong")
    axes[0].axhline(0, color=_CLEAN, lw=0.8)
    axes[0].set_ylabel("prediction")
    axes[0].set_xlabel("test sample")
    axes[0].legend(fontsize=8, ncols=3, loc="upper right")
    learned = y_values(prepared.plan, prepared.vectors.calls[0].expected["f"])
    wrong = (learned > 0) != (prepared.data.y_raw > 0)
    axes[1].plot(np.cumsum(wrong) / (np.arange(len(wrong)) + 1), color=_MODEL, lw=1.4)
    axes[1].set_ylabel("error rate so far")
    axes[1].set_xlabel("number of samples learnt; each is predicted first")
    axes[1].set_ylim(0, 0.6)
