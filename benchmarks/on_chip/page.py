"""Write the page on on-chip learners from the results."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...lab.figures.style import MORE_COLOURS
from ..papers.common import DOCS, axes, save, table
from .measure import SHOWN, Results
from .methods import Method, methods
from .streams import CHOSEN_ON, REPORTED, SAMPLES, SETTLED, SOURCES

#: Wins that count as better, of the reported realisations; the learner of the defaults.
ENOUGH, OURS = 17, "kerncast QKLMS + RLS"
_SHORT = {"RLS in random features, float64": "RFF-RLS, float64", "kerncast QKLMS + RLS": "k. QKLMS + RLS",
          "kerncast QKLMS + RLS, 32 bits": "k. QKLMS + RLS, 32 bits",
          "kerncast FKLMS, guarded": "k. FKLMS", "kerncast kernel RLS, 32 features": "k. RLS, 32",
          "kerncast kernel RLS, 100 features": "k. RLS, 100"}
#: Streams with a unit of their own: its name, and whether the error is a mean square.
_UNITS = {"equaliser": ("MSE of a symbol of 1", True), "changing channel": ("MSE of a symbol of 1", True),
          "ECG": ("steps", False), "ECG differences": ("steps", False), "gas sensor": ("ppm", False)}
#: Units of y in one such unit.
_PER = {"gas sensor": 10.0}

HEAD = """# Learning on the chip: error, instructions and memory

`python -m kerncast.benchmarks.on_chip` writes this page in one run, in about 15 minutes of processor time. To
repeat the measurement of one method on one stream, run `python -m kerncast.benchmarks.on_chip METHOD STREAM`.
To add a method, add one file to `benchmarks/on_chip/methods`.

Every method reads the same 16-bit samples once, in order. Each sample is predicted before it is learned. The
offset and the scale of the samples are determined from {chosen} realisations. The parameters are tuned on the
same {chosen} realisations, one parameter after the other. The figures are means over {reported} other
realisations, with other seeds or from other parts of a recording. Errors are averaged over the samples after
the first {settled:,}. On the changing channel, they are averaged over the 500 samples before the change and
over the last 500. Errors in dB are normalised: each mean squared error is divided by the variance of the
stream's targets over the same samples.

| stream | inputs | what it is |
|---|--:|---|
| equaliser | 5 | binary symbols behind a nonlinear channel with noise |
| changing channel | 5 | the same; the echo changes its sign halfway |
| ECG | 8 | next sample of an electrocardiogram, MIT-BIH record 208 |
| ECG differences | 4 | next difference of its samples |
| gas sensor | 2 | synthetic sensor that ages, `examples/drift.toml` |
| Mackey-Glass | 10 | next sample of the chaotic series with delay 30, every 6 units of time |
| Lorenz | 6 | next sample of x of the Lorenz system, every 0.01 units of time |
| laser | 10 | next sample of the laser of the Santa Fe competition (reservoirpy) |
| NARMA | 10 | output of the nonlinear system NARMA-10, from its inputs |
| Friedman drift | 10 | regression with two changes (river) |
| hyperplane | 10 | class, divided by a plane that turns, as a target of two values (river) |
| moving clusters | 10 | class of clusters that move, as a target of two values (river) |

The methods of kerncast are marked "k.". They run in the integer model, at 16 bits unless the name states
another word length. QKLMS + RLS has a linear part and a gate, and corrects predictions using the last six
errors. LMS, NLMS and RLS are float64 filters with an intercept. CMSIS-DSP LMS and NLMS are the 16-bit filters
of the C library CMSIS-DSP, without an intercept. emlearn stores the last 100 samples and predicts the mean
target of the k nearest. QKLMS (100 centers), RFF-RLS (RLS in 100 random features) and KRLS-T (50 centers) run
in float64, only to compare the accuracy. In RLS and RFF-RLS the effect of the ridge fades with time, so a
small forgetting factor can make these methods inaccurate. All least-squares methods are tuned over the same
forgetting factors and ridge parameters.
"""


def _decibels(errors: list[float]) -> float:
    """Return the mean error, converted to dB."""
    with np.errstate(all="ignore"):
        return float(10 * np.log10(np.mean(errors)))


def _shown(value: float) -> str:
    return "diverged" if not value < 20 else f"{value:.1f}"


def _wins(ours: list[float], theirs: list[float]) -> int:
    return sum(a < b for a, b in zip(ours, theirs, strict=True))


def _errors(results: Results, known: dict[str, Method]) -> str:
    """Return a table of errors with tuned parameters; the best on-chip method is bold."""
    rows = []
    for name in SOURCES:
        found = {title: _decibels(results["methods"][title][name]["errors"]) for title in known}
        best = min(found[title] for title in known if known[title].cost)
        rows.append([name, *(f"**{_shown(value)}**" if value == best else _shown(value)
                             for value in found.values())])
    return table(rows, ["stream", *(_SHORT.get(title, title) for title in known)])


def _defaults(results: Results, known: dict[str, Method]) -> tuple[str, list[str]]:
    """Return a table of tuned linear filters and of learners with default parameters.

    The second result contains the streams on which QKLMS + RLS is not better than the filters.
    """
    ours, lost, rows = [title for title in known if known[title].ours], [], []
    for name in SOURCES:
        of = {title: results["methods"][title][name] for title in known}
        row = [name, *(_shown(_decibels(of[title]["errors"])) for title in ("NLMS", "RLS"))]
        for title in ours:
            plain = of[title]["default_errors"]
            wins = min(_wins(plain, of[linear]["errors"]) for linear in ("NLMS", "RLS"))
            row.append(f"{_shown(_decibels(plain))} ({wins})")
            if title == OURS and wins < ENOUGH:
                lost.append(name)
        rows.append(row)
    heads = ["stream", "NLMS, tuned", "RLS, tuned", *(_SHORT[title] for title in ours)]
    return table(rows, heads), lost


def _own_units(results: Results, known: dict[str, Method]) -> str:
    """Return a table of errors in the units of the streams."""
    rows = []
    for name, (unit, squared) in _UNITS.items():
        scale = results["units"][name] / _PER.get(name, 1.0)
        row = [f"{name}, {unit}"]
        for title, key in (("RLS", "errors"), (OURS, "default_errors"), (OURS, "errors"),
                           ("kerncast kernel RLS, 100 features", "errors")):
            mean = float(np.mean(results["methods"][title][name][key])) * scale**2
            row.append(f"{mean if squared else np.sqrt(mean):.3f}")
        rows.append(row)
    return table(rows, ["stream", "RLS, tuned", "k. QKLMS + RLS, defaults", "k. QKLMS + RLS, tuned",
                        "k. RLS, 100, tuned"])


def _costs(results: Results, known: dict[str, Method]) -> str:
    rows = []
    for name in SHOWN:
        for title in known:
            found = results["methods"][title][name]
            if cost := found.get("cost"):
                counts = [f"{cost[key]:,}" for key in ("mean", "worst", "ram", "flash")]
                rows.append([f"{name}: {_SHORT.get(title, title)}", _shown(_decibels(found["errors"])),
                             *counts, f"{cost['gap']:g}"])
    return table(rows, ["stream and method", "error, dB", "instructions, mean", "worst", "RAM, bytes",
                        "flash, bytes", "gap"])


def _panel(axis: Any, results: Results, known: dict[str, Method], name: str, cost: Any) -> None:
    """Plot the error against a cost. Methods without a cost are horizontal lines."""
    for colour, title in zip(MORE_COLOURS * 2, known, strict=False):
        found = results["methods"][title][name]
        error = _decibels(found["errors"])
        if not error < 5:
            continue
        if "cost" in found:
            axis.semilogx(cost(found["cost"]), error, "s" if known[title].ours else "o", color=colour, ms=6,
                          label=_SHORT.get(title, title))
        else:
            axis.axhline(error, color=colour, linestyle=":", label=_SHORT.get(title, title))


def _pareto(results: Results, known: dict[str, Method]) -> str:
    figure, panels = axes(len(SHOWN) * 2, width=2.2, height=3.4)
    for i, name in enumerate(SHOWN):
        left, right = panels[2 * i], panels[2 * i + 1]
        _panel(left, results, known, name, lambda cost: cost["mean"])
        _panel(right, results, known, name, lambda cost: cost["ram"] + cost["flash"])
        left.set(title=name, xlabel="instructions", ylabel="error, dB")
        right.set(xlabel="RAM + flash, bytes")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, fontsize="x-small", ncols=6, loc="outside lower center")
    return save(figure, "on-chip-pareto")


def _curves(results: Results, known: dict[str, Method]) -> str:
    figure, panels = axes(len(SHOWN), width=3.2, height=3.4)
    for axis, name in zip(panels, SHOWN, strict=True):
        for colour, title in zip(MORE_COLOURS * 2, known, strict=False):
            curve = np.array(results["methods"][title][name]["curve"])
            if np.all(np.isfinite(curve)) and curve[-10:].mean() < 3:
                part = (4000 if name == "ECG differences" else SAMPLES) / len(curve)
                axis.plot(part * (1 + np.arange(len(curve))), 10 * np.log10(curve), color=colour, lw=1,
                          label=_SHORT.get(title, title), linestyle="-" if known[title].ours else "--")
        axis.set(title=name, xlabel="samples learned")
    panels[0].set_ylabel("squared error over the variance, dB")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, fontsize="x-small", ncols=6, loc="outside lower center")
    return save(figure, "on-chip-curves")


def _first_on_chip(results: Results, known: dict[str, Method]) -> dict[str, list[str]]:
    """Return the streams on which each on-chip method is the best, by method."""
    found: dict[str, list[str]] = {}
    for name in SOURCES:
        best = min((title for title in known if known[title].cost),
                   key=lambda title: _decibels(results["methods"][title][name]["errors"]))
        found.setdefault(_SHORT.get(best, best), []).append(name)
    return found


def text(results: Results) -> str:
    """Return the page, and draw its figures."""
    known = {title: method for title, method in methods().items() if title in results["methods"]}
    defaults, lost = _defaults(results, known)
    best = sorted(_first_on_chip(results, known).items(), key=lambda item: -len(item[1]))
    first = table([[title, ", ".join(names)] for title, names in best], ["best on-chip method", "streams"])
    others = f" The others: {', '.join(lost)}." if lost else ""
    return f"""{HEAD.format(chosen=len(CHOSEN_ON), reported=len(REPORTED), settled=SETTLED)}
## Error of tuned methods

The error is normalised by the variance of the stream, in dB. Lower is better, and predicting the mean gives
0 dB. The best method that runs on the chip is in bold.

{_errors(results, known)}

{first}

## One set of defaults

Here, only the width of the kernel is tuned. All other parameters have their default values. The parameters of
the filters are tuned as above. The number in parentheses states in how many of the {len(REPORTED)}
realisations the learner is better than both filters. QKLMS + RLS is better in at least {ENOUGH} realisations
on {len(SOURCES) - len(lost)} of {len(SOURCES)} streams.{others}

At 16 bits, an input of the kernel part can lose up to two bits to the headroom of distances. The linear part
reads all bits of the samples. This is important if a linear prediction is nearly exact, as on the Lorenz
stream. On this stream, the rounding of the 16-bit samples limits every method, and QKLMS + RLS predicts part
of each error from the last errors. A 16-bit target loses one bit, so 32-bit words are slightly better on the
Lorenz stream.

{defaults}

{_plain(known)}

## Errors in the units of the streams

{_own_units(results, known)}

## Cost on a Cortex-M4

The table lists the number of instructions for predicting and learning one sample, counted in an emulator
over the last 100 of 400 samples (gcc -O2). RAM is the size of the learner's state. Flash is the size of a
program that learns and predicts. The filters compute in float32 with the floating-point unit of the CPU core.
The methods of kerncast, CMSIS-DSP and emlearn compute in integers. CMSIS-DSP is built without the intrinsics
of CMSIS-Core. The gap is the RMS difference between these predictions and the predictions in the error
tables, in standard deviations of the target. If the ridge is small, rounding spoils the first predictions of
RLS in float32.

A linear filter needs far fewer instructions and bytes than any kernel learner. If the error of a filter is
small enough, use the filter.

{_costs(results, known)}

![Error against instructions and memory]({_pareto(results, known)})

## Learning curves

![Error against samples]({_curves(results, known)})
"""


def _plain(known: dict[str, Method]) -> str:
    """Return a table of the default parameters of kerncast's methods."""
    rows = [[_SHORT[title], ", ".join(f"{key} {value:g}" for key, value in known[title].defaults.items())]
            for title in known if known[title].ours]
    return table(rows, ["learner", "defaults"])


def write_page(results: Results) -> None:
    """Write the page and its figures."""
    (DOCS / "measured" / "on-chip.md").write_text(text(results), encoding="utf-8")
