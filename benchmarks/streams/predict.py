"""Measure the one-step prediction of an ECG by all methods, in ADC counts."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from ...lab.figures.style import MORE_COLOURS
from ..papers.common import Array, axes, save, table
from .methods import Integers, Method, Parameters, Reference, best, filters, kernels, mean_square
from .tasks import CHOSEN_ON, Stream, ecg, example

COLUMNS = (2, 4, 8)
#: Samples before errors count; samples of a moving mean: two seconds.
SETTLED, SMOOTH = 500, 720
STEPS, RANGE = 200.0, 10.24  # of the converter to the millivolt; its range in millivolts
WORDS = (16, 32)
OURS, FAST = "QKLMS + RLS", "FKLMS, fixed lambda_max"
#: What the example runs: it learns differences of samples, not samples.
DIFFERENCES = f"{OURS}, of differences"
FAST_DIFFERENCES = f"{FAST}, of differences"
_LINEAR = {"reduction": "nt", "quantise": 0.8, "linear": "rls"}
METHODS = (*filters(), *kernels((0.25, 0.5, 1.0, 2.0), (0.3, 1.0), {
    "MKLMS": {"reduction": "mklms"},
    FAST: {"reduction": "fklms", "max_deterioration": (0.1, 0.3, 0.5), "newest_only": True},
    "NT": {"reduction": "nt"}, "FMKLMS": {"reduction": "fmklms"}, "FKLMS": {"reduction": "fklms"}}),
    *kernels((0.1, 0.2), (0.1, 0.3), {
        FAST_DIFFERENCES: {"reduction": "fklms", "max_deterioration": (0.3, 0.6), "newest_only": True}}),
    *kernels((0.25, 0.5, 1.0), (0.1, 0.2), {OURS: _LINEAR}),
    *kernels((0.025, 0.05, 0.1, 0.2), (0.1, 0.2, 0.4), {DIFFERENCES: _LINEAR}))


@cache
def recording(columns: int, differences: bool = False) -> tuple[Stream, Stream]:
    """Return the samples for selecting parameters, and those for the result.

    The predicted samples do not depend on `columns`. Differences begin one sample later. The error of a
    predicted difference equals that of the sample, because the previous sample is known.
    """
    stream, more = ecg(columns, differences), max(COLUMNS) - columns
    return stream.part(more, CHOSEN_ON), stream.part(CHOSEN_ON + more)


def root_mean_square(error: Array) -> float:
    """Return the RMS error after convergence, in ADC counts."""
    return STEPS * float(np.sqrt(mean_square(error[SETTLED:])))


def chosen(method: Method) -> Parameters:
    """Return the parameters with the smallest error on the samples for selection."""
    def score(method: Method, parameters: Parameters) -> float:
        stream, _ = recording(parameters["columns"], method.title in (DIFFERENCES, FAST_DIFFERENCES))
        return root_mean_square(stream.y - method.make(**parameters).learn(stream))
    return best(method, score, {"columns": COLUMNS})


def integers(word: int) -> tuple[Array, Any]:
    """Return the errors and the learner of ``examples/ecg_stream.toml``."""
    spec = example("ecg_stream")
    first, stream = recording(spec.input.columns, differences=True)
    learner = Integers(spec, word, first)
    return stream.y - learner.learn(stream), learner


def compared() -> tuple[dict[str, Array], list[list[str]]]:
    """Return the errors by method, and the rows of the table."""
    errors: dict[str, Array] = {}
    rows: list[list[str]] = []

    def row(title: str, parameters: str, held: str, diverged: bool = False) -> None:
        found = root_mean_square(errors[title])
        lost = diverged or not found < STEPS * RANGE  # of no use, and on its way to infinity
        rows.append([title, parameters, held, "diverged" if lost else f"{found:.2f}"])

    _, stream = recording(COLUMNS[0])
    errors["the sample before"] = stream.y - stream.X[:, 0]
    row("the sample before", "", "")
    for method in METHODS:
        parameters = chosen(method)
        _, stream = recording(parameters["columns"], method.title in (DIFFERENCES, FAST_DIFFERENCES))
        learner = method.make(**parameters)
        errors[method.title] = stream.y - learner.learn(stream)
        shown = ", ".join(f"{name} {value:g}" for name, value in parameters.items()
                          if name == "columns" or len(method.tried[name]) > 1)
        ours = isinstance(learner, Reference)
        row(method.title, shown, str(learner.held) if ours else "", ours and learner.diverged)
        print(f"ecg, {method.title}: {shown}: {rows[-1][-1]}", flush=True)
    for word in WORDS:
        title = f"{DIFFERENCES}, {word} bits"
        errors[title], learner = integers(word)
        row(title, "as in float64", str(int(learner.model.state()["count"][0])))
    return errors, rows


def picture(errors: dict[str, Array]) -> str:
    """Draw the running RMS error, and return the path of the figure."""
    figure, (axis,) = axes(1, width=6.0, height=3.6)
    window = np.ones(SMOOTH) / SMOOTH
    shown = [title for title in errors if np.isfinite(root_mean_square(errors[title]))
             and root_mean_square(errors[title]) < 30.0]
    for colour, title in zip(MORE_COLOURS, shown, strict=False):
        curve = STEPS * np.sqrt(np.convolve(errors[title] ** 2, window, "valid"))[::60]
        axis.plot((SMOOTH + 60 * np.arange(len(curve))) / 360.0, curve, color=colour, label=title,
                  linestyle=":" if "bits" in title else "-")
    axis.set(yscale="log", xlabel="seconds", ylabel="RMS error of two seconds, steps")
    axis.legend(fontsize="xx-small", ncols=2)
    return save(figure, "streams-ecg")


def section() -> str:
    """Return the section of the page."""
    errors, rows = compared()
    found = {title: root_mean_square(error) for title, error in errors.items()}
    size = root_mean_square(recording(COLUMNS[0])[1].y - np.mean(recording(COLUMNS[0])[1].y))
    ours, theirs = (min((t for t in found if t.startswith("padasip") is linear and t != "the sample before"
                         and "bits" not in t), key=found.__getitem__) for linear in (False, True))
    small = found[f"{DIFFERENCES}, 16 bits"]
    previous = found["the sample before"]
    choices = ", ".join(map(str, COLUMNS))
    return f"""## One-step prediction of an ECG

The signal is record 208 of the MIT-BIH Arrhythmia Database at 360 Hz, as ADC counts of an 11-bit converter
with {STEPS:g} steps per millivolt: the first 20,000 samples, `examples/ecg_stream.csv`. The last D samples
predict the next one. The hyperparameters, including D (one of {choices}), were tuned on the first
{CHOSEN_ON:,} samples. Each method then learned the other samples, starting from an empty model.

Errors are RMS (root mean square) values in steps of the converter, without the first {SETTLED:,} samples. The
RMS value of the signal itself is {size:.1f} steps. The kernel methods store up to 100 vectors. The variant
"of differences" predicts the next difference from the last D differences, and adds it to the previous sample.
The rows that state a word length are for the integer model of this variant, `examples/ecg_stream.toml`.

![Error against time]({picture(errors)})

{table(rows, ["method", "hyperparameters", "N", "RMS error, steps"])}

The best linear filter ({theirs}) has an error of {found[theirs]:.2f} steps. The best kernel method ({ours})
has an error of {found[ours]:.2f} steps, and NLMS has {found["padasip NLMS"]:.2f}. QKLMS + RLS combines a
linear part, trained by RLS, with a kernel part that learns the remaining error. On samples instead of
differences, its error is {found[OURS]:.2f} steps. The example has an error of {small:.2f} steps at 16 bits.
If each prediction repeats the previous sample, the error is {previous:.2f} steps. The hyperparameters were
tuned on the first {CHOSEN_ON / 360:.0f} seconds only, and may be less suitable for the rest of the recording.

FKLMS without a linear part is not suitable for windows of a slow signal. Such windows are close to each
other, which violates the assumption of FKLMS that K_RR = I. On windows of samples, FKLMS is worse than
repeating the previous sample. This is also true if the learner does not store windows that are close to a
stored window. Windows of differences are close to each other only near 0, where there is little to learn.
"""
