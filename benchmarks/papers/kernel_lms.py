"""Reproduce the results of report 836, "Reduction of Kernel Models".

    python -m kerncast.benchmarks.papers.kernel_lms [--realisations 10]

The page repeats figures 1 to 8 with kerncast, with float64 and fixed point in the same axes. Each claim of
the report is compared with the results.
"""

from __future__ import annotations

import argparse
import re

import numpy as np
from numpy.typing import NDArray

from ...lab.figures.style import COLOURS, MORE_COLOURS
from .common import DOCS, axes, save, table
from .kernel_lms_cases import ClaimOutcome, figure_1, figure_4, figure_7, figures_2_and_3
from .kernel_lms_sweep import (
    BUDGETS,
    FIXED,
    GRID,
    ROOM,
    TECHNIQUES,
    WORDS,
    Fixed,
    Room,
    Sweep,
    fixed_point_runs,
    growth,
    learned,
    mean_square,
    swept,
)

REALISATIONS = 100  # as many as the report has
PRINTED = 4.76e-5  # MSE of the reference
ENOUGH = 14  # from this N_max on, in print, KLMS and MKLMS are in line with the reference
NEAR, USEFUL = 1.3, 2e-4  # times the reference; MSE of FKLMS at the largest budget
TRUNCATION, FEW = 3e-4, 5  # largest coefficient that is discarded; realisations
LINEAR = 0.05  # how far from 1 its exponent may be
ANOMALY = (12, 20)  # N_max of the report's anomaly of LS
WIDE = {"FKLMS, integer model": ("integer", (64, 128, 256, 512, 1024)),
        "FKLMS": ("fklms", (64, 128, 256, 512)), "FMKLMS": ("fmklms", (64, 128, 256, 512)),
        "KLMS": ("klms", (64, 128, 256, 512)), "LS": ("ls", (64, 128, 256, 512))}

_HEAD = """# Reduction of kernel models: Mitchinson, Dodd and Harrison

`python -m kerncast.benchmarks.papers.kernel_lms` writes this page. It uses one thread. The source is B.
Mitchinson, T. J. Dodd, R. F. Harrison, "Reduction of kernel models", ACSE research report 836 (Sheffield,
2003). The methods limit the dictionary of KLMS (kernel least mean squares). The task is to learn sinc from
100 samples, uniform on [-3, 3], presented ten times with eta = 0.1. The report does not state sigma. This
page uses sigma = 0.5 and rho = 0. The mean square error (MSE) is computed at 601 points. Each mean is over
{realisations} realisations (`--realisations`), as in the report. kerncast computes one inverse for all
candidates and updates it in O(N^2) operations. The method in the report needs O(N^4) operations.

Three of the claims are not reproduced. They are marked in the table. The integer results agree with float64,
except for fast KLMS with very few vectors."""

#: By title and word.
Runs = dict[tuple[str, int], Fixed]
#: Required MSE by word length, relative to float64: text, minimum, maximum.
ASKED = {16: ("at most 1.5 times", 0.0, 1.5), 32: ("within 1 % of", 0.99, 1.01)}
_BAND = 2.0  # standard errors
_WORDS = {True: "reproduced", False: "**not reproduced**", None: "-"}


def errors_picture(sweep: Sweep, fixed: Runs, titles: tuple[str, ...], name: str) -> str:
    """Plot the MSE against N_max: float64 as lines, 16 bits as o, 32 bits as +."""
    figure, (axis,) = axes(1, width=5.5, height=3.6)
    for colour, title in zip(MORE_COLOURS, titles, strict=False):
        axis.plot(BUDGETS, sweep.mean(title), color=colour, label=title)
        for word, marker in zip(WORDS, "o+", strict=True):
            if (title, word) in fixed:
                axis.plot(BUDGETS, fixed[title, word].error.mean(axis=1), marker, color=colour,
                          fillstyle="none", label=f"{title}, {word} bits")
    axis.axhline(sweep.reference.mean(), color=COLOURS[0], linestyle=":", label="no reduction")
    axis.set(yscale="log", xlabel="N_max", ylabel="MSE")
    axis.legend(fontsize="xx-small")
    return save(figure, name)


def errors_table(sweep: Sweep, fixed: Runs) -> str:
    """Return a table of the MSE in units of 1e-5."""
    rows = [[title, *(f"{1e5 * e:.3g}" for e in sweep.mean(title))] for title in TECHNIQUES]
    rows += [[f"{title}, {word} bits", *(f"{1e5 * e:.3g}" for e in runs.error.mean(axis=1))]
             for (title, word), runs in fixed.items()]
    return table(rows, ["MSE / 1e-5, N_max =", *map(str, BUDGETS)])


def saturated_table(fixed: Runs, realisations: int) -> str:
    """Return a table of saturated runs, without and with declared headroom."""
    rows = []
    for title in FIXED:
        cases = [(ROOM.get(title, Room()), {word: fixed[title, word] for word in WORDS})]
        if title in ROOM:
            tight = {word: fixed_point_runs(word, realisations, title, Room()) for word in WORDS}
            cases.append((Room(), tight))
        rows += [[title, room.y, f"{room.margin:g}", *(int(runs[word].saturated.sum()) for word in WORDS),
                  *(int(runs[word].saturated[-1].sum()) for word in WORDS)] for room, runs in cases]
    return (
        "A run counts as saturated if any sample has the status saturated. There are "
        f"{len(BUDGETS) * realisations} runs, {realisations} of them at N_max = {BUDGETS[-1]}. The table of "
        "errors uses the first row of each technique. The format of alpha covers the range of alpha in the "
        "first realisation plus `[numbers] margin` bits, and the format of f covers twice the range of y. "
        "In the second "
        "row of a technique, f or alpha saturates, so the error is not due to precision alone. Fast KLMS "
        "differs from float64 at N_max = 4 without saturation: two vectors are close to each other and far "
        "from the other two, so both have the same lambda in the metric of fast KLMS. Rounding decides which "
        "of them is evicted.\n\n"
        + table(rows, ["saturated runs", "word of y", "margin", *(f"{word} bits" for word in WORDS),
                       *(f"{word} bits, N_max = {BUDGETS[-1]}" for word in WORDS)]))


def error_claims(sweep: Sweep) -> list[ClaimOutcome]:
    """Check the claims of figures 6 and 8, and those in their text."""
    own, realisations = float(sweep.reference.mean()), len(sweep.reference)
    spread = float(sweep.reference.std(ddof=1) / np.sqrt(realisations))
    budgets, enough = np.array(BUDGETS), np.array(BUDGETS) >= ENOUGH
    ratio = {title: sweep.mean(title) / own for title in TECHNIQUES}
    few, within = ~enough, (budgets >= ANOMALY[0]) & (budgets <= ANOMALY[1])

    def worst(titles: tuple[str, ...], where: NDArray[np.bool]) -> str:
        return ", ".join(f"{t} {ratio[t][where].min():.2f} to {ratio[t][where].max():.2f}" for t in titles)

    def better(a: str, b: str) -> str:
        return f"{a} at {int(np.sum(ratio[a][few] < ratio[b][few]))} of {few.sum()}"

    pairs = (("MKLMS", "KLMS"), ("FMKLMS", "FKLMS"))
    fast, both = ("FKLMS", "FMKLMS"), ("KLMS", "MKLMS")
    like = [float(np.max(np.abs(np.log(ratio[t] / ratio["MKLMS"])))) for t in ("LS", "regularised LS")]
    return [
        (f"MSE without reduction: {PRINTED:.3g}", abs(own - PRINTED) <= _BAND * np.sqrt(2.0) * spread,
         f"{own:.3g}, standard error {spread:.2g}, {realisations} realisations"),
        (f"from N_max = {ENOUGH}, KLMS and MKLMS are in line with the reference (here: within 30 %)",
         bool(max(ratio[t][enough].max() for t in both) <= NEAR),
         f"times the reference: {worst(both, enough)}"),
        ("there FKLMS and FMKLMS do less well, but very much usefully",
         bool(min(ratio[t][enough].min() for t in fast) > 1.0 and sweep.mean("FKLMS")[-1] <= USEFUL),
         f"times the reference: {worst(fast, enough)}; FKLMS at N_max = {BUDGETS[-1]}: "
         f"{sweep.mean('FKLMS')[-1]:.2g}"),
        ("with too few vectors MKLMS does better than KLMS, and FMKLMS than FKLMS",
         all(bool(np.all(ratio[a][few] < ratio[b][few])) for a, b in pairs),
         f"below {ENOUGH}: " + ", ".join(better(a, b) for a, b in pairs) + " budgets"),
        (f"LS is in line with MKLMS, but much worse for N_max {ANOMALY[0]} to {ANOMALY[1]}",
         bool(np.any(ratio["LS"][within] > 2 * ratio["MKLMS"][within])),
         "there LS has " + ", ".join(f"{r:.2f}" for r in (ratio["LS"] / ratio["MKLMS"])[within])
         + " times the MSE of MKLMS"),
        ("regularised LS is similar to MKLMS (here: never apart by more than a factor 2)",
         like[1] < np.log(2.0), f"apart by a factor {np.exp(like[1]):.2f} at most; LS {np.exp(like[0]):.2f}"),
        ("the metrics of section 5 (fast KLMS, fast MKLMS): not yet investigated there", None,
         f"from {ENOUGH}, times the reference: {worst(('fast KLMS', 'fast MKLMS'), enough)}"),
    ]


def fixed_claims(sweep: Sweep, fixed: Runs) -> list[ClaimOutcome]:
    """Check that the MSE in fixed point is close to that in float64.

    It must be at most 1.5 times as large at 16 bits, and within 1 % at 32 bits.
    """
    found: list[ClaimOutcome] = []
    for word, (asked, least, most) in ASKED.items():
        ratio = {title: fixed[title, word].error.mean(axis=1) / sweep.mean(title) for title in FIXED}
        apart = {title: np.abs(np.log(r)) for title, r in ratio.items()}
        loose = max(FIXED, key=lambda title: float(apart[title].max()))
        at = int(apart[loose].argmax())
        median = float(np.median(fixed[loose, word].error[at]) / np.median(sweep.error[loose][at]))
        found.append((f"{word} bits, MSE {asked} that of float64 (for FKLMS)",
                      bool(least <= ratio["FKLMS"].min() and ratio["FKLMS"].max() <= most),
                      ", ".join(f"{title} {r.min():.3f} to {r.max():.3f}" for title, r in ratio.items())
                      + f"; largest difference {loose} at N_max = {BUDGETS[at]}, medians {median:.3f}"))
    return found


def times(sweep: Sweep) -> tuple[str, list[ClaimOutcome]]:
    """Draw figure 5, and measure the growth of time with dictionary size.

    Returns the text and the claims.
    """
    figure, (left, right) = axes(2, width=3.6)
    for colour, title in zip(COLOURS, ("LS", "KLMS", "MKLMS", "FKLMS", "FMKLMS"), strict=False):
        left.plot(BUDGETS, sweep.seconds[title], color=colour, label=title)
    left.set(xlabel="N_max", ylabel="seconds per run", ylim=(0, None))
    left.legend(fontsize="x-small")
    exponents = {}
    for colour, (title, (reduction, budgets)) in zip(COLOURS[1:], WIDE.items(), strict=False):
        taken, exponents[title] = growth(budgets, reduction)
        right.plot(budgets, taken, color=colour, label=title)
    right.set(xscale="log", yscale="log", xlabel="N_max", ylabel="seconds per sample")
    right.legend(fontsize="x-small")
    text = (f"![Time against N_max]({save(figure, 'kernel-lms-5')})\n\nThe figure shows processor time. "
            "The left panel is for the float64 reference on the sinc task. The right panel is for larger "
            "dictionaries with three columns, and includes the compiled integer model. In float64, each "
            "step consists of a few numpy calls, and their overhead hides the growth at small N. The "
            "exponents of the growth "
            "on the right, in float64, are: "
            + ", ".join(f"{title} {e:.2f}" for title, e in exponents.items() if WIDE[title][0] != "integer")
            + ". For the integer model, see the [cost of a sample](../measured/online-cost.md) in "
              "instructions.")
    mean = {title: float(s.mean()) for title, s in sweep.seconds.items()}
    apart = max(abs(mean["MKLMS"] / mean["KLMS"] - 1), abs(mean["FMKLMS"] / mean["FKLMS"] - 1))
    return text, [
        ("FKLMS is the fastest, KLMS slower, LS the slowest", mean["FKLMS"] < mean["KLMS"] < mean["LS"],
         "ms per run, mean over N_max: "
         + ", ".join(f"{title} {1e3 * mean[title]:.0f}" for title in ("FKLMS", "KLMS", "LS"))),
        ("MKLMS takes about the time of KLMS, FMKLMS that of FKLMS", apart < 0.25,
         f"apart by {100 * apart:.0f} % at most"),
        linear(),
        ("that of KLMS and LS grows faster than linearly", min(exponents["KLMS"], exponents["LS"]) > 1.0,
         f"exponents {exponents['KLMS']:.2f} and {exponents['LS']:.2f}: the inverse is updated in O(N^2)"),
    ]


def linear() -> ClaimOutcome:
    """Check the growth of FKLMS with counted instructions, which are reproducible."""
    page = (DOCS / "measured" / "online-cost.md").read_text(encoding="utf-8")
    counted = re.search(r"^\| instructions \| ([\d.]+) ", page, re.MULTILINE)
    assert counted is not None
    return ("the time of FKLMS grows about linearly with N_max", abs(float(counted[1]) - 1.0) < LINEAR,
            f"exponent {counted[1]} of the instructions counted from N_max = 32 to 1024: "
            "[cost of a sample](../measured/online-cost.md)")


def combined() -> ClaimOutcome:
    """Check truncation in combination with projection, as section 2 recommends."""
    found = []
    for truncation in (None, TRUNCATION):
        learners = [learned("mklms", ENOUGH, seed, truncation=truncation) for seed in range(FEW)]
        found.append(np.mean([(np.sum(~np.isnan(learner.history.deterioration)),
                               mean_square(learner.predict(GRID[:, np.newaxis]))) for learner in learners],
                             axis=0))
    (plain, error), (fewer, with_it) = found
    return ("truncation with sparsity control takes least effort for a given performance",
            bool(fewer < plain and with_it <= NEAR * error),
            f"MKLMS, N_max = {ENOUGH}, last presentation, mean of {FEW}: {plain:.0f} projections, MSE "
            f"{error:.3g}; coefficients up to {TRUNCATION:g} discarded before: {fewer:.0f}, {with_it:.3g}")


def main() -> None:
    """Run all measurements, and write the page and its figures."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--realisations", type=int, default=REALISATIONS)
    realisations = parser.parse_args().realisations
    sweep = swept(realisations)
    fixed = {(title, word): fixed_point_runs(word, realisations, title) for title in FIXED for word in WORDS}
    cases = {"Figure 1: truncation": figure_1(), "Figures 2 and 3: one removal": figures_2_and_3(),
             "Figure 4: a fit": figure_4(learned), "Figure 5: time": times(sweep)}
    claims = [verdict for _, verdicts in cases.values() for verdict in verdicts]
    seven, seven_claims = figure_7()
    six = errors_picture(sweep, fixed, ("KLMS", "MKLMS", "FKLMS", "FMKLMS", "LS"), "kernel-lms-6")
    eight = errors_picture(sweep, fixed, ("KLMS", "MKLMS", "regularised LS", "LS", "fast KLMS", "fast MKLMS"),
                           "kernel-lms-8")
    claims += [combined(), *error_claims(sweep), *fixed_claims(sweep, fixed), *seven_claims]
    diverged = {title: count for title, count in sweep.diverged.items() if count}
    text = [
        _HEAD.format(realisations=realisations), "## Claims of the report\n\n" + table(
            [[claim, _WORDS[held], out] for claim, held, out in claims],
            ["claim", "", "result"]),
        *(f"## {title}\n\n{body}" for title, (body, _) in cases.items()),
        f"## Figure 6: error\n\n![MSE against N_max]({six})\n\n{errors_table(sweep, fixed)}\n\n"
        + saturated_table(fixed, realisations) + "\n\n"
        + "In float64, "
        + (", ".join(f"{count} runs of {title}" for title, count in diverged.items()) or "no run")
        + " diverged.",
        f"## Figure 7: the LS projection on its own\n\n{seven}",
        f"## Figure 8: regularised LS, and the metrics of section 5\n\n![MSE against N_max]({eight})"]
    (DOCS / "papers" / "kernel-lms-reduction.md").write_text("\n\n".join(text) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
