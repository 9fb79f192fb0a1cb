"""Measure the effect of rho on a changing channel, with the Python estimator."""

from __future__ import annotations

import numpy as np

from ...lab.figures.style import COLOURS
from ...sim.estimators import KernelLMSRegressor
from ..papers.common import Array, axes, save, table
from .tasks import equaliser

SYMBOLS, REALISATIONS, SMOOTH = 3000, 5, 100
RHO = (0.0, 0.003, 0.01, 0.03)
#: Title, and parts of the estimator.
LEARNERS = {"FKLMS": {"sigma": 1.0, "reduction": "fklms"}, "FMKLMS": {"sigma": 1.0, "reduction": "fmklms"},
            "MKLMS": {"sigma": 1.5, "reduction": "mklms"}, "NT": {"sigma": 1.5, "reduction": "nt"}}


def curve(parts: dict[str, object], rho: float, realisations: int = REALISATIONS) -> Array:
    """Return the squared error of each symbol, predicted before it is learnt.

    The sign of the echo changes in the middle of the stream.
    """
    echo = np.where(np.arange(SYMBOLS + 4) < SYMBOLS // 2, 0.5, -0.5)
    found = np.zeros(SYMBOLS)
    for seed in range(realisations):
        stream = equaliser(seed, SYMBOLS, echo)
        model = KernelLMSRegressor(eta=0.3, rho=rho, budget=100, **parts).partial_fit(stream.X, stream.y)
        found += model.history_.error**2 / realisations
    return found


def settled(found: Array) -> tuple[float, float]:
    """Return the MSE over the 500 symbols before the change, and over the last 500."""
    half = SYMBOLS // 2
    return float(found[half - 500:half].mean()), float(found[-500:].mean())


def section() -> str:
    """Return the section of the page."""
    found = {(title, rho): curve(parts, rho) for title, parts in LEARNERS.items() for rho in RHO}
    figure, panels = axes(2, width=3.4)
    for axis, title in zip(panels, ("FKLMS", "NT"), strict=True):
        for colour, rho in zip(COLOURS, RHO, strict=False):
            shown = np.convolve(found[title, rho], np.ones(SMOOTH) / SMOOTH, "valid")[::20]
            axis.plot(SMOOTH + 20 * np.arange(len(shown)), shown, color=colour, label=f"rho = {rho:g}")
        axis.axvline(SYMBOLS // 2, color=COLOURS[-1], linestyle=":")
        axis.set(title=title, xlabel="symbols", ylabel="MSE", ylim=(0, 1.2))
        axis.legend(fontsize="xx-small")
    rows = [[title, *(f"{a:.2f}, {b:.2f}" for a, b in (settled(found[title, rho]) for rho in RHO))]
            for title in LEARNERS]
    stuck, moved = (settled(found["NT", rho])[1] for rho in (0.0, 0.01))
    return f"""## A channel that changes

The task is the same, but the echo changes its sign after {SYMBOLS // 2:,} symbols. The learner is
`KernelLMSRegressor(..., rho=RHO)` with eta = 0.3, trained in one call of `partial_fit`. Each cell contains
the MSE over the 500 symbols before the change and over the last 500 symbols, as means over {REALISATIONS}
realisations:

![Error against symbols]({save(figure, "streams-drift")})

{table(rows, ["", *(f"rho = {rho:g}" for rho in RHO)])}

Truncation (NT) needs rho. Without rho, the first centers remain in the dictionary, and the learner does not
adapt (MSE {stuck:.2f}; {moved:.2f} with rho = 0.01). Projection transfers the information in a new sample to
the stored vectors, so FKLMS, FMKLMS and MKLMS track the change even without rho. A small rho removes the
errors that evictions cause. A large rho also removes valid information.
"""
