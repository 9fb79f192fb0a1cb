"""Measure channel equalisation: bit error rates and learning curves."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache

import numpy as np

from ...lab.figures.style import MORE_COLOURS
from ..papers.common import Array, axes, save, table
from .methods import Integers, Learner, Method, Parameters, best, filters, kernels, mean_square
from .tasks import TESTING, TRAINING, Stream, equaliser, example

#: Seeds that parameters are chosen on; realisations that are reported; samples of a moving mean.
CHOSEN_ON, REALISATIONS, SMOOTH = (1001, 1002, 1003), 20, 50
WORDS = (16, 32)
#: What the example runs.
OURS = "QKLMS"
METHODS = (*filters(), *kernels((0.5, 0.7, 1.0, 1.5, 2.2), (0.1, 0.2, 0.4, 0.7), {
    "KLMS without reduction": {"reduction": "none"}, "MKLMS": {"reduction": "mklms"},
    "FMKLMS": {"reduction": "fmklms"}, "FKLMS": {"reduction": "fklms"}, "NT": {"reduction": "nt"},
    OURS: {"reduction": "nt", "quantise": 0.8}}))


@dataclass
class Found:
    """Result of a method: MSE by symbol during training, and bit errors in the test."""

    parameters: str
    curve: Array
    rate: list[float] = field(default_factory=list)
    after: list[float] = field(default_factory=list)


@cache
def realisation(seed: int) -> tuple[Stream, Stream]:
    """Return the symbols for training and those for the test."""
    stream = equaliser(seed)
    return stream.part(0, TRAINING), stream.part(TRAINING)


def chosen(method: Method) -> Parameters:
    """Return the parameters with the minimum MSE over the second half of training."""
    def score(method: Method, parameters: Parameters) -> float:
        errors = []
        for seed in CHOSEN_ON:
            training, _ = realisation(seed)
            error = training.y - method.make(training.X.shape[1], **parameters).learn(training)
            errors.append(mean_square(error[TRAINING // 2:]))
        return float(np.mean(errors))
    return best(method, score, {})


def measure(found: Found, learner: Learner, training: Stream, testing: Stream) -> None:
    """Train a learner and count its bit errors in a test; add both to `found`."""
    found.curve += (training.y - learner.learn(training)) ** 2 / REALISATIONS
    f = learner.predict(testing)
    found.rate.append(float(np.mean(np.where(f > 0, 1.0, -1.0) != testing.y)))
    found.after.append(mean_square(testing.y - f))


def integers(word: int, realisations: int = REALISATIONS) -> Found:
    """Return the result of the integer learner in ``examples/equaliser.toml``."""
    online = example("equaliser").online
    assert online is not None
    found = Found(f"sigma {example('equaliser').kernel.sigma:g}, eta {online.eta:g}", np.zeros(TRAINING))
    learner = Integers(example("equaliser"), word, realisation(CHOSEN_ON[0])[0])
    for seed in range(realisations):
        measure(found, learner, *realisation(seed))
    return found


def compared() -> dict[str, Found]:
    """Run every method on every realisation; return the results by method."""
    found = {}
    for method in METHODS:
        parameters = chosen(method)
        shown = ", ".join(f"{name} {value:g}" for name, value in parameters.items()
                          if name in method.tried and len(method.tried[name]) > 1)
        found[method.title] = Found(shown, np.zeros(TRAINING))
        for seed in range(REALISATIONS):
            training, testing = realisation(seed)
            measure(found[method.title], method.make(training.X.shape[1], **parameters), training, testing)
        print(f"equaliser, {method.title}: {shown}", flush=True)
    return found | {f"{OURS}, {word} bits": integers(word) for word in WORDS}


def picture(found: dict[str, Found]) -> str:
    """Draw the learning curves, and return the path of the figure."""
    figure, (axis,) = axes(1, width=6.0, height=3.6)
    window = np.ones(SMOOTH) / SMOOTH
    shown = [title for title in found if title != "NT"]
    for colour, title in zip(MORE_COLOURS, shown, strict=False):
        curve = np.convolve(found[title].curve, window, "valid")[::10]
        axis.plot(SMOOTH + 10 * np.arange(len(curve)), curve, color=colour, label=title,
                  linestyle=":" if "bits" in title else "-")
    axis.set(yscale="log", xlabel="symbols learned", ylabel=f"MSE, mean of {SMOOTH} symbols", ylim=(0.1, 2.0))
    axis.legend(fontsize="xx-small", ncols=2)
    return save(figure, "streams-equaliser")


def rows(found: dict[str, Found]) -> str:
    """Return a table of the bit error rates."""
    return table([[title, of.parameters, f"{np.mean(of.rate):.4f}", f"{np.std(of.rate, ddof=1):.4f}",
                   f"{np.mean(of.after):.3f}"] for title, of in found.items()],
                 ["method", "hyperparameters", "bit error rate", "standard deviation", "MSE"])


def section() -> str:
    """Return the section of the page."""
    found = compared()
    rate = {title: float(np.mean(of.rate)) for title, of in found.items()}
    linear = min((t for t in rate if t.startswith("padasip")), key=rate.__getitem__)
    ours = min((t for t in ("MKLMS", "FMKLMS", "FKLMS", "NT", OURS)), key=rate.__getitem__)
    return f"""## Channel equalisation

Binary symbols pass through `z_i = s_i + 0.5 s_(i-1)` and `r_i = z_i - 0.9 z_i^2 + n_i`, with noise of
standard deviation 0.4. From five received samples, each method predicts the transmitted symbol in the middle
(W. Liu, P. P. Pokharel, J. C. Principe, "The Kernel Least-Mean-Square Algorithm", IEEE Trans. Signal
Processing 56 (2), 2008).

Each method is trained on {TRAINING:,} symbols in one pass. Bit errors are counted on {TESTING:,} other
symbols, without learning. Each figure is the mean over {REALISATIONS} realisations. The kernel methods store
{_budget()} windows, except KLMS without reduction, which stores all {TRAINING:,}. Hyperparameters were tuned
on {len(CHOSEN_ON)} other realisations for the smallest mean square error (MSE) over the second half of
training. The rows that state a word length are for the integer model of `examples/equaliser.toml`.

![Learning curves]({picture(found)})

{rows(found)}

The best linear filter ({linear}) has a bit error rate of {rate[linear]:.4f}. The best kernel method with a
fixed dictionary ({ours}) has a bit error rate of {rate[ours]:.4f}. {OURS} reaches {rate[OURS]:.4f} in
float64, {rate[f"{OURS}, 16 bits"]:.4f} at 16 bits and {rate[f"{OURS}, 32 bits"]:.4f} at 32 bits.
"""


def _budget() -> int:
    online = example("equaliser").online
    assert online is not None
    return online.budget
