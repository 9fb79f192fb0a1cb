"""Reproduce figures 1 to 4 and 7 of report 836, which show single models."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ...lab.figures.style import COLOURS
from ...sim.kernels import Gaussian
from ...sim.reference.online.expansion import Expansion, expand
from ...sim.reference.online.kernel_lms import KernelLMS
from ...sim.reference.online.klms import project_exactly
from ...sim.reference.online.least_squares import LeastSquares, project_by_least_squares
from ...sim.reference.online.reduction import PROJECTIONS
from .common import Array, axes, save

#: The printed claim, whether it held (None: it claims nothing), what came out.
ClaimOutcome = tuple[str, bool | None, str]

AGE, MAGNITUDE = 35, 0.1  # printed with figure 1
SHOWN = {"KLMS": "klms", "LS": "ls", "FKLMS": "fklms"}


def model_of(V: Iterable[float], alpha: Iterable[float], sigma: float) -> Expansion:
    """Return a kernel expansion with one input column, and its Gram matrix."""
    V = list(V)
    model = Expansion(len(V), 1, Gaussian(sigma), gram=True)
    for slot, (v, a) in enumerate(zip(V, alpha, strict=True)):
        x = np.array([v])
        model.insert(slot, x, np.array(a), model.distances(x))
    return model


def outputs(model: Expansion, x: Array) -> Array:
    """Return the values of f at all x."""
    return expand(model.kernel, x[:, np.newaxis], model.V, model.alpha)


def figure_1() -> tuple[str, list[ClaimOutcome]]:
    """Plot coefficients against age: 60 noisy samples of sinc, eta = 0.5, decay 5 %."""
    chance = np.random.default_rng(4)
    X = chance.uniform(-3, 3, (60, 1))
    learner = KernelLMS(1, Gaussian(0.5), 0.5, 0.1, "none")
    learner.learn(X, np.sinc(X[:, 0]) + chance.normal(0.0, 0.5, 60))
    held = learner.model.held
    age = learner.model.presented - learner.model.born[held]
    size = np.abs(learner.model.alpha[held])
    figure, (axis,) = axes(1, width=4.5)
    axis.vlines(age, 0, size, color=COLOURS[1])
    axis.axhline(MAGNITUDE, color=COLOURS[2], linestyle=":")
    axis.axvline(AGE, color=COLOURS[2], linestyle=":")
    axis.set(xlabel="age, in samples", ylabel="|coefficient|")
    both, old = int(np.sum((age > AGE) & (size < MAGNITUDE))), int(np.sum(age > AGE))
    small = int(np.sum(size < MAGNITUDE))
    text = (f"![Coefficients against age]({save(figure, 'kernel-lms-1')})\n\nThe figure is for 60 samples "
            f"of sinc with noise of standard deviation 0.5, eta = 0.5 and eta rho = 0.05.")
    return text, [("the vectors older than 35 and those with coefficients below 0.1 are largely the same",
                   both >= 0.8 * old, f"{old} are older, {small} smaller, {both} both")]


def removal(sigma: float, number: int) -> tuple[str, dict[str, Array], Array]:
    """Remove the fourth of five vectors with three projections (figures 2 and 3)."""
    x = np.linspace(-4, 4, 401)
    figure, panels = axes(len(SHOWN), width=2.8, height=2.4)
    original = outputs(model_of(range(-2, 3), np.ones(5), sigma), x)
    found = {}
    for axis, (title, name) in zip(panels, SHOWN.items(), strict=True):
        model = model_of(range(-2, 3), np.ones(5), sigma)
        PROJECTIONS[name].apply(model, 3)
        model.remove(3)
        found[title] = outputs(model, x)
        axis.plot(x, original, color=COLOURS[0])
        axis.plot(x, found[title], color=COLOURS[1], linestyle=":")
        axis.plot(range(-2, 3), np.interp(range(-2, 3), x, original), "x", color=COLOURS[2])
        axis.set(title=f"{title}, sigma = {sigma:g}")
    return f"![Removal at sigma = {sigma:g}]({save(figure, f'kernel-lms-{number}')})", found, original


def figures_2_and_3() -> tuple[str, list[ClaimOutcome]]:
    """Compare FKLMS with KLMS for vectors that are strongly or weakly correlated."""
    texts, gaps, changes = [], {}, []
    for sigma, number in ((0.9, 2), (0.5, 3)):
        text, found, original = removal(sigma, number)
        texts.append(text)
        gaps[sigma] = float(np.abs(found["FKLMS"] - found["KLMS"]).max())
        changes.append(f"With sigma = {sigma:g}, the removal changes the output by at most " + ", ".join(
            f"{np.abs(f - original).max():.3f} ({name})" for name, f in found.items()) + ".")
    text = "\n\n".join([*texts, " ".join(changes)])
    return text, [("at sigma = 0.9 the FKLMS projection is a fairly poor approximation to KLMS, at 0.5 a "
                   "good one", gaps[0.5] < gaps[0.9] / 3 < gaps[0.9],
                   f"they differ by at most {gaps[0.9]:.3f} and {gaps[0.5]:.3f}")]


def figure_4(learned: Callable[[str, int, int], KernelLMS]) -> tuple[str, list[ClaimOutcome]]:
    """Plot a typical fit of FKLMS with N_max = 10."""
    learner = learned("fklms", 10, 0)
    x = np.linspace(-3, 3, 601)
    V, alpha = learner.model.V[:, 0], learner.model.alpha
    figure, (axis,) = axes(1, width=4.5)
    axis.plot(x, np.sinc(x), color=COLOURS[0], linestyle=":", label="sinc")
    axis.plot(x, learner.predict(x[:, np.newaxis]), color=COLOURS[1], label="FKLMS")
    axis.plot(V, alpha, "o", color=COLOURS[2], fillstyle="none", label="coefficients")
    axis.legend(fontsize="x-small")
    settled = learner.model.rank < learner.model.count - 1  # the newest was put where it came
    gaps = np.diff(np.sort(V[settled]))
    even = 6.0 / settled.sum()
    return f"![Fit of sinc]({save(figure, 'kernel-lms-4')})", [
        ("the selected vectors are evenly distributed across the domain",
         bool(gaps.min() > 0.5 * even and gaps.max() < 2 * even),
         f"gaps of all but the newest from {gaps.min():.2f} to {gaps.max():.2f}; {even:.2f} would be even")]


def figure_7() -> tuple[str, list[ClaimOutcome]]:
    """Construct a case in which all remaining kernels are small at the removed vector."""
    retained = np.linspace(-3.0, -0.6, 14)
    V, alpha = [*retained, 1.4], [*np.sinc(retained), 0.5]
    x = np.linspace(-4, 4, 801)
    before = model_of(V, alpha, 0.5)
    figure, panels = axes(2, width=3.2)
    sizes = []
    project: Any
    for axis, (title, project) in zip(panels, (("LS projection", project_by_least_squares),
                                               ("KLMS projection", project_exactly)), strict=True):
        after = model_of(V, alpha, 0.5)
        project(after, len(V) - 1)
        sizes.append(float(np.abs(after.alpha).max()))
        axis.plot(x, outputs(before, x), color=COLOURS[0])
        axis.plot(x, outputs(after, x), color=COLOURS[1], linestyle=":")
        axis.plot(V, outputs(before, np.array(V)), "o", color=COLOURS[2], fillstyle="none")
        axis.set(title=title, yscale="symlog")
    after = model_of(V, alpha, 0.5)
    project_by_least_squares(after, len(V) - 1)
    error = outputs(after, np.array(V)) - outputs(before, np.array(V))
    worst = float(np.abs(outputs(after, x) - outputs(before, x)).max())
    plain, penalised = (metric.deterioration(before)[-1] for metric in (LeastSquares(), LeastSquares(1e-6)))
    text = (f"![One LS projection]({save(figure, 'kernel-lms-7')})\n\n{len(retained)} vectors from -3 "
            f"to -0.6 are retained, and the one at 1.4 is evicted, with sigma = 0.5. The LS projection "
            f"changes the output by at most {np.abs(error).max():.1g} at these {len(V)} vectors, and by up "
            f"to "
            f"{worst:.3g} elsewhere. The deterioration of the evicted vector is {plain:.2g} by equation "
            f"(13) of the report, and "
            f"{penalised:.2g} by equation (20) with C = 1e-6.")
    return text, [("the LS projection can choose very large coefficients, some 1e6, and is then extremely "
                   "poor between the vectors", sizes[0] > 1e4,
                   f"largest coefficient  {sizes[0]:.1e}; KLMS, on the same vectors, {sizes[1]:.2g}")]
